"""Interfaces of tasks: sizes, the batched task, and its optional compiled form."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from rolecast.core.errors import ConfigError
from rolecast.core.patience import Patience
from rolecast.core.types import CompiledKernel, Float, Float32, KernelCalls, Seeds
from rolecast.envs.symmetry import Symmetry


@dataclass(frozen=True, kw_only=True)
class TaskSpec:
    """Sizes and properties of a task, as needed by a policy."""

    id: str
    """Complete id with options, from which `make_task` builds the task again."""

    agents: int
    """Number n of agents."""

    observation_size: int
    """Observation size do of one agent."""

    action_size: int
    """Action size da of one agent; actions are in [-1, 1]."""

    horizon: int
    """Maximum steps of an episode."""

    summary: str = ""
    """One line for `rolecast tasks`."""

    source: str = ""
    """Source of the task's definition."""

    homogeneous_agents: bool = False
    """Whether all agents are equal, so that a role net has no use."""

    role_net_in_table3: bool = True
    """Whether the paper's Table 3 counts a role net for this task."""

    symmetries: tuple[Symmetry, ...] = ()
    """Generators of the symmetries that the task declares, none by default."""

    discrete_actions: bool = False
    """Whether only the order or the signs of an action's numbers count: they make choices."""

    def __post_init__(self) -> None:
        for symmetry in self.symmetries:
            met = len(symmetry.observation), len(symmetry.action)
            if met != (self.observation_size, self.action_size):
                expected = f"{self.observation_size} observed and {self.action_size} acted"
                raise ConfigError(f"symmetry {symmetry.name!r} of task {self.id!r}", met, expected)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "TaskSpec":
        """Return the spec of a mapping that `dataclasses.asdict` gave; older ones have less.

        Raises:
            TypeError: a field is unknown or missing.
            ConfigError: a size is no integer from 1 on.
        """
        for name in ("agents", "observation_size", "action_size", "horizon"):
            if name in values and (type(values[name]) is not int or values[name] < 1):
                raise ConfigError(f"{name} of the task", values[name], "an integer >= 1")
        declared = tuple(map(Symmetry.from_json, values.get("symmetries", ())))
        return cls(**{**values, "symmetries": declared})


class BatchedTask(Protocol):
    """Task over B parallel episodes. Not reentrant: one batch of episodes at a time.

    An episode depends on its seed and its actions alone, never on its neighbours in the batch.
    After its end, actions are ignored and rewards are 0.

    Optional members for learners:
    - `restart(episodes [K], seeds [K])` restarts some episodes; returns observations [B, n, do].
    - `terminated` [B]: whether a done episode ended by itself, not by a limit on its length.
    - `agent_rewards` [B, n]: the reward of each agent in the last step.
    - `agent_names`: names of the n agents.
    - `present` [B, n]: whether an agent acts in the next step; the rows of others say nothing.
    - `state_size` and `state()` [B, S]: what is known of the whole world, for centralised critics;
      of size 0 where the task tells no more than its observations.

    Optional members for films: `frame(episode)`, a picture [H, W, 3] of its current state, and
    `frames_per_second`, the steps in a second of the task's own time.
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
        """Release the resources of the task."""


@runtime_checkable
class PaysSurvivalBonus(Protocol):
    """Task whose rewards may contain a bonus for a healthy body (`RewardSettings.survival`)."""

    @property
    def survival_bonus(self) -> Float | None:
        """Bonus [B] in the team rewards of the last step; None where the task pays none.

        0 after the end of an episode. Known, as None or not, before the first reset.
        """


@runtime_checkable
class KnowsPresence(Protocol):
    """Task whose agents may come and leave."""

    @property
    def present(self) -> NDArray[np.bool_]:
        """Whether each agent [B, n] acts in the next step; observations of others are 0."""


@runtime_checkable
class CompiledSimulator(Protocol):
    """Task that plays whole episodes of a compiled policy in compiled code, on threads."""

    threads: int | None
    """Threads that play its episodes. None: as many as it likes."""

    def twins(self) -> "Sequence[CompiledSimulator]":
        """Return a task like this one for each of its threads, which closes them.

        Twins may play side by side.
        """

    def reset(self, seeds: Seeds) -> Float:
        """Begin B episodes; return observations [B, n, do]."""

    def play_on(
        self,
        policy: CompiledKernel,
        lanes: tuple[Float32, Float32],
        bound: float,
        sums: Float,
        log: Float,
        totals: Float,
    ) -> tuple[int, bool, Mapping[str, float]]:
        """Play the only running episode on, to its end or as many steps as a log has.

        Args:
            policy: kernel of a policy, which acts once.
            lanes: its observations [1, n, do, W] and actions [1, n, da, W]; the first lane plays.
            bound: to which observations are clipped before they are summed.
            sums: [2, n, do], to which sums of observations acted upon and of their squares are
                added; or [0, n, do].
            log: [T, 2], rewards of the steps, and survival bonuses in them, written.
            totals: [2], zeros at the start of an episode; the rewards are added to the first.
        Returns:
            Steps taken, whether the episode has ended, and metrics summed over all its steps.
        Raises:
            RequestError: other than one episode is running, or an action is not finite.
            RunError: the simulator diverged; names the seed and the step.
        """


OBSERVATION_CLIP: Final = 10.0
"""Bound to which policies clip observations, unless they are told another."""

FAILED_EPISODES: Final = "failed_episodes"
"""Metric [B], 1 in the step in which an episode ended as its environment hung, raised or showed
NaN, where that is forgiven; absent from steps without one."""


@runtime_checkable
class CallsEnvironment(Protocol):
    """Task whose steps are a user's code, which may hang."""

    patience: Patience | None
    """Ends a step that lasts too long; None: it lasts as long as it lasts."""


