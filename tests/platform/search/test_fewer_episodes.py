"""A search takes fewer episodes where its optimiser sees no noise, and is otherwise the same."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from rolecast.core.errors import RequestError
from rolecast.platform.search.planning.config import SearchConfig
from rolecast.platform.search.progress import Silent
from rolecast.platform.search.records.frames import read_history
from rolecast.platform.search.run import SearchInterrupted, resume, search

HORIZON = 2
SETTINGS: dict[str, Any] = {
    "policy": "mlp",
    "policy_options": {"hidden": [2]},
    "optimizer": "local_gp",
    "env_steps": 9_000,
    "workers": 0,
    "task_options": {"horizon": HORIZON},
    "test_episodes": 1,
}
"""4,500 episodes: batches of 60 candidates of 3 episodes, if all are taken."""


class Aim(gymnasium.Env[Any, Any]):
    """Pays for actions near 0.3; every episode is the same, unless `noise` is above 0."""

    observation_space = gymnasium.spaces.Box(-1.0, 1.0, (2,))
    action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,))

    def __init__(self, noise: float) -> None:
        self.noise = noise

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.left = HORIZON
        return self._seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.left -= 1
        luck = self.noise * float(self.np_random.standard_normal())
        reward = luck - (float(action[0]) - 0.3 * self.left / HORIZON) ** 2
        return self._seen(), reward, self.left == 0, False, {}

    def _seen(self) -> Any:
        return np.array([1.0, self.left / HORIZON], dtype=np.float32)


def aim(noise: float) -> Callable[..., Any]:
    return lambda horizon=HORIZON: Aim(noise)


@pytest.fixture(scope="module")
def sure(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A search of a task without noise."""
    out = tmp_path_factory.mktemp("sure") / "run"
    search(aim(0.0), out=out, **SETTINGS)
    return out


def sizes(out: Path) -> list[int]:
    """Return E of each evaluation."""
    return [len(returns) for returns in read_history(out)["episode_returns"]]


def test_without_noise_two_episodes_do_and_the_rest_pays_for_more_candidates(sure: Path) -> None:
    episodes, history = sizes(sure), read_history(sure)
    assert set(episodes) == {3, 2}
    assert episodes[:60] == [3] * 60
    # The confirmation at the end has all episodes again.
    assert episodes[::-1].index(2) < 60
    assert len(history) > 1.2 * SETTINGS["env_steps"] / HORIZON / 3
    assert history["env_steps"].iloc[-1] <= SETTINGS["env_steps"]


def test_with_noise_all_episodes_are_taken(tmp_path: Path) -> None:
    search(aim(3.0), out=tmp_path / "run", **SETTINGS)
    assert set(sizes(tmp_path / "run")) == {3}


@pytest.mark.parametrize(
    "given", [{"episodes": 3}, {"fewer_episodes": False}, {"optimizer": "random"}]
)
def test_episodes_that_are_asked_for_are_taken(tmp_path: Path, given: dict[str, Any]) -> None:
    search(aim(0.0), out=tmp_path / "run", **SETTINGS | given)
    assert len(set(sizes(tmp_path / "run"))) == 1


def test_an_interrupted_search_takes_as_few_as_one_that_was_not(
    sure: Path,
    tmp_path: Path,
    same_history: Callable[[Path, Path], None],
    interrupts_after: Callable[[int], Silent],
) -> None:
    out = tmp_path / "run"
    with pytest.raises(SearchInterrupted):
        search(aim(0.0), out=out, progress=interrupts_after(10), **SETTINGS)
    resume(out, task=aim(0.0))
    same_history(out, sure)


def test_what_is_neither_yes_nor_no_is_refused() -> None:
    with pytest.raises(RequestError, match="fewer_episodes"):
        SearchConfig(task="pred_prey_3", fewer_episodes="some")  # type: ignore[arg-type]
