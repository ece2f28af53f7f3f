"""The relaxation: its limits, its derivatives, its soft assignment."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rolecast.core.types import Float
from rolecast.envs.spec import TaskSpec
from rolecast.policies.hom.policy import HomPolicy
from rolecast.policies.hom.relaxation import relaxed_actions, soft_assignment
from rolecast.policies.registry import make_policy


def team(roles: bool, n: int = 3, do: int = 4, **options: Any) -> HomPolicy:
    task = TaskSpec(id="team", agents=n, observation_size=do, action_size=2, horizon=25)
    policy = make_policy("hom", task, role_assignment=roles, **options)
    assert isinstance(policy, HomPolicy)
    return policy


def distances(policy: HomPolicy, weights: Float, states: Float, **settings: float) -> Float:
    """Return the largest difference from the hard action, for each of S states."""
    hard = policy.act(weights[None], states[None])[0]
    soft = relaxed_actions(
        policy.model,
        torch.tensor(weights),
        torch.tensor(states),
        sweeps=5000,
        **settings,
    )
    return np.asarray(np.abs(soft.numpy() - hard).max(axis=(1, 2)))


@pytest.mark.parametrize("roles", [False, True])
@pytest.mark.parametrize("size", ["med", "sm"])
def test_cold_relaxed_actions_are_the_hard_ones(roles: bool, size: str) -> None:
    """Where the best assignment leads by 5 % of the spread: closer calls need colder ones.

    The rest of the difference, which the hard and soft actions' own size is 100 times, falls as
    one over the sweeps.
    """
    policy = team(roles, size=size, output_gain=1.0)
    rng = np.random.default_rng(1)
    weights = policy.space.weights(rng.random(policy.space.size))
    states = rng.normal(size=(60, 3, 4))
    clear = np.ones(60, dtype=bool) if not roles else margins(policy, weights, states) > 0.05
    assert clear.sum() > 15
    found = distances(
        policy, weights, states[clear], role_temperature=2.5e-3, edge_temperature=1e-6
    )
    assert found.max() < 0.01


def margins(policy: HomPolicy, weights: Float, states: Float) -> Float:
    """Return by how much the best permutation leads the second, in units of the spread."""
    from itertools import permutations

    from rolecast.policies.network import forward, unpack

    model, layers = policy.model, unpack(weights[None], policy.model.nets)
    count, n, do = states.shape
    inputs = np.empty((1, count, n, n, do + 2 * model.bits))
    inputs[..., :do] = states[None, :, None]
    inputs[..., do:] = model.role_codes[None, None, :, None]
    affinity = forward(layers["role"], inputs)[0, ..., 0]
    totals = np.stack(
        [affinity[:, np.arange(n), list(order)].sum(axis=1) for order in permutations(range(n))]
    )
    second, first = np.sort(totals, axis=0)[-2:]
    return np.asarray((first - second) / affinity.std(axis=(1, 2)))


def test_cooling_comes_ever_closer() -> None:
    policy = team(False, output_gain=1.0)
    rng = np.random.default_rng(3)
    weights = policy.space.weights(rng.random(policy.space.size))
    states = rng.normal(size=(40, 3, 4))
    found = [
        distances(policy, weights, states, edge_temperature=heat).mean() for heat in (1, 0.1, 0.01)
    ]
    assert found[0] > 2.0 * found[1] > 4.0 * found[2]


@pytest.mark.parametrize("roles", [False, True])
def test_first_and_second_derivatives_match_finite_differences(roles: bool) -> None:
    policy = team(roles, n=2, do=2, size="sm", output_gain=1.0)
    rng = np.random.default_rng(2)
    weights = torch.tensor(policy.space.weights(rng.random(policy.space.size)))
    states = torch.tensor(rng.normal(size=(1, 2, 2)))

    def actions(vector: torch.Tensor) -> torch.Tensor:
        return policy.relaxed_act(vector, states)

    assert torch.autograd.gradcheck(actions, weights.clone().requires_grad_())
    assert torch.autograd.gradgradcheck(actions, weights.clone().requires_grad_())


@settings(deadline=None)  # first calls compile, or load a library
@given(n=st.integers(1, 6), seed=st.integers(0, 2**32 - 1), heat=st.floats(0.05, 10.0))
def test_a_soft_assignment_is_nearly_doubly_stochastic(n: int, seed: int, heat: float) -> None:
    affinity = torch.tensor(np.random.default_rng(seed).normal(size=(4, n, n)))
    mixture, further = (soft_assignment(affinity, heat, sweeps) for sweeps in (20, 200))
    assert ((mixture >= 0) & (mixture <= 1 + 1e-12)).all()
    torch.testing.assert_close(mixture.sum(dim=1), torch.ones(4, n, dtype=torch.float64))
    gap, smaller = (rows.sum(dim=2).sub(1.0).abs().sum() for rows in (mixture, further))
    assert smaller <= gap + 1e-9


def test_scale_and_offset_of_affinities_do_not_matter() -> None:
    affinity = torch.tensor(np.random.default_rng(0).normal(size=(4, 3, 3)))
    torch.testing.assert_close(
        soft_assignment(7.0 * affinity + 2.0, 0.1, 20), soft_assignment(affinity, 0.1, 20)
    )


def test_equal_affinities_are_shared_evenly() -> None:
    mixture = soft_assignment(torch.zeros(1, 4, 4, dtype=torch.float64), 0.1, 20)
    torch.testing.assert_close(mixture, torch.full((1, 4, 4), 0.25, dtype=torch.float64))


@pytest.mark.parametrize(("heat", "sweeps"), [(0.0, 20), (-1.0, 20), (0.1, 0)])
def test_a_wrong_temperature_or_number_of_sweeps_is_refused(heat: float, sweeps: int) -> None:
    with pytest.raises(ValueError, match="expected > 0"):
        soft_assignment(torch.zeros(1, 2, 2), heat, sweeps)
