"""Control groups of this process, by which Linux and containers limit what it may take."""

from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

CGROUP_FOLDER: Final = Path("/sys/fs/cgroup")
"""Where groups are seen as folders; macOS has none."""

MEMBERSHIP_FILE: Final = Path("/proc/self/cgroup")
"""Groups that this process is in, one a line: "0::/a/b" of version 2, "4:cpu,cpuacct:/a" of 1."""


def cgroup_folders(
    controller: str = "", *, root: Path = CGROUP_FOLDER, membership: Path = MEMBERSHIP_FILE
) -> list[Path]:
    """Return the folder of this process's group and those of the groups above, whose limits hold.

    Args:
        controller: of version 1, such as "cpu"; "" is version 2, which has one tree for all.
        root: folder of all groups.
        membership: file that names the groups of this process.
    Returns:
        Its own first; none where there are no groups. A container may see the top alone.
    """
    top, group = root / controller, Path()
    with suppress(OSError):
        for line in membership.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controller in controllers.split(",") and ".." not in path:
                group = Path(path.lstrip("/"))
    return [folder for folder in map(top.joinpath, (group, *group.parents)) if folder.is_dir()]


@cache
def core_quota(*, root: Path = CGROUP_FOLDER, membership: Path = MEMBERSHIP_FILE) -> int | None:
    """Return how many cores the groups grant at most, rounded up; None where none is limited.

    They are read once, as robots ask for their threads in each step. Arguments as of
    `cgroup_folders`.
    """
    quotas = list[int]()
    for version in ("", "cpu"):
        for folder in cgroup_folders(version, root=root, membership=membership):
            with suppress(OSError, ValueError):  # without a limit there is "max", or no file
                quota, period = _quota_and_period(folder, version)
                if quota > 0 and period > 0:
                    quotas.append(-(-quota // period))
    return min(quotas, default=None)


def _quota_and_period(folder: Path, version: str) -> tuple[int, int]:
    """Return the time of cores that a group may use in a period, and the period, both in us."""
    if version:
        names = ("cpu.cfs_quota_us", "cpu.cfs_period_us")
        words = [(folder / name).read_text() for name in names]
    else:
        words = (folder / "cpu.max").read_text().split()
    quota, period = map(int, words)
    return quota, period