@runtime_checkable
class DrawsEpisodes(Protocol):
    """Task with pictures of a moment that show its past: trails, a caption."""

    def snapshot(self, episode: int) -> Float:
        """Return a copy of the current state of an episode, as needed for a picture."""

    def draw_moment(
        self, snapshots: Float, rewards: Float, step: int, title: str
    ) -> NDArray[np.uint8]:
        """Return a picture [H, W, 3] of an episode after `step` steps.

        Args:
            snapshots: [T + 1, ...], its states in order.
            rewards: [T], rewards of its steps.
            step: 0 to T.
            title: first line of the caption.
        """


@dataclass(frozen=True, kw_only=True)
class BrowserWorld:
    """Physics of a task for a page: numbers of a C template, and what pictures show."""

    name: str
    """Name of the template in `platform/play/templates`."""

    values: Mapping[str, float | Sequence[float]]
    """Variables of the template; floats become float32, integers and switches stay so."""

    scene: Mapping[str, Any]
    """Kind of picture, counts and radii, as JSON for the page's script."""


@runtime_checkable
class HasBrowserWorld(Protocol):
    """Task whose physics a page can carry, as C from a template."""

    @property
    def spec(self) -> TaskSpec:
        """Sizes of the task."""

    def browser_world(self) -> BrowserWorld:
        """Return its world, which pays as earned."""


class LaneEpisodes(Protocol):
    """Running episodes of a compiled task, in K blocks of W lanes; the last block is padded."""

    observations: Float32
    """Current observations [K, n, do, W]."""

    returns: Float32
    """Team return [K, W] so far."""

    rewards: Float32
    """Team reward [K, W] of the last step."""

    def advance(self, actions: Float32) -> None:
        """Take one step with actions [K, n, da, W] in [-1, 1]; update all three arrays in place."""


@runtime_checkable
class EpisodeKernels(Protocol):
    """Running compiled episodes whose kernels can be called without `advance`."""

    def calls(self, actions: Any) -> KernelCalls:
        """Return what `LaneEpisodes.advance` calls in each step (see `STEP_ARGUMENT`)."""


@runtime_checkable
class SizedEpisodeKernels(EpisodeKernels, Protocol):
    """Running compiled episodes whose kernels CUDA can run, too, which has few rows for each."""

    def workspace_rows(self) -> int:
        """Return the most rows that a kernel has for what it computes in between."""


class LaneTask(Protocol):
    """Compiled form of a task whose episodes all last `spec.horizon` steps.

    A task with a compiled form has a method `lanes() -> LaneTask`.
    """

    def start(self, seeds: Seeds) -> LaneEpisodes:
        """Begin one episode for each of the L seeds, in K = ceil(L / W) blocks."""
