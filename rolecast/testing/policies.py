"""Contract of a policy as a test class: inherit it, define `make`, and let pytest collect it.

Example:
    class TestMine(PolicyContract):
        def make(self, task: TaskSpec) -> Policy:
            return MyConfig().build(task, seed=0)
"""

import re
from typing import ClassVar

import numpy as np

from rolecast.core.types import LANE_COUNT, Float, Float32
from rolecast.envs.spec import TaskSpec
from rolecast.policies.protocol import Policy

CLIPPED_OBSERVATION = 10.0
"""Magnitude beyond which a policy sees no difference."""


class PolicyContract:
    """Tests that every policy passes: shapes, bounds, and one function in all its faces."""

    task: ClassVar[TaskSpec] = TaskSpec(
        id="team", agents=3, observation_size=6, action_size=2, horizon=25
    )
    """Sizes of the task that policies are made for."""

    def make(self, task: TaskSpec) -> Policy:
        """Return a policy for a task of these sizes.

        Raises:
            NotImplementedError: the inheriting class does not define it.
        """
        raise NotImplementedError("define make(task) in the class that inherits PolicyContract")

    def test_actions_have_their_shape_and_stay_in_bounds(self) -> None:
        policy, rng = self.make(self.task), np.random.default_rng(0)
        weights = policy.space.weights(rng.random((3, policy.space.size)))
        shape = (self.task.agents, self.task.observation_size)
        actions = policy.act(weights, 100.0 * rng.normal(size=(3, 4, *shape)))
        assert actions.shape == (3, 4, self.task.agents, self.task.action_size)
        assert actions.dtype == np.float64
        assert np.abs(actions).max() <= 1.0

    def test_a_batch_equals_its_members_alone(self) -> None:
        policy = self.make(self.task)
        weights, _ = drawn(policy, self.task, 4)
        shape = (self.task.agents, self.task.observation_size)
        observations = np.random.default_rng(1).normal(size=(4, 5, *shape))
        together = policy.act(weights, observations)
        for candidate, episode in np.ndindex(4, 5):
            part = observations[candidate, episode]
            alone = policy.act(weights[candidate][None], part[None, None])
            np.testing.assert_allclose(alone[0, 0], together[candidate, episode], atol=1e-12)

    def test_a_lane_is_the_same_to_the_last_bit_wherever_it_lies(self) -> None:
        policy = self.make(self.task)
        weights, observations = drawn(policy, self.task, 3 * LANE_COUNT)
        actions = through_lanes(policy, weights, observations, self.task.action_size)
        order = np.random.default_rng(5).permutation(3 * LANE_COUNT)
        shuffled = through_lanes(policy, weights[order], observations[order], self.task.action_size)
        np.testing.assert_array_equal(shuffled, actions[order])
        block = slice(LANE_COUNT, 2 * LANE_COUNT)
        fewer = through_lanes(policy, weights[block], observations[block], self.task.action_size)
        np.testing.assert_array_equal(fewer, actions[block])

    def test_the_compiled_face_is_the_readable_one_in_single_precision(self) -> None:
        policy = self.make(self.task)
        weights, observations = drawn(policy, self.task, LANE_COUNT)
        readable = policy.act(weights, observations[:, None])[:, 0]
        compiled = through_lanes(policy, weights, observations, self.task.action_size)
        np.testing.assert_allclose(compiled, readable, atol=2e-3)

    def test_observations_are_clipped_in_every_face(self) -> None:
        import torch

        policy = self.make(self.task)
        weights, observations = drawn(policy, self.task, LANE_COUNT)
        far, edge = observations.copy(), observations.copy()
        far[:, 0, 1], edge[:, 0, 1] = 1e6, CLIPPED_OBSERVATION
        np.testing.assert_array_equal(
            policy.act(weights, far[:, None]), policy.act(weights, edge[:, None])
        )
        size = self.task.action_size
        np.testing.assert_array_equal(
            through_lanes(policy, weights, far, size), through_lanes(policy, weights, edge, size)
        )
        if hasattr(policy, "relaxed_act"):
            relaxed = [
                policy.relaxed_act(torch.tensor(weights[0]), torch.tensor(rows)).numpy()
                for rows in (far, edge)
            ]
            np.testing.assert_array_equal(relaxed[0], relaxed[1])

    def test_an_observation_that_is_nan_never_becomes_an_action(self) -> None:
        policy = self.make(self.task)
        weights, observations = drawn(policy, self.task, LANE_COUNT)
        observations[2, 1, 0] = np.nan
        for actions in (
            policy.act(weights, observations[:, None])[:, 0],
            through_lanes(policy, weights, observations, self.task.action_size),
        ):
            assert np.isnan(actions[2, 1]).all()
            assert not np.isnan(np.delete(actions, 2, axis=0)).any()

    def test_hessians_are_finite_symmetric_and_vectorised(self) -> None:
        """Of a policy that can be differentiated; others leave `relaxed_act` out."""
        import torch

        policy = self.make(self.task)
        if not hasattr(policy, "relaxed_act"):
            return
        weights, _ = drawn(policy, self.task, 2)
        shape = (3, self.task.agents, self.task.observation_size)
        states = torch.tensor(np.random.default_rng(2).normal(size=shape))

        def total(vector: torch.Tensor) -> torch.Tensor:
            return policy.relaxed_act(vector, states).sum()

        hessians = torch.func.vmap(torch.func.hessian(total))(torch.tensor(weights))
        assert hessians.shape == (2, policy.space.size, policy.space.size)
        assert hessians.dtype == torch.float64
        assert torch.isfinite(hessians).all()
        assert hessians.abs().max() > 0
        torch.testing.assert_close(hessians, hessians.mT, rtol=1e-8, atol=1e-8)
        middle = torch.func.hessian(total)(torch.tensor(policy.space.centre))
        assert torch.isfinite(middle).all()

    def test_a_wrong_shape_is_named(self) -> None:
        policy, task = self.make(self.task), self.task
        size, shape = policy.space.size, (task.agents, task.observation_size)
        for weights, observations in (
            ((2, size + 1), (2, 1, *shape)),
            ((2, size), (3, 1, *shape)),
            ((2, size), (2, 1, task.agents + 1, task.observation_size)),
            ((size,), shape),
        ):
            refusal = ""
            try:
                policy.act(np.zeros(weights), np.zeros(observations))
            except ValueError as error:
                refusal = str(error)
            assert re.search(r"have shape .* expected \[", refusal), (weights, observations)


