"""Runs mypy --strict over every Python file of the project, and proves that it read them all.

In the repository root `mypy -p rolecast` would see one file: the folders are only mapped under
`rolecast`. So they are linked into one package elsewhere, the tests beside it, and the files that
mypy says it found are compared with those that there are.
"""

import re
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS: tuple[str, ...] = runpy.run_path(str(ROOT / "rolecast" / "rooms.py"))["ROOMS"]
LOOSE = (
    "setup.py",
    "deploy/search.py",
    ".ci/lowest_versions.py",
    ".ci/typecheck.py",
    ".ci/site/build_site.py",
    ".ci/site/reference_pages.py",
    ".ci/site/site_sources.py",
    ".ci/site/task_pictures.py",
    ".ci/site/task_rewards.py",
    ".ci/site/tutorial_pages.py",
)
"""Scripts outside any package."""

PROCESSES = "2"
"""Processes that check, as many as .ci/test has."""

FOUND = re.compile(r"BuildSource\(path='([^']+\.py)'")


def main() -> int:
    """Check all; return mypy's exit status, or 1 when it left files out."""
    folders = (*ROOMS, "rolecast", "tests")
    expected = {file.resolve() for name in folders for file in (ROOT / name).rglob("*.py")}
    expected |= {ROOT / name for name in LOOSE}
    with tempfile.TemporaryDirectory() as scratch:
        link_packages(Path(scratch))
        runs = [["-p", "rolecast", "-p", "tests"], [str(ROOT / name) for name in LOOSE]]
        results = [mypy(Path(scratch), run) for run in runs]
        logs = "".join(result.stderr for result in results)
        read = {Path(path).resolve() for path in FOUND.findall(logs)}
    for line in "".join(result.stdout for result in results).splitlines():
        sys.stdout.write(f"{line}\n")
    sys.stdout.writelines(f"mypy did not read {file}\n" for file in sorted(expected - read))
    sys.stdout.write(f"mypy --strict read {len(read & expected)} of {len(expected)} files\n")
    return max(result.returncode for result in results) or int(not expected <= read)


def link_packages(scratch: Path) -> None:
    """Lay out `rolecast` as a wheel would install it, by links, and the tests beside it."""
    package = scratch / "rolecast"
    package.mkdir()
    for file in (ROOT / "rolecast").iterdir():
        (package / file.name).symlink_to(file)
    for room in ROOMS:
        (package / room).symlink_to(ROOT / room)
    (scratch / "tests").symlink_to(ROOT / "tests")


def mypy(folder: Path, targets: list[str]) -> subprocess.CompletedProcess[str]:
    """Run mypy in a folder; its log, on stderr, names the files that it found."""
    command = [sys.executable, "-m", "mypy", "--verbose", "--cache-dir", str(ROOT / ".mypy_cache")]
    command += ["--config-file", str(ROOT / "pyproject.toml"), "--num-workers", PROCESSES, *targets]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    sys.exit(main())
