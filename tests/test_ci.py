"""The workflows call scripts that are there, and the lists of the test tiers name real files."""

import os
import re
import tomllib
from pathlib import Path

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


def test_tests_of_every_extra_run_in_a_workflow() -> None:
    """Without its packages the tests of an extra are skipped, and nobody sees it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = {name: set(needed) for name, needed in project["optional-dependencies"].items()}
    called = set(re.findall(r"run: (\.ci/\S+)", "".join(map(Path.read_text, WORKFLOWS))))
    texts = "".join((ROOT / name).read_text() for name in called)
    installed = set(re.findall(r"\w+", " ".join(re.findall(r"'\.\[(.+?)\]'", texts))))
    covered = {name for name, needed in extras.items() if needed <= extras["dev"]} | installed
    assert extras.keys() - covered == NEEDS_A_GPU


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
