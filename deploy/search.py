"""Search on the Ray cluster that this machine belongs to; go on if the folder holds a run.

For `ray submit`, `ray job submit` and a RayJob, which want a script that may be started twice:
    ray submit deploy/cluster.yaml deploy/search.py TASK --env-steps N --workers W --out DIR
All words are those of `rolecast search`.
"""

import sys
from pathlib import Path

from rolecast.platform.cli.app import main


def command(words: list[str]) -> list[str]:
    """Return the words of `rolecast`: a search, or its resumption where its folder has begun."""
    if "--out" not in words[:-1]:
        raise SystemExit("deploy/search.py: --out is missing; expected --out DIR, to find the run")
    out = words[words.index("--out") + 1]
    where = [] if "--address" in words else ["--address", "auto"]
    if (Path(out) / "history.parquet").is_file() or (Path(out) / "checkpoint").is_dir():
        return ["resume", out, *where]
    return ["search", *words, *where]


if __name__ == "__main__":
    sys.exit(main(command(sys.argv[1:])))
