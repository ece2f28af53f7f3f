"""What a task is: its sizes, the batched contract, and the compiled face that some tasks have."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from rolecast.core.types import Float, Float32, Seeds


@dataclass(frozen=True, kw_only=True)
class TaskSpec:
    """What a policy must know of a task."""

    id: str
    """The whole id, options included, from which `make_task` builds it again."""

    agents: int
    """n."""

    observation_size: int
    """do, numbers that one agent observes."""

    action_size: int
    """da, numbers in [-1, 1] that one agent acts with."""

    horizon: int
    """Most steps that an episode can have."""

    summary: str = ""
    """One line for `rolecast tasks`."""

    source: str = ""
    """Where the task's definition comes from."""

    homogeneous_agents: bool = False
    """Whether all agents are alike, so that a net that assigns roles has nothing to tell apart."""

    role_net_in_table3: bool = True
    """Whether the paper's Table 3 counts a role net for this task."""


class BatchedTask(Protocol):
    """A task over B parallel episodes. Not reentrant: one batch of episodes at a time.

    An episode depends on its seed and its actions alone, never on its neighbours in the batch.
    Of an episode that has ended, actions are ignored and rewards are 0.

    A task may also have what learners look for: `restart(episodes [K], seeds [K])`, which begins
    some episodes anew and returns observations [B, n, do] of all; `terminated` [B], of episodes
    that are done, whether they ended by themselves and not by a limit on their length; and
    `agent_rewards` [B, n], what each agent was paid in the last step.
    """

    @property
    def spec(self) -> TaskSpec:
        """Sizes of the task."""

    def reset(self, seeds: Seeds) -> Float:
        """Begin B episodes; return observations [B, n, do]."""

    def step(self, actions: Float) -> tuple[Float, Float, NDArray[np.bool_], Mapping[str, Float]]:
        """Advance all episodes by one step.

        Args:
            actions: [B, n, da] in [-1, 1]; values outside are clipped.
        Returns:
            observations [B, n, do], team_reward [B] of this step, done [B] (from this step on),
            metrics: name to [B].
        """

    def close(self) -> None:
        """Release what the task holds."""


@runtime_checkable
class DrawsEpisodes(Protocol):
    """A task that draws a moment of an episode with what went before it: trails, a caption."""

    def snapshot(self, episode: int) -> Float:
        """Return a copy of what a picture needs of an episode as it stands."""

    def draw_moment(
        self, snapshots: Float, rewards: Float, step: int, title: str
    ) -> NDArray[np.uint8]:
        """Return a picture [H, W, 3] of an episode after `step` steps.

        Args:
            snapshots: [T + 1, ...], of its states in order.
            rewards: [T], of its steps.
            step: 0 to T.
            title: first line of the caption.
        """


class LaneEpisodes(Protocol):
    """Running episodes of a compiled task, in K blocks of W lanes; the last block is padded."""

    observations: Float32
    """[K, n, do, W], what the agents observe now."""

    returns: Float32
    """[K, W], team reward so far."""

    rewards: Float32
    """[K, W], team reward of the last step."""

    def advance(self, actions: Float32) -> None:
        """Take one step with actions [K, n, da, W] in [-1, 1]; update all three arrays in place."""


class LaneTask(Protocol):
    """The compiled face of a task whose episodes all last `spec.horizon` steps.

    A task that has one offers it as a method `lanes() -> LaneTask`.
    """

    def start(self, seeds: Seeds) -> LaneEpisodes:
        """Begin one episode for each of the L seeds, in K = ceil(L / W) blocks."""
