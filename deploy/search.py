"""Search on the Ray cluster that this machine belongs to; go on if the folder holds a run.

`rolecast search --resume` as a script, which `ray submit` wants:
    ray submit deploy/cluster.yaml deploy/search.py TASK --env-steps N --workers W --out DIR
"""

import sys

from rolecast.platform.cli.app import main

if __name__ == "__main__":
    sys.exit(main(["search", "--resume", "--address", "auto", *sys.argv[1:]]))
