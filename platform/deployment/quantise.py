"""Rounds a found policy to integers by the observations that it meets, and measures the loss."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rolecast.core.seeds import Purpose, episode_seeds
from rolecast.core.types import Float32
from rolecast.envs.trust import make_stored_task
from rolecast.platform.deployment.loop import ExportedPolicy
from rolecast.platform.rollout.artefact_folder import require_fit
from rolecast.platform.rollout.held_out import DEVELOPMENT_SET, HeldOut, held_out_seeds
from rolecast.platform.rollout.rollout import rollout
from rolecast.policies.artefact import LoadedPolicy
from rolecast.policies.export.fixed import (
    LARGEST_SHORT,
    FixedPolicy,
    Integers,
    fixed_policies,
)
from rolecast.policies.export.reference import reference
from rolecast.policies.hom.policy import HomPolicy
from rolecast.policies.mlp import MlpPolicy

RECORDED_OBSERVATIONS: Final = 1024
_RECORDED_EPISODES: Final = 64


@dataclass(frozen=True, kw_only=True)
class ReturnLoss:
    """What integers cost."""

    float32_return: float
    """Mean return of the float32 reference over held-out episodes."""

    integer_return: float
    """That of the integers, on the same episodes."""

    episodes: int
    """Episodes of each."""

    @property
    def share(self) -> float:
        """Loss as a share of the magnitude of the float32 return; below 0 is a gain."""
        lost = self.float32_return - self.integer_return
        return lost / max(abs(self.float32_return), 1e-9)

    @property
    def sentence(self) -> str:
        """The loss in words."""
        return (
            f"{self.share:.2%} of the mean return ({self.float32_return:.2f} to "
            f"{self.integer_return:.2f} over {self.episodes} held-out episodes)"
        )


def quantised(trained: LoadedPolicy, weight_bits: int, *, trust: bool = False) -> FixedPolicy:
    """Return a policy in integers whose actions are nearest to those of float32.

    The binary places of observations and messages are chosen on observations that the policy meets
    in episodes of its task: more places are finer, and leave less room for large messages.

    Args:
        trained: a policy with an exporter.
        weight_bits: 8 or 16.
        trust: make the task, though its id may run any code.
    Raises:
        RequestError: the task does not exist here or is not trusted, or the policy has too many
            agents.
        ConfigError: the policy does not fit integers.
    """
    policy = trained.policy
    if not isinstance(policy, HomPolicy | MlpPolicy):
        raise TypeError(f"policy {policy.name} has no form in integers")
    act = reference(policy, trained.weights)
    with closing(make_stored_task(trained.task_id, trust=trust)) as task:
        require_fit(trained, task)
        seeds = episode_seeds(0, Purpose.SEARCH, 0, _RECORDED_EPISODES)
        met = rollout(
            task, policy, trained.weights[None], seeds, record=RECORDED_OBSERVATIONS
        ).observations
    assert met is not None
    observations = met.astype(np.float32)
    wanted = act(observations)
    offered = fixed_policies(policy, trained.weights, weight_bits)
    errors = [float(np.abs(float_actions(each)(observations) - wanted).mean()) for each in offered]
    return offered[int(np.argmin(errors))]


def float_actions(
    fixed: FixedPolicy, act: Callable[[Integers], NDArray[Any]] | None = None
) -> Callable[[Float32], Float32]:
    """Return the function of a policy in integers, for observations and actions in float32.

    Args:
        fixed: the policy.
        act: another function of its integers, as of compiled code; None is its own.
    """
    in_integers = fixed.act if act is None else act

    def in_floats(observations: Float32) -> Float32:
        actions = in_integers(fixed.rounded_observations(observations.astype(np.float64)))
        return np.asarray(actions / LARGEST_SHORT, dtype=np.float32)

    return in_floats


def return_loss(trained: LoadedPolicy, fixed: FixedPolicy, *, trust: bool = False) -> ReturnLoss:
    """Return what a policy in integers earns beside float32, on the same held-out episodes."""
    held_out = HeldOut()
    seeds = held_out_seeds(DEVELOPMENT_SET, held_out.seed, held_out.episodes)
    functions = (reference(trained.policy, trained.weights), float_actions(fixed))
    with closing(make_stored_task(trained.task_id, trust=trust)) as task:
        means = [
            float(
                rollout(
                    task, ExportedPolicy(trained.policy, function), trained.weights[None], seeds
                ).returns.mean()
            )
            for function in functions
        ]
    return ReturnLoss(float32_return=means[0], integer_return=means[1], episodes=held_out.episodes)
