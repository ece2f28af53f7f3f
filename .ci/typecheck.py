"""Runs mypy --strict over every Python file of the project, and proves that it read them all.

In the repository root `mypy -p rolecast` would see one file: the folders are only mapped under
`rolecast`. So they are linked into one package elsewhere, the tests beside it, and the files that
mypy read are counted.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("platform", "policies", "envs", "baselines", "tune_configs")
LOOSE = ("setup.py", ".ci/typecheck.py")
"""Scripts outside any package."""


def main() -> int:
    """Check all; return mypy's exit status, or 1 when it read fewer files than there are."""
    folders = (*ROOMS, "rolecast", "tests")
    expected = len(LOOSE) + sum(1 for name in folders for _ in (ROOT / name).rglob("*.py"))
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml")]
    command += ["--cache-dir", str(ROOT / ".mypy_cache")]
    with tempfile.TemporaryDirectory() as scratch:
        package = Path(scratch) / "rolecast"
        package.mkdir()
        for file in (ROOT / "rolecast").iterdir():
            (package / file.name).symlink_to(file)
        for room in ROOMS:
            (package / room).symlink_to(ROOT / room)
        (Path(scratch) / "tests").symlink_to(ROOT / "tests")
        runs = [["-p", "rolecast", "-p", "tests"], [str(ROOT / file) for file in LOOSE]]
        results = [
            subprocess.run(command + run, cwd=scratch, capture_output=True, text=True, check=False)
            for run in runs
        ]
    output = "".join(result.stdout + result.stderr for result in results)
    read = sum(int(count) for count in re.findall(r"(?:in|checked) (\d+) source file", output))
    sys.stdout.write(f"{output}mypy --strict read {read} of {expected} files\n")
    return max(result.returncode for result in results) or int(read != expected)


if __name__ == "__main__":
    sys.exit(main())
