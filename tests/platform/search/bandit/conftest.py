"""A module with functions of a user, in the working directory."""

from pathlib import Path

import pytest

USERS_FUNCTIONS = """
calls = []

def hill(point):
    calls.append(1)
    return -((point - 0.3) ** 2).sum()

def broken(point):
    if point[0] > 0.5:
        raise ValueError("no such point")
    return 0.0

def huge(point):
    return 1e200

def missing(point):
    return float("nan")
"""


@pytest.fixture(autouse=True)
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder of its own, with settings of its own."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "users_hills.py").write_text(USERS_FUNCTIONS)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(__import__("sys").modules, "users_hills", raising=False)
    return tmp_path
