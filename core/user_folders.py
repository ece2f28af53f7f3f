"""Folders of the user: of settings, and of compiled kernels.

By the XDG base directory specification: a variable names the place, else it is below the home.
"""

import os
from functools import cache
from pathlib import Path


def settings_folder() -> Path:
    """Return the user's folder of settings: `$XDG_CONFIG_HOME/rolecast` or `~/.config/rolecast`."""
    return _user_folder("XDG_CONFIG_HOME", "~/.config")


@cache
def kernel_folder() -> Path | None:
    """Return the folder of kernels, below `$XDG_CACHE_HOME/rolecast` or `~/.cache/rolecast`.

    None, and numba's own place beside the package, where it cannot be made or numba is told of
    another (`NUMBA_CACHE_DIR`).
    """
    if os.environ.get("NUMBA_CACHE_DIR"):
        return None
    try:
        folder = _user_folder("XDG_CACHE_HOME", "~/.cache") / "kernels"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # RuntimeError: there is no home
        return None
    return folder if os.access(folder, os.W_OK) else None


def _user_folder(variable: str, usual: str) -> Path:
    named = os.environ.get(variable)
    return (Path(named) if named else Path(usual).expanduser()) / "rolecast"
