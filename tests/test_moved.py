"""A module that has moved is the same module under its old name, which warns."""

import subprocess
import sys
from importlib import import_module

import pytest

from rolecast.moved import MOVED_MODULES


@pytest.mark.parametrize("old_name", MOVED_MODULES)
def test_an_old_name_warns_and_gives_the_module_of_the_new_name(
    old_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = import_module(MOVED_MODULES[old_name])
    monkeypatch.delitem(sys.modules, old_name, raising=False)
    with pytest.warns(DeprecationWarning, match=MOVED_MODULES[old_name]):
        assert import_module(old_name) is moved


def test_the_tables_of_a_run_are_read_by_functions_of_the_old_module() -> None:
    code = (
        "from rolecast.platform.search.run_folder import RunFolder, read_history, read_incumbents\n"
        "from rolecast.platform.search.records import frames, run_folder\n"
        "assert read_history is frames.read_history\n"
        "assert read_incumbents is frames.read_incumbents\n"
        "assert RunFolder is run_folder.RunFolder"
    )
    ended = subprocess.run(
        [sys.executable, "-W", "default", "-c", code], capture_output=True, text=True, check=True
    )
    assert (
        "read_history, read_incumbents of rolecast.platform.search.records.frames" in ended.stderr
    )


def test_classes_of_both_names_are_the_same_in_a_new_process() -> None:
    code = (
        "from rolecast.envs.errors import ConfigError as old\n"
        "from rolecast.core.errors import ConfigError as new\n"
        "raise SystemExit(old is not new)"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)
