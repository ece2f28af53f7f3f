"""Environments that hang: told of and ended, at the same history where they do not."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from rolecast.core.errors import ConfigError, RunError
from rolecast.core.patience import Patience
from rolecast.envs.check import check_task
from rolecast.platform.search.run import resume, search

SETTINGS: dict[str, Any] = {
    "policy": "linear",
    "optimizer": "random",
    "evaluations": 12,
    "episodes": 2,
    "batch_size": 3,
    "test_episodes": 2,
    "workers": 0,
}

SameHistory = Callable[[Path, Path], None]


class Slow(gymnasium.Env[Any, Any]):
    """Episodes of four steps, one of which may last."""

    observation_space = spaces.Box(-1.0, 1.0, (2,))
    action_space = spaces.Box(-1.0, 1.0, (1,))
    steps = 0
    lasting_s = 0.0
    """Duration of the step of the class that is the 31st of all."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.taken = 0
        return self.np_random.uniform(-1.0, 1.0, 2), {}

    def step(self, action: Any) -> Any:
        self.taken += 1
        type(self).steps += 1
        if self.lasting_s and type(self).steps == 31:
            time.sleep(self.lasting_s)
        return np.zeros(2), float(action[0]), self.taken == 4, False, {}


def quick() -> Any:
    return type("Quick", (Slow,), {})()


def hanging() -> Any:
    Hanging.steps = 0
    return Hanging()


class Hanging(Slow):
    """Hangs, in the eighth episode."""

    lasting_s = 600.0


def test_a_step_that_hangs_ends_the_search_in_one_sentence_and_loses_no_batch(
    tmp_path: Path, same_history: SameHistory
) -> None:
    began = time.monotonic()
    with pytest.raises(RunError) as failure:
        search(hanging, out=tmp_path / "run", step_timeout=0.5, **SETTINGS)
    assert time.monotonic() - began < 60.0
    text = str(failure.value)
    assert text.startswith("evaluation ")
    assert "has not answered for 0.5 s in step " in text
    assert "of the episode of seed " in text
    expected = "expected an answer; a search takes --step-timeout and --failed-episodes=lowest"
    assert text.endswith(expected)
    assert "\n" not in text
    resume(tmp_path / "run", task=quick, step_timeout=60.0)
    search(quick, out=tmp_path / "other", **SETTINGS)
    same_history(tmp_path / "run", tmp_path / "other")


def test_a_check_names_the_step_that_hangs() -> None:
    said: list[str] = []
    patience = Patience(0.5, said.append, silent_s=0.2)
    report = check_task(hanging, patience=patience)
    patience.close()
    assert not report.ok
    assert "has not answered for 0.5 s in step" in report.checks[-1].detail
    assert "the environment has been in step" in said[0]


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), float("inf"), True, "5"])
def test_a_timeout_that_is_no_time_is_refused(seconds: object) -> None:
    with pytest.raises(ConfigError, match="step_timeout is"):
        search(quick, step_timeout=seconds, **SETTINGS)


@pytest.mark.usefixtures("ray_cluster")
def test_a_step_that_hangs_in_a_worker_ends_the_search_too(tmp_path: Path) -> None:
    def lasting() -> Any:
        import time

        import gymnasium

        class Lasting(gymnasium.Wrapper[Any, Any, Any, Any]):
            """Hangs in its 30th step."""

            steps = 0

            def step(self, action: Any) -> Any:
                self.steps += 1
                if self.steps == 30:
                    time.sleep(600.0)
                return super().step(action)

        return Lasting(gymnasium.make("Pendulum-v1", max_episode_steps=50))

    with pytest.raises(RunError, match=r"^evaluation 0: .*answered for 1 s in step 30 of the"):
        search(lasting, out=tmp_path / "run", **SETTINGS | {"workers": 1, "step_timeout": 1.0})
