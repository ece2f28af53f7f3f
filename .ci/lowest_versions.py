"""Prints the lowest version that pyproject.toml allows of every dependency, as pip's constraints.

`ray==2.60.*` becomes `ray==2.60.0`, `scipy>=1.15` becomes `scipy==1.15`. Tools of the extra `dev`
are not part of what an installation needs, so they stay as they are.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENT = re.compile(r"([\w.-]+)(?:\[[\w,]+\])?(?:>=|==)([\d.]+?)(\.\*)?")


def main() -> int:
    """Print one line for each dependency; return 0."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for line in project["dependencies"]:
        match = REQUIREMENT.fullmatch(line)
        if match is None:
            raise ValueError(f"dependency {line!r} has no lowest version; expected >= or ==")
        name, version, any_patch = match.groups()
        sys.stdout.write(f"{name}=={version}{'.0' if any_patch else ''}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
