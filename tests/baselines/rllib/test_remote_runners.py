"""Algorithms whose runners are in other processes: one and two, shared by all tests.

A test begins with the checkpoint of their start. Those that kill a runner come last.
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from rolecast.core.errors import RunError
from tests.baselines.rllib.test_algorithm import build_tiny, train

pytestmark = [
    pytest.mark.usefixtures("ray_cluster"),
    # RLlib, about its own code and about the machine.
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@contextmanager
def built(runners: int) -> Iterator[Any]:
    algorithm = build_tiny(runners=runners)
    yield algorithm
    algorithm.stop()


@pytest.fixture(scope="module")
def one() -> Iterator[Any]:
    """An algorithm with one runner elsewhere."""
    with built(1) as algorithm:
        yield algorithm


@pytest.fixture(scope="module")
def two() -> Iterator[Any]:
    """An algorithm with two runners elsewhere."""
    with built(2) as algorithm:
        yield algorithm


@pytest.fixture(scope="module")
def start(one: Any, two: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[int, str]:
    """Return the checkpoints of both as they were built, by the number of runners."""
    folder = tmp_path_factory.mktemp("start")
    for runners, algorithm in ((1, one), (2, two)):
        algorithm.save_to_path(str(folder / str(runners)))
    return {runners: str(folder / str(runners)) for runners in (1, 2)}


def test_runs_repeat_with_any_number_of_runners(one: Any, two: Any, start: dict[int, str]) -> None:
    one.restore_from_path(start[1])
    two.restore_from_path(start[2])
    with built(0) as here:
        assert train(here, 2) == train(one, 2)
    first = train(two, 3)
    two.restore_from_path(start[2])
    assert train(two, 3) == first


def test_a_run_goes_on_with_other_runners(
    one: Any, two: Any, start: dict[int, str], tmp_path: Path
) -> None:
    """The only runner and the first of several are the same; a second one begins a new life.

    A checkpoint of one names it 0 here, 1 elsewhere.
    """
    two.restore_from_path(start[2])
    with built(0) as here:
        train(here, 1)
        here.save_to_path(str(tmp_path / "here"))
        wanted = train(here, 1)
        one.restore_from_path(str(tmp_path / "here"))
        one.save_to_path(str(tmp_path / "one"))
        assert train(one, 1) == wanted
        here.restore_from_path(str(tmp_path / "one"))
        assert train(here, 1) == wanted
        for life in (1, 2):
            two.restore_from_path(str(tmp_path / "one"))
            states = two.env_runner_group.foreach_env_runner(
                lambda runner: runner.sampling_state()["sampler"], local_env_runner=False
            )
            assert [(state["begun"], state["life"]) for state in states] == [(2, 0), (0, life)]
            two.save_to_path(str(tmp_path / "two"))
            here.restore_from_path(str(tmp_path / "two"))
            here.save_to_path(str(tmp_path / "one"))


def test_a_runner_that_is_killed_comes_back(two: Any) -> None:
    group = two.env_runner_group
    pids = group.foreach_env_runner(lambda _: os.getpid(), local_env_runner=False)
    os.kill(pids[0], signal.SIGKILL)
    steps, patience = two.env_steps, time.monotonic() + 300
    train(two, 1)
    while group.num_healthy_remote_env_runners() < 2 and time.monotonic() < patience:
        train(two, 1)
        time.sleep(0.2)  # leaves the machine to the runner that starts
    assert group.num_healthy_remote_env_runners() == 2
    assert two.env_steps > steps


def test_training_ends_where_no_runner_answers(one: Any) -> None:
    """The only runner is killed, and there is no time for it to come back."""
    group = one.env_runner_group
    (pid,) = group.foreach_env_runner(lambda _: os.getpid(), local_env_runner=False)
    one.patience_s = 0.0
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(RunError, match="none of 1 env runners answered for 0 s; expected at least"):
        one.train()
