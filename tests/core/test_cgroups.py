"""Limits of control groups, read from folders as Linux shows them."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from rolecast.core.cgroups import cgroup_folders, core_quota

VERSION_TWO = "0::/user.slice/job\n"
VERSION_ONE = "9:name=systemd:/other\n4:cpu,cpuacct:/docker/abc\n0::/\n"


@pytest.mark.parametrize(
    ("membership", "files", "expected"),
    [
        (VERSION_TWO, {}, None),
        (VERSION_TWO, {"user.slice/job/cpu.max": "max 100000\n"}, None),
        (VERSION_TWO, {"user.slice/job/cpu.max": "150000 100000\n"}, 2),
        (VERSION_TWO, {"user.slice/job/cpu.max": "1000 100000\n"}, 1),
        (VERSION_TWO, {"user.slice/job/cpu.max": "max 100\n", "user.slice/cpu.max": "300 100"}, 3),
        (VERSION_TWO, {"other/cpu.max": "100 100\n"}, None),
        ("0::/\n", {"cpu.max": "200000 100000\n"}, 2),
        ("0::/host/container\n", {"cpu.max": "200000 100000\n"}, 2),
        ("0::/../job\n", {"job/cpu.max": "1 1\n", "cpu.max": "2 1\n"}, 2),
        (VERSION_ONE, {"cpu/docker/abc/cpu.cfs_quota_us": "-1\n"}, None),
        (VERSION_ONE, {"cpu/docker/abc/cpu.cfs_quota_us": "250000\n"}, 3),
        (VERSION_ONE, {"cpu/cpu.cfs_quota_us": "100000\n"}, 1),
        (VERSION_ONE, {"cpu/other/cpu.cfs_quota_us": "100000\n"}, None),
        (None, {}, None),
    ],
)
def test_the_least_quota_of_the_groups_counts_in_whole_cores(
    membership: str | None, files: Mapping[str, str], expected: int | None, tmp_path: Path
) -> None:
    root, listed = tmp_path / "groups", tmp_path / "membership"
    if membership is not None:
        listed.write_text(membership)
    for name, content in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
        file.with_name("cpu.cfs_period_us").write_text("100000\n")
    assert core_quota(root=root, membership=listed) == expected


def test_the_own_group_is_first_and_groups_that_are_not_seen_are_left_out(tmp_path: Path) -> None:
    listed = tmp_path / "membership"
    listed.write_text("0::/a/b/c\n")
    (tmp_path / "a" / "b").mkdir(parents=True)
    found = cgroup_folders(root=tmp_path, membership=listed)
    assert found == [tmp_path / "a" / "b", tmp_path / "a", tmp_path]
    assert cgroup_folders(root=tmp_path / "none", membership=listed) == []


def test_a_quota_is_read_once(tmp_path: Path) -> None:
    """Robots ask for their threads in each step, and reading takes a third of a millisecond."""
    listed, limit = tmp_path / "membership", tmp_path / "cpu.max"
    listed.write_text("0::/\n")
    limit.write_text("200000 100000\n")
    assert core_quota(root=tmp_path, membership=listed) == 2
    limit.unlink()
    assert core_quota(root=tmp_path, membership=listed) == 2
