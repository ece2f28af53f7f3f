"""The commit that a row names: of the sources alone, and of the repository that has them."""

import subprocess
from pathlib import Path

import pytest

from rolecast.benchmarks import commits

WHO = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")


def git(folder: Path, *words: str) -> str:
    told = subprocess.run(
        ["git", *WHO, *words], cwd=folder, check=True, capture_output=True, text=True
    )
    return told.stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository in which the module lies, with results and a page."""
    git(tmp_path, "init", "-q")
    for name in ("benchmarks/commits.py", "docs/results/main.json", "README.md", "core/a.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("first\n")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "first")
    monkeypatch.setattr(commits, "__file__", str(tmp_path / "benchmarks/commits.py"))
    return tmp_path


def test_changed_sources_are_marked_and_changed_results_are_not(checkout: Path) -> None:
    head = git(checkout, "rev-parse", "--short", "HEAD")
    assert commits.source_commit() == head
    (checkout / "docs/results/main.json").write_text("more\n")
    (checkout / "README.md").write_text("more\n")
    assert commits.source_commit() == head
    (checkout / "core/a.py").write_text("more\n")
    assert commits.source_commit() == f"{head}+"


def test_an_installed_copy_inside_of_another_repository_has_no_commit(checkout: Path) -> None:
    git(checkout, "rm", "-q", "--cached", "benchmarks/commits.py")
    git(checkout, "commit", "-q", "-m", "second")
    assert commits.source_commit() is None
