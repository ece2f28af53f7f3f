"""Runs mypy over every Python file of the package, and proves that it read them all.

In the repository root `mypy -p rolecast` would see one file: the folders are only mapped under
`rolecast`. So they are linked into one package elsewhere, and the files read are counted.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("platform", "policies", "envs", "baselines", "tune_configs")


def main() -> int:
    """Check all; return mypy's exit status, or 1 when it read fewer files than there are."""
    expected = [file for room in (*ROOMS, "rolecast") for file in (ROOT / room).rglob("*.py")]
    with tempfile.TemporaryDirectory() as scratch:
        package = Path(scratch) / "rolecast"
        package.mkdir()
        for file in (ROOT / "rolecast").iterdir():
            (package / file.name).symlink_to(file)
        for room in ROOMS:
            (package / room).symlink_to(ROOT / room)
        command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml")]
        command += ["--cache-dir", str(ROOT / ".mypy_cache"), "-p", "rolecast"]
        result = subprocess.run(command, cwd=scratch, capture_output=True, text=True, check=False)
    sys.stdout.write(result.stdout + result.stderr)
    read = re.search(r"(?:in|checked) (\d+) source files", result.stdout)
    if result.returncode == 0 and (read is None or int(read[1]) != len(expected)):
        sys.stdout.write(f"mypy read {read and read[1]} files; expected {len(expected)}\n")
        return 1
    return result.returncode


if __name__ == "__main__":
    sys.exit(main())
