"""The workflows call scripts that are there, and the lists of the test tiers name real files."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from rolecast.rooms import ROOMS

ROOT = Path(__file__).resolve().parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_every_script_of_a_workflow_can_be_run(workflow: Path) -> None:
    assert yaml.safe_load(workflow.read_text())["jobs"]
    scripts = re.findall(r"run: (?:sudo )?(\.ci/\S+)", workflow.read_text())
    assert scripts
    assert [name for name in scripts if not os.access(ROOT / name, os.X_OK)] == []


NEEDS_A_GPU = {"cuda"}


def project() -> dict[str, Any]:
    """Return what pyproject.toml says of the project."""
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return found


def called_scripts() -> str:
    """Return the text of all scripts that a workflow calls."""
    called = re.findall(r"run: (\.ci/\S+)", "".join(map(Path.read_text, WORKFLOWS)))
    return "".join((ROOT / name).read_text() for name in sorted(set(called)))


def test_tests_of_every_extra_run_in_a_workflow() -> None:
    """Without its packages the tests of an extra are skipped, and nobody sees it."""
    extras = {name: set(needed) for name, needed in project()["optional-dependencies"].items()}
    named = " ".join(re.findall(r"'\.\[(.+?)\]'", called_scripts()))
    installed = set(re.findall(r"\w+", named))
    covered = {name for name, needed in extras.items() if needed <= extras["dev"]} | installed
    assert extras.keys() - covered == NEEDS_A_GPU


def test_tests_of_every_optional_package_run_in_a_workflow() -> None:
    texts = "".join(file.read_text() for file in (ROOT / "tests").rglob("test_*.py"))
    asked = set(re.findall(r'(?:importorskip|skipif\(find_spec)\(\s*"(\w+)"', texts))
    needed = [*project()["dependencies"], *project()["optional-dependencies"]["dev"]]
    installed = set(re.findall(r"\w+", " ".join([called_scripts(), *needed])))
    assert {"torchrl", "vmas", "numpyro", "mlflow"} <= asked
    assert asked - installed == {"numba_cuda"}


@pytest.mark.parametrize(
    ("tag", "changed", "said"),
    [
        ("v1.2.0", "2026-05-04T23:59:00Z", ""),
        ("v1.2.0", "2026-05-05T00:01:00Z", "is of 2026-05-04; expected 2026-05-05"),
        ("v1.3.0", "2026-05-04T23:59:00Z", "expected v1.2.0"),
    ],
)
def test_a_release_has_the_day_of_its_last_change(
    tag: str, changed: str, said: str, tmp_path: Path
) -> None:
    """In a repository with that one commit."""
    for folder in (".ci", "changelog.d", "rolecast"):
        (tmp_path / folder).mkdir()
    shutil.copy(ROOT / ".ci" / "release", tmp_path / ".ci")
    (tmp_path / "rolecast" / "__init__.py").write_text('__version__ = "1.2.0"\n')
    (tmp_path / "CHANGELOG.md").write_text("## 1.2.0 (2026-05-04)\n\n## 1.1.0 (2026-01-02)\n")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "GIT_COMMITTER_DATE": changed}
    author = ["-c", "user.name=n", "-c", "user.email=e"]
    for words in (["init", "-q"], ["add", "."], [*author, "commit", "-qm", "all"]):
        subprocess.run(["git", *words], cwd=tmp_path, env=environment, check=True)
    ended = subprocess.run(
        [tmp_path / ".ci" / "release", tag],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == bool(said), ended.stderr
    assert said in ended.stdout


def test_coverage_is_of_every_room() -> None:
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    assert set(tools["coverage"]["run"]["source_dirs"]) == {*ROOMS, "rolecast"}


def test_every_file_that_is_called_slow_exists() -> None:
    listed = re.findall(r'^    "(tests/\S+)",$', (ROOT / "tests" / "conftest.py").read_text(), re.M)
    assert listed
    assert [name for name in listed if not (ROOT / name).exists()] == []


def test_every_test_left_to_the_night_says_what_else_finds_its_faults() -> None:
    texts = [file.read_text() for file in (ROOT / "tests").rglob("test_*.py")]
    marked = "".join(texts).count("mark." + "nightly")
    assert marked == len(re.findall(r'mark\.nightly\(\s*"\w', "".join(texts))) > 0
