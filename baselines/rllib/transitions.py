"""Joint transitions as arrays: of runners, replay buffer and learners."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Final

import numpy as np

from rolecast.core.types import Float32
from rolecast.envs.spec import TaskSpec


@dataclass(frozen=True, kw_only=True)
class Transitions:
    """N joint transitions, in the order in which they were sampled.

    RLlib's evaluation counts steps by asking for them, as it does of its episodes.
    """

    observations: Float32
    """[N, n, do]."""

    actions: Float32
    """[N, n, da] in [-1, 1]."""

    rewards: Float32
    """[N, n], as paid to each agent; the team's reward to all where agents have none of their own.

    What a delay or sparse payment withholds is not in it: learners see what is paid alone.
    """

    next_observations: Float32
    """[N, n, do], the real ones, also where an episode ended and the next one began."""

    states: Float32
    """[N, S], of the world before the step; S is 0 where the task has none or nobody reads it."""

    next_states: Float32
    """[N, S], after it."""

    terminated: Float32
    """[N], 1 where nothing follows. It is 0 where a limit cut the episode off: the value of what
    would have followed then counts."""

    def __len__(self) -> int:
        return len(self.rewards)

    def env_steps(self) -> int:
        """Return N."""
        return len(self)

    def agent_steps(self) -> int:
        """Return N n."""
        return int(self.rewards.size)


COLUMN_NAMES: Final = tuple(column.name for column in fields(Transitions))
"""Names of the arrays."""


def transition_size(task: TaskSpec, state_size: int) -> int:
    """Return how many numbers one joint transition has.

    Args:
        task: whose transition it is.
        state_size: S, 0 where transitions have no states.
    """
    return task.agents * (2 * task.observation_size + task.action_size + 1) + 2 * state_size + 1


def joined(parts: Sequence[Transitions]) -> Transitions:
    """Return all transitions of some, one or more, one after the other."""
    if len(parts) == 1:
        return parts[0]
    return Transitions(
        **{name: np.concatenate([getattr(part, name) for part in parts]) for name in COLUMN_NAMES}
    )


@dataclass(frozen=True, kw_only=True)
class EndedEpisode:
    """One episode that has ended."""

    earned: float
    """Team return as earned, by which policies are scored."""

    paid: float
    """Team return as paid to the learner."""

    steps: int
    """Its length."""


@dataclass(frozen=True, kw_only=True)
class StepsFragment:
    """What a runner brings back from one round, steps in their order."""

    samples: dict[str, Float32]
    """Arrays [T, B, ...], named as the fields of `rolecast.baselines.ppo.learner.Steps`."""

    ended: list[EndedEpisode]
    """Episodes that ended on the way."""

    @property
    def env_steps(self) -> int:
        """Joint steps of running episodes."""
        return int(self.samples["live"].sum())


@dataclass(frozen=True, kw_only=True)
class Fragment:
    """What a runner brings back from one round."""

    transitions: Transitions

    ended: list[EndedEpisode] = field(default_factory=list)
    """Episodes that ended on the way."""
