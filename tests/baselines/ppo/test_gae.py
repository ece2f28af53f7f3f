"""Advantages against sums written out by hand, and against RLlib's own."""

import numpy as np
import pytest
import torch
from ray.rllib.utils.postprocessing.value_predictions import compute_value_targets

from rolecast.baselines.ppo.learner import advantage_weights, generalised_advantages

GAMMA, LAMBDA = 0.9, 0.5


def columns(*numbers: float) -> torch.Tensor:
    """Return one episode of one agent, [T, 1, 1]."""
    return torch.tensor(numbers, dtype=torch.float64)[:, None, None]


def flags(*numbers: float) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.float64)[:, None]


def estimate(terminated: torch.Tensor, ended: torch.Tensor) -> list[float]:
    found = generalised_advantages(
        columns(1.0, 2.0, 3.0),
        columns(10.0, 20.0, 30.0),
        columns(20.0, 25.0, 40.0),
        terminated,
        ended,
        gamma=GAMMA,
        lambda_=LAMBDA,
    )
    return [float(advantage) for advantage in found.flatten()]


def test_a_running_episode_is_worth_its_last_value() -> None:
    last = 3.0 + 0.9 * 40.0 - 30.0
    middle = 2.0 + 0.9 * 25.0 - 20.0 + 0.45 * last
    first = 1.0 + 0.9 * 20.0 - 10.0 + 0.45 * middle
    assert estimate(flags(0, 0, 0), flags(0, 0, 0)) == pytest.approx([first, middle, last])


def test_a_truncated_episode_is_worth_what_it_would_still_have_earned() -> None:
    last = 3.0 + 0.9 * 40.0 - 30.0
    middle = 2.0 + 0.9 * 25.0 - 20.0
    first = 1.0 + 0.9 * 20.0 - 10.0 + 0.45 * middle
    assert estimate(flags(0, 0, 0), flags(0, 1, 0)) == pytest.approx([first, middle, last])


def test_after_a_termination_nothing_is_to_come() -> None:
    last = 3.0 + 0.9 * 40.0 - 30.0
    middle = 2.0 - 20.0
    first = 1.0 + 0.9 * 20.0 - 10.0 + 0.45 * middle
    assert estimate(flags(0, 1, 0), flags(0, 1, 0)) == pytest.approx([first, middle, last])


def test_advantages_of_one_episode_are_those_of_rllib() -> None:
    rng = np.random.default_rng(3)
    rewards, values = rng.normal(size=30), rng.normal(size=31)
    terminated = np.zeros(30)
    terminated[-1] = 1.0
    # RLlib reads the value that follows a row in the next row, and so wants one row more.
    targets = compute_value_targets(
        values=values,
        rewards=np.append(rewards, 0.0),
        terminateds=np.append(terminated, 0.0),
        truncateds=np.append(np.zeros(30), 1.0),
        gamma=GAMMA,
        lambda_=LAMBDA,
    )
    found = generalised_advantages(
        columns(*rewards),
        columns(*values[:-1]),
        columns(*values[1:]),
        flags(*terminated),
        flags(*terminated),
        gamma=GAMMA,
        lambda_=LAMBDA,
    )
    np.testing.assert_allclose(found.flatten(), (targets - values)[:-1], atol=1e-6)


def test_the_weights_of_later_td_errors_give_the_same_advantages() -> None:
    rng = np.random.default_rng(4)
    ended = torch.from_numpy((rng.random((20, 3)) < 0.2).astype(np.float64))
    rewards, values, nexts = (torch.from_numpy(rng.normal(size=(20, 3, 2))) for _ in range(3))
    found = generalised_advantages(
        rewards, values, nexts, ended, ended, gamma=GAMMA, lambda_=LAMBDA
    )
    td_errors = rewards + GAMMA * (1.0 - ended[..., None]) * nexts - values
    weights = advantage_weights(ended, gamma=GAMMA, lambda_=LAMBDA)
    summed = (weights @ td_errors.transpose(0, 1)).transpose(0, 1)
    np.testing.assert_allclose(summed, found)


def test_episodes_side_by_side_do_not_know_each_other() -> None:
    rng = np.random.default_rng(5)
    ended = torch.from_numpy((rng.random((20, 4)) < 0.2).astype(np.float64))
    rewards, values, nexts = (torch.from_numpy(rng.normal(size=(20, 4, 2))) for _ in range(3))
    together = generalised_advantages(
        rewards, values, nexts, ended, ended, gamma=GAMMA, lambda_=LAMBDA
    )
    alone = generalised_advantages(
        rewards[:, 2:3],
        values[:, 2:3],
        nexts[:, 2:3],
        ended[:, 2:3],
        ended[:, 2:3],
        gamma=GAMMA,
        lambda_=LAMBDA,
    )
    np.testing.assert_array_equal(together[:, 2:3], alone)
