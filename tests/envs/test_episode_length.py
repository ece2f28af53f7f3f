"""Episodes that end by themselves: measured, run to their ends, an error where they never end."""

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from rolecast.core.errors import RunError
from rolecast.envs.check import check_task
from rolecast.envs.episode_length import typical_steps
from rolecast.envs.registry import make_task
from rolecast.platform.search.run import search


class Countdown(gymnasium.Env[Any, Any]):
    """Ends by itself after as many steps as its seed says, at most 60, and pays 1 in each."""

    observation_space = spaces.Box(-np.inf, np.inf, (1,))
    action_space = spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.left = int(seed or 0) % 60 or 60
        return np.array([float(self.left)]), {}

    def step(self, action: Any) -> Any:
        self.left -= 1
        return np.array([float(self.left)]), 1.0, self.left <= 0, False, {}


def test_an_environment_that_ends_its_own_episodes_needs_no_horizon() -> None:
    task: Any = make_task(Countdown)
    assert (task.ends_itself, task.spec.horizon) == (True, 10_000)
    played = run_to_the_ends(task, np.array([3, 7, 12], dtype=np.uint64))
    assert played == ([3.0, 7.0, 12.0], [True, True, True])
    assert typical_steps(task) == 55  # the longest of the measured seeds
    late: Any = make_task(Countdown, sparse=5, flush_on_end=True)
    assert run_to_the_ends(late, np.array([3, 7, 12], dtype=np.uint64))[0] == [3.0, 7.0, 12.0]
    assert typical_steps(make_task(Countdown, horizon=9)) == 9


def run_to_the_ends(task: Any, seeds: Any) -> tuple[list[float], list[bool]]:
    task.reset(seeds)
    total, done = np.zeros(seeds.size), np.zeros(seeds.size, dtype=bool)
    while not done.all():
        _, reward, done, _ = task.step(np.zeros((seeds.size, 1, 2)))
        total += reward
    return total.tolist(), task.terminated.tolist()


def test_an_episode_that_never_ends_is_an_error_that_names_it() -> None:
    task: Any = make_task(Endless)
    with pytest.raises(RunError, match="not ended after 10,000 steps of the episode of seed 4;"):
        run_to_the_ends(task, np.array([4], dtype=np.uint64))


class Endless(Countdown):
    """Never ends."""

    def step(self, action: Any) -> Any:
        return np.zeros(1), 0.0, False, False, {}


def test_the_check_says_what_it_measured() -> None:
    told = {check.name: check for check in check_task(Countdown, sparse=60).checks}
    assert "ended by themselves after 11 to 55 steps" in told["episodes"].detail
    assert "no horizon" in told["spaces"].detail
    assert not told["payment"].ok  # nothing is paid every 60 steps
    report = check_task(Endless)
    assert [check.name for check in report.checks if not check.ok] == ["run"]
    assert "had not ended after 10,000 steps" in report.checks[-1].detail


def test_a_search_counts_the_measured_steps(tmp_path: Path) -> None:
    result = search(
        Countdown,
        policy="linear",
        optimizer="random",
        env_steps=3000,
        episodes=2,
        workers=0,
        test_episodes=2,
        out=tmp_path / "run",
    )
    assert result.summary["policy_evaluations"] >= 1


class Overpaid(Countdown):
    """Pays too much in the 50th step."""

    def __init__(self, paid: float) -> None:
        self.paid = paid

    def step(self, action: Any) -> Any:
        seen, reward, *rest = super().step(action)
        return seen, self.paid if self.np_random_seed - self.left == 50 else reward, *rest


@pytest.mark.parametrize(("paid", "said"), [(np.nan, "nan"), (np.inf, "inf"), (1e200, "1e+200")])
def test_the_check_looks_at_the_rewards_of_all_episodes_that_it_measures(
    paid: float, said: str
) -> None:
    (failed,) = (check for check in check_task(Overpaid, paid=paid).checks if not check.ok)
    expected = f"the rewards of the episode of seed 55 sum to {said}; expected a return of at most"
    assert failed.detail.startswith(expected)
