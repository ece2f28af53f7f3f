"""Which commits' code made a row: noted beside the comparison that makes it, kept in the row."""

import subprocess
from pathlib import Path
from typing import Final

from rolecast.platform.tuning.comparison_folder import ComparisonFolder

COMMITS_SUFFIX: Final = ".commits"
"""Ends the file beside a comparison that names the commits whose code has worked on it."""


SOURCE_PATHS: Final = (":(top)", ":(top,exclude)docs", ":(top,exclude)*.md")
"""What git calls all files of the repository but documents and results."""


def note_commit(folder: ComparisonFolder) -> None:
    """Note the commit of the sources beside a comparison's folder, once."""
    commit = source_commit()
    if commit is not None and commit not in commits_of(folder):
        file = _commits_file(folder)
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a") as lines:
            lines.write(f"{commit}\n")


def commits_of(folder: ComparisonFolder) -> list[str]:
    """Return the commits whose code has worked on a comparison, in the order of work."""
    file = _commits_file(folder)
    return file.read_text().split() if file.is_file() else []


def forget_commits(folder: ComparisonFolder) -> None:
    """Remove what was noted beside a comparison's folder."""
    _commits_file(folder).unlink(missing_ok=True)


def _commits_file(folder: ComparisonFolder) -> Path:
    return folder.path.with_name(folder.path.name + COMMITS_SUFFIX)


def source_commit() -> str | None:
    """Return the commit that the sources are of, "+" where they were changed.

    Documents and results are no sources. None without git, or where the sources are not those of a
    repository, such as an installed copy that lies in one.
    """
    file = Path(__file__).resolve()
    if _git("ls-files", "--error-unmatch", file.name) is None:
        return None
    commit = _git("rev-parse", "--short", "HEAD")
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", *SOURCE_PATHS)
    return commit and f"{commit}+" if changed else commit


def _git(*words: str) -> str | None:
    """Return what git says of the folder of this file; None where it refuses or is not there."""
    folder = Path(__file__).resolve().parent
    try:
        told = subprocess.run(
            ["git", *words], cwd=folder, capture_output=True, text=True, check=False
        )
    except OSError:
        return None
    return told.stdout.strip() if told.returncode == 0 else None
