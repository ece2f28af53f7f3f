"""Memory that this process may still take, and a refusal of what does not fit in it.

A number that is too large is then one sentence before anything starts; else the system would end
the process halfway.
"""

import os
from pathlib import Path
from typing import Final

from rolecast.core.cgroups import CGROUP_FOLDER, MEMBERSHIP_FILE, cgroup_folders
from rolecast.core.errors import ConfigError

MEMORY_INFO: Final = Path("/proc/meminfo")
"""Source of the free memory on Linux."""

EPISODE_BYTES: Final = 64
"""Memory of one episode of a batch at its peak: its seed, returns and length, and copies."""


def require_room(field: str, value: object, needed: int, hint: str = "less") -> None:
    """Refuse a setting for which there is not enough memory.

    Args:
        field: dotted name of the setting.
        value: what it is.
        needed: bytes.
        hint: what would be right.
    Raises:
        ConfigError: names the memory that it needs, and what is free.
    """
    free = available_memory()
    if needed > free:
        raise ConfigError(
            field,
            value,
            f"{hint}: it needs {readable_bytes(needed)} of memory, and {readable_bytes(free)} are "
            "free",
        )


def readable_bytes(size: int) -> str:
    """Return a size in the unit that suits it.

    >>> readable_bytes(3 * 2**40)
    '3.0 TiB'
    """
    units = (("PiB", 2**50), ("TiB", 2**40), ("GiB", 2**30))
    for unit, bytes_each in units:
        if size >= bytes_each:
            return f"{size / bytes_each:,.1f} {unit}" if size < 2**70 else f"over {2**20:,} PiB"
    return f"{size / 2**20:,.1f} MiB"


def available_memory() -> int:
    """Return the bytes available without swapping on Linux, elsewhere all of the machine."""
    if not MEMORY_INFO.exists():
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    fields = dict(line.split(":") for line in MEMORY_INFO.read_text().splitlines())
    free = 1024 * int(fields["MemAvailable"].split()[0])
    for group in cgroup_folders(root=CGROUP_FOLDER, membership=MEMBERSHIP_FILE):
        limit = group / "memory.max"
        if limit.exists() and limit.read_text().strip() != "max":
            free = min(free, max(0, int(limit.read_text()) - _taken(group)))
    return free


def _taken(group: Path) -> int:
    """Return the bytes held by the processes of a control group, without cached files."""
    lines = (group / "memory.stat").read_text().splitlines()
    files = dict(line.split() for line in lines)["inactive_file"]
    return int((group / "memory.current").read_text()) - int(files)
