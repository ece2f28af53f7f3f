"""What every policy of the registry keeps: shapes, bounds, one function in all its faces."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from rolecast.core.types import LANE_COUNT, Float
from rolecast.envs.spec import TaskSpec
from rolecast.policies.protocol import Policy
from rolecast.policies.registry import make_policy

Draw = Callable[..., tuple[Float, Float]]
ThroughLanes = Callable[..., Float]

CASES: list[tuple[str, dict[str, Any]]] = [
    ("mlp", {}),
    ("hom", {}),
    ("hom", {"role_assignment": False}),
    ("hom", {"role_interaction": False}),
    ("hom", {"size": "sm", "self_edges": True, "rounds": 3}),
]
TASK = TaskSpec(id="team", agents=3, observation_size=6, action_size=2, horizon=25)


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]}{sorted(case[1])}")
def policy(request: pytest.FixtureRequest) -> Policy:
    name, options = request.param
    return make_policy(name, TASK, **options)


def test_actions_have_their_shape_and_stay_in_bounds(policy: Policy) -> None:
    rng = np.random.default_rng(0)
    weights = policy.space.weights(rng.random((3, policy.space.size)))
    actions = policy.act(weights, 100.0 * rng.normal(size=(3, 4, 3, 6)))
    assert actions.shape == (3, 4, 3, 2)
    assert actions.dtype == np.float64
    assert np.abs(actions).max() <= 1.0


def test_a_batch_equals_its_members_alone(policy: Policy, draw: Draw) -> None:
    weights, _ = draw(policy, TASK, 4)
    observations = np.random.default_rng(1).normal(size=(4, 5, 3, 6))
    together = policy.act(weights, observations)
    for candidate, episode in np.ndindex(4, 5):
        part = observations[candidate, episode]
        alone = policy.act(weights[candidate][None], part[None, None])
        np.testing.assert_allclose(alone[0, 0], together[candidate, episode], atol=1e-12)


def test_a_lane_is_the_same_to_the_last_bit_wherever_it_lies(
    policy: Policy, draw: Draw, through_lanes: ThroughLanes
) -> None:
    weights, observations = draw(policy, TASK, 3 * LANE_COUNT)
    actions = through_lanes(policy, weights, observations, 2)
    order = np.random.default_rng(5).permutation(3 * LANE_COUNT)
    shuffled = through_lanes(policy, weights[order], observations[order], 2)
    np.testing.assert_array_equal(shuffled, actions[order])
    fewer = through_lanes(
        policy, weights[LANE_COUNT : 2 * LANE_COUNT], observations[LANE_COUNT : 2 * LANE_COUNT], 2
    )
    np.testing.assert_array_equal(fewer, actions[LANE_COUNT : 2 * LANE_COUNT])


def test_observations_are_clipped_in_every_face(
    policy: Policy, draw: Draw, through_lanes: ThroughLanes
) -> None:
    weights, observations = draw(policy, TASK, LANE_COUNT)
    far, edge = observations.copy(), observations.copy()
    far[:, 0, 1], edge[:, 0, 1] = 1e6, 10.0
    np.testing.assert_array_equal(
        policy.act(weights, far[:, None]), policy.act(weights, edge[:, None])
    )
    np.testing.assert_array_equal(
        through_lanes(policy, weights, far, 2), through_lanes(policy, weights, edge, 2)
    )
    relaxed = [
        policy.relaxed_act(torch.tensor(weights[0]), torch.tensor(rows)).numpy()
        for rows in (far, edge)
    ]
    np.testing.assert_array_equal(relaxed[0], relaxed[1])


def test_an_observation_that_is_nan_never_becomes_an_action(
    policy: Policy, draw: Draw, through_lanes: ThroughLanes
) -> None:
    weights, observations = draw(policy, TASK, LANE_COUNT)
    observations[2, 1, 0] = np.nan
    for actions in (
        policy.act(weights, observations[:, None])[:, 0],
        through_lanes(policy, weights, observations, 2),
    ):
        assert np.isnan(actions[2, 1]).all()
        assert not np.isnan(np.delete(actions, 2, axis=0)).any()


def test_hessians_are_finite_symmetric_and_vectorised(policy: Policy, draw: Draw) -> None:
    weights, _ = draw(policy, TASK, 2)
    states = torch.tensor(np.random.default_rng(2).normal(size=(3, 3, 6)))

    def total(vector: torch.Tensor) -> torch.Tensor:
        return policy.relaxed_act(vector, states).sum()

    hessians = torch.func.vmap(torch.func.hessian(total))(torch.tensor(weights))
    assert hessians.shape == (2, policy.space.size, policy.space.size)
    assert hessians.dtype == torch.float64
    assert torch.isfinite(hessians).all()
    assert hessians.abs().max() > 0
    torch.testing.assert_close(hessians, hessians.mT, rtol=1e-8, atol=1e-8)


def test_hessians_are_finite_at_the_very_centre_too(policy: Policy) -> None:
    states = torch.tensor(np.random.default_rng(2).normal(size=(3, 3, 6)))
    hessian = torch.func.hessian(lambda v: policy.relaxed_act(v, states).sum())
    assert torch.isfinite(hessian(torch.tensor(policy.space.centre))).all()


@pytest.mark.parametrize(
    ("weights", "observations"),
    [((2, 7), (2, 1, 3, 6)), ((2, -1), (3, 1, 3, 6)), ((2, -1), (2, 1, 4, 6)), ((-1,), (3, 6))],
)
def test_a_wrong_shape_is_named(
    policy: Policy, weights: tuple[int, ...], observations: tuple[int, ...]
) -> None:
    sizes = tuple(policy.space.size if size < 0 else size for size in weights)
    with pytest.raises(ValueError, match=r"have shape .* expected \["):
        policy.act(np.zeros(sizes), np.zeros(observations))
