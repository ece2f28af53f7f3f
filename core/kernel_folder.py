"""Where compiled kernels are kept: apart from what compiles them, which takes a second to load."""

import os
from functools import cache
from pathlib import Path


@cache
def kernel_folder() -> Path | None:
    """Return the folder of compiled kernels, `$XDG_CACHE_HOME/rolecast` or `~/.cache/rolecast`.

    None, and numba's own place beside the package, where it cannot be made or numba is told of
    another (`NUMBA_CACHE_DIR`).
    """
    if os.environ.get("NUMBA_CACHE_DIR"):
        return None
    home = os.environ.get("XDG_CACHE_HOME")
    try:
        folder = (Path(home) if home else Path("~/.cache").expanduser()) / "rolecast" / "kernels"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # RuntimeError: there is no home
        return None
    return folder if os.access(folder, os.W_OK) else None
