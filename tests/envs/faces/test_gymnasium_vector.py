from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import rolecast
import rolecast.envs.gym_ids  # registers the ids
from rolecast.core.errors import RequestError
from rolecast.envs.adapters.sources import Factory
from rolecast.envs.faces.gymnasium_vector import TaskVectorEnv
from rolecast.envs.registry import make_env
from tests.envs.rewards.conftest import Ledger


@pytest.mark.parametrize("seed", [3, [8, 2, 5]])
def test_it_runs_as_gymnasiums_own_does_over_single_environments(seed: Any) -> None:
    """Through ends by a fall, ends at the horizon, and the episodes after them."""
    ours = rolecast.make_vector_env("walker2d?horizon=40", 3, threads=2)
    theirs: Any = SyncVectorEnv([lambda: make_env("walker2d?horizon=40")] * 3)
    one, other = ours.reset(seed=seed), theirs.reset(seed=seed)
    np.testing.assert_array_equal(one[0], other[0])
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    rng, ends = np.random.default_rng(0), np.zeros(2, dtype=int)
    for _ in range(90):
        actions = rng.uniform(-1.0, 1.0, (3, 6)).astype(np.float32)
        one, other = ours.step(actions), theirs.step(actions)
        for part, expected in zip(one[:4], other[:4], strict=True):
            np.testing.assert_array_equal(part, expected)
        for name, values in other[4].items():
            np.testing.assert_array_equal(one[4][name], values)
        ends += [one[2].sum(), one[3].sum()]
    assert (ends > 0).all()
    ours.close()
    theirs.close()


def test_gymnasium_makes_it_from_a_registered_id() -> None:
    envs = gymnasium.make_vec("rolecast/hopper-v0", num_envs=2, horizon=9)
    assert isinstance(envs, TaskVectorEnv)
    assert envs.task.spec.id == "hopper?horizon=9"
    assert envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert envs.reset(seed=1)[0].shape == (2, 11)


def test_without_a_seed_episodes_side_by_side_differ_and_are_repeatable() -> None:
    starts = [rolecast.make_vector_env("hopper", 3).reset()[0] for _ in range(2)]
    np.testing.assert_array_equal(starts[0], starts[1])
    assert len(np.unique(starts[0], axis=0)) == 3


@pytest.mark.parametrize(
    ("task", "count", "message"),
    [
        ("ma_hopper_3x1", 2, "has 3 agents; expected one for a Gymnasium environment"),
        (lambda: Ledger([[1.0]]), 2, "cannot begin episodes one by one; expected one that can"),
        ("hopper", 0, "num_envs is 0; expected an integer >= 1"),
    ],
)
def test_what_cannot_run_side_by_side_is_refused(
    task: str | Factory, count: int, message: str
) -> None:
    with pytest.raises(RequestError) as refused:
        rolecast.make_vector_env(task, count)
    assert message in str(refused.value)


def test_wrong_requests_are_refused() -> None:
    envs = rolecast.make_vector_env("hopper", 2)
    with pytest.raises(RequestError, match="stepped before its reset; expected a reset"):
        envs.step(np.zeros((2, 3)))
    for seed in (-1, [1, -1], [1, 2, 3], 2**64 - 1, [1, 0.5]):
        with pytest.raises(RequestError, match=r"reset\.seed is .*; expected an integer"):
            envs.reset(seed=seed)
    for same in (np.int64(1), np.array([1, 2])):
        observed = envs.reset(seed=same)[0]
        np.testing.assert_array_equal(observed, envs.reset(seed=1)[0])
    with pytest.raises(RequestError, match=r"actions of task 'hopper' is \(2, 2\); expected"):
        envs.step(np.zeros((2, 2)))
    with pytest.raises(RequestError, match="finite"):
        envs.step(np.full((2, 3), np.nan))