def drawn(policy: Policy, task: TaskSpec, rows: int, seed: int = 0) -> tuple[Float, Float]:
    """Return random weights [rows, D] of the policy's cube and observations [rows, n, do]."""
    rng = np.random.default_rng(seed)
    weights = policy.space.weights(rng.random((rows, policy.space.size)))
    return weights, rng.normal(size=(rows, task.agents, task.observation_size))


def through_lanes(policy: Policy, weights: Float, observations: Float, action_size: int) -> Float:
    """Return actions [rows, n, da] of the compiled face: row r of weights on observations r.

    Args:
        policy: with a compiled face.
        weights: [rows, D], a multiple of `LANE_COUNT` of them.
        observations: [rows, n, do].
        action_size: da.
    """
    blocks, agents = len(weights) // LANE_COUNT, observations.shape[1]

    def lanes(rows: Float) -> Float32:
        folded = rows.astype(np.float32).reshape(blocks, LANE_COUNT, *rows.shape[1:])
        return np.ascontiguousarray(np.moveaxis(folded, 1, -1))

    actions = np.full((blocks, agents, action_size, LANE_COUNT), np.nan, dtype=np.float32)
    policy.lanes().act(lanes(weights), lanes(observations), actions)
    return np.moveaxis(actions, -1, 1).reshape(-1, agents, action_size).astype(np.float64)
