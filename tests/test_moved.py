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


def test_classes_of_both_names_are_the_same_in_a_new_process() -> None:
    code = (
        "from rolecast.envs.errors import ConfigError as old\n"
        "from rolecast.core.errors import ConfigError as new\n"
        "raise SystemExit(old is not new)"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)
