import os
import subprocess
import sys

import pytest
from threadpoolctl import threadpool_info

from rolecast.core.errors import ConfigError
from rolecast.core.threads import OneThread, available_cores, usable_threads


def threads() -> list[int]:
    import torch

    pools = [pool["num_threads"] for pool in threadpool_info()]
    return [torch.get_num_threads(), *pools]


def test_inside_there_is_one_thread_and_outside_as_many_as_before() -> None:
    import torch

    before, limit = torch.get_num_threads(), OneThread()
    torch.set_num_threads(2)
    for _ in range(2):
        with limit():
            assert set(threads()) == {1}
        assert torch.get_num_threads() == 2
    torch.set_num_threads(before)


@pytest.mark.parametrize("inside", ["torch", "scipy.linalg"])
def test_what_is_loaded_inside_has_one_thread_too(inside: str) -> None:
    script = (
        "from rolecast.core.threads import OneThread, available_cores\n"
        f"with OneThread()():\n    import {inside}, threadpoolctl, sys\n"
        "    pools = [pool['num_threads'] for pool in threadpoolctl.threadpool_info()]\n"
        "    torch = sys.modules.get('torch')\n"
        "    print(set(pools) | {torch.get_num_threads() if torch else 1})"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "{1}"


@pytest.mark.parametrize("variable", ["3", None])
def test_torch_that_was_loaded_inside_has_the_threads_of_a_plain_process_outside(
    variable: str | None,
) -> None:
    script = (
        "from rolecast.core.threads import OneThread, usable_threads\n"
        "import os\nbefore, limit = os.environ.get('OMP_NUM_THREADS'), OneThread()\n"
        "with limit():\n    with OneThread()():\n        import torch\n"
        "    inside = torch.get_num_threads()\n"
        "assert os.environ.get('OMP_NUM_THREADS') == before\n"
        "print(inside, torch.get_num_threads() == usable_threads(None), before)\n"
    )
    environment = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"}
    if variable is not None:
        environment["OMP_NUM_THREADS"] = variable
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    assert done.stdout.strip() == f"1 True {variable}"


def test_cores_are_counted_where_the_system_does_not_tell_which_are_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert 1 <= available_cores() <= (os.cpu_count() or 1)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr("rolecast.core.threads.core_quota", lambda: None)
    assert available_cores() == os.cpu_count()


def test_a_quota_of_a_container_limits_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    cores = available_cores()
    for quota, expected in ((1, 1), (cores + 7, cores)):
        monkeypatch.setattr("rolecast.core.threads.core_quota", lambda quota=quota: quota)
        assert available_cores() == expected


@pytest.mark.parametrize(
    ("variable", "asked", "expected"),
    [("1", None, 1), ("3,2", None, 3), ("1", 4, 4), ("many", 2, 2)],
)
def test_threads_are_as_asked_or_as_the_environment_says(
    variable: str, asked: int | None, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", variable)
    assert usable_threads(asked) == expected


@pytest.mark.parametrize("variable", [None, "many", "0"])
def test_without_a_limit_each_core_has_a_thread(
    variable: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if variable is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", variable)
    assert 1 <= usable_threads(None) <= (os.cpu_count() or 1)


@pytest.mark.parametrize("asked", [0, -1, 1.5, True])
def test_a_wrong_number_of_threads_is_refused(asked: object) -> None:
    with pytest.raises(ConfigError, match="threads is"):
        usable_threads(asked)  # type: ignore[arg-type]
