"""Task with reward settings, as a batched task and compiled."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rolecast.core.counter_random import episode_keys
from rolecast.core.errors import RequestError, RunError, stepped_outside
from rolecast.core.patience import Patience
from rolecast.core.types import Float, Float32, KernelCalls, Seeds
from rolecast.envs.ids import format_id, parse_id
from rolecast.envs.rewards.channel import RewardChannel
from rolecast.envs.rewards.settings import RewardSettings
from rolecast.envs.spec import (
    BatchedTask,
    CallsEnvironment,
    CompiledSimulator,
    LaneEpisodes,
    LaneTask,
    PaysSurvivalBonus,
    TaskSpec,
)

if TYPE_CHECKING:
    from rolecast.envs.rewards.channel_fused import LaneRewardChannel

RAW_REWARD: Final = "raw_reward"
"""Metric of the reward earned [B] in a step, for scores; absent without reward settings."""

RAW_RETURNS: Final = "raw_returns"
"""Attribute of running compiled episodes with the return earned [K, W]; absent likewise."""


def with_rewards(task: BatchedTask, settings: RewardSettings) -> BatchedTask:
    """Return a task with reward settings; the task itself where they change nothing.

    The result is compiled if the task is.

    Raises:
        RequestError: the task has reward settings already.
    """
    if not settings.change_something:
        return task
    if settings.survival < 1.0 and survival_bonus(task) is None:
        raise RequestError(
            f"task {task.spec.id!r} has no survival bonus; expected survival=1, or a task that "
            "pays one, such as hopper"
        )
    if isinstance(task, RewardTask):
        raise RequestError(
            f"task {task.spec.id!r} has reward settings already; expected all of them at once"
        )
    restarts = hasattr(task, "restart")
    if hasattr(task, "lanes"):
        return (CompiledRestartableRewardTask if restarts else CompiledRewardTask)(task, settings)
    return (RestartableRewardTask if restarts else RewardTask)(task, settings)


def survival_bonus(task: BatchedTask) -> Float | None:
    """Return the survival bonus [B] in the rewards of the last step; None: the task has none.

    NaN where the environment of an adapted task does not tell it. Compiled tasks have none.
    """
    if hasattr(task, "lanes") or not isinstance(task, PaysSurvivalBonus):
        return None
    return task.survival_bonus


def unwrapped(task: BatchedTask) -> BatchedTask:
    """Return the task without its reward settings; the task itself where it has none."""
    return task.unwrapped if isinstance(task, RewardTask) else task


def compiled_simulator(task: BatchedTask) -> CompiledSimulator | None:
    """Return the simulator of a task that plays whole episodes; None if it is none.

    A task derived from one, or that forwards to it, may step in a way that no twin knows.
    """
    environment = unwrapped(task)
    own = "play_on" in vars(type(environment))
    return environment if own and isinstance(environment, CompiledSimulator) else None


def set_threads(task: BatchedTask, threads: int | None) -> None:
    """Let a simulator that has threads of its own use so many; None: as many as it had."""
    simulator = compiled_simulator(task)
    if threads is not None and simulator is not None:
        simulator.threads = threads


def simulator_threads(task: BatchedTask) -> int:
    """Return how many threads play the episodes of a simulator; 1 of any other task."""
    simulator = compiled_simulator(task)
    return 1 if simulator is None else len(simulator.twins())


def earned_reward(task: BatchedTask, paid: Float, metrics: Mapping[str, Float]) -> Float:
    """Return the reward [B] that a step earned, given what it paid and told.

    A metric of a task without reward settings is its own, whatever its name.
    """
    return metrics[RAW_REWARD] if isinstance(task, RewardTask) else paid


def set_patience(task: BatchedTask, patience: Patience | None) -> None:
    """End steps of a user's environment that last too long; None: they last as they last."""
    environment = unwrapped(task)
    if isinstance(environment, CallsEnvironment):
        environment.patience = patience


@contextmanager
def under_patience(task: BatchedTask, patience: Patience) -> Iterator[None]:
    """Play a task for a while under a patience, which is closed then."""
    set_patience(task, patience)
    try:
        yield
    finally:
        set_patience(task, None)
        patience.close()


class RewardTask:
    """Task whose `step` pays by its settings, with the raw reward as a metric.

    Other attributes of the task, such as `frame`, are forwarded.
    """

    unwrapped: BatchedTask
    """Task without reward settings."""

    reward_settings: RewardSettings
    """Reward settings of this task."""

    def __init__(self, task: BatchedTask, settings: RewardSettings) -> None:
        self.unwrapped, self.reward_settings = task, settings
        name, options = parse_id(task.spec.id)
        self._spec = replace(task.spec, id=format_id(name, options | settings.options))
        self._channel: RewardChannel | None = None
        self._live = np.zeros(0, dtype=np.bool_)

    def __getattr__(self, name: str) -> Any:
        if name == "unwrapped":  # asked for before it is set, as a copy in the making is
            raise AttributeError(name)
        if name == "agent_rewards":  # as earned; a learner sees only what its team is paid
            raise AttributeError(name)
        return getattr(self.unwrapped, name)

    @property
    def spec(self) -> TaskSpec:
        """Sizes of the task, whose id has the settings."""
        return self._spec

    def reset(self, seeds: Seeds) -> Float:
        """Begin B episodes; return observations [B, n, do]."""
        observations = self.unwrapped.reset(seeds)
        keys = episode_keys(seeds)
        self._channel = RewardChannel(self.reward_settings, keys, self._spec.horizon)
        self._live = np.ones(len(observations), dtype=np.bool_)
        return observations

    def step(self, actions: Float) -> tuple[Float, Float, NDArray[np.bool_], Mapping[str, Float]]:
        """Advance all episodes by one step; see `BatchedTask.step`.

        Returns:
            The paid reward; the metrics have the earned one, `RAW_REWARD` [B].

        Raises:
            RequestError: no episode has begun, or actions have a wrong shape or are not finite.
            RunError: a survival bonus is not paid in full, and the environment does not tell it.
        """
        channel = self._running()
        observations, raw, done, metrics = self.unwrapped.step(actions)
        paid = channel.pay(raw - self._unpaid_bonus(), self._live, self._live & done)
        self._live = self._live & ~done
        return observations, paid, done, {**metrics, RAW_REWARD: raw}

    def paid_returns(self, seeds: Seeds, logs: Sequence[Float]) -> Float:
        """Return what L whole episodes were paid, of which each step's reward was kept.

        Args:
            seeds: [L].
            logs: of each episode [T, 2], its rewards, and the survival bonuses in them.
        """
        lengths: NDArray[np.int64] = np.array([len(log) for log in logs])
        steps = np.zeros((lengths.max(), 2, lengths.size))
        for episode, log in enumerate(logs):
            steps[: len(log), :, episode] = log
        channel = RewardChannel(self.reward_settings, episode_keys(seeds), self._spec.horizon)
        unpaid, total = 1.0 - self.reward_settings.survival, np.zeros(lengths.size)
        with np.errstate(over="ignore"):  # what is not finite is refused by its candidate
            for step, (raw, bonus) in enumerate(steps):
                due = raw - (unpaid * bonus if unpaid else 0.0)
                total += channel.pay(due, lengths > step, np.equal(lengths, step + 1))
        return total

    def close(self) -> None:
        """Release the resources of the task."""
        self._channel = None
        self.unwrapped.close()

    def _unpaid_bonus(self) -> Float | float:
        """Return the part [B] of the last step's survival bonus that is not paid."""
        unpaid = 1.0 - self.reward_settings.survival
        if not unpaid:
            return 0.0
        bonus: Float = self.unwrapped.survival_bonus  # type: ignore[attr-defined]  # looked for
        if not np.isfinite(bonus[self._live]).all():
            raise RunError(
                f"task {self._spec.id!r} does not tell its survival bonus; expected a number "
                "'reward_survive' in the info of each step, or survival=1"
            )
        return unpaid * np.where(self._live, bonus, 0.0)

    def _running(self) -> RewardChannel:
        if self._channel is None:
            raise stepped_outside(self.spec.id)
        return self._channel


class RestartableRewardTask(RewardTask):
    """Task with reward settings and `restart` of some episodes."""

    def restart(self, episodes: ArrayLike, seeds: ArrayLike) -> Float:
        """Begin episodes [K] of B with seeds [K]; return observations [B, n, do] of all.

        Raises:
            RequestError: no episode has begun.
        """
        channel = self._running()
        below: Any = self.unwrapped
        observations: Float = below.restart(episodes, seeds)
        rows = np.asarray(episodes, dtype=np.int64)
        channel.restart(rows, episode_keys(np.asarray(seeds, dtype=np.uint64)))
        self._live[rows] = True
        return observations


class CompiledRewardTask(RewardTask):
    """Task with reward settings and a compiled form."""

    def lanes(self) -> "RewardLanes":
        """Return the compiled form."""
        below: LaneTask = self.unwrapped.lanes()  # type: ignore[attr-defined]  # looked for
        return RewardLanes(below, self.reward_settings, self._spec.horizon)


class CompiledRestartableRewardTask(CompiledRewardTask, RestartableRewardTask):
    """Task with reward settings, a compiled form, and `restart` of some episodes."""


class RewardLanes:
    """Compiled form of a task with reward settings, a `LaneTask`."""

    def __init__(self, lanes: LaneTask, settings: RewardSettings, horizon: int) -> None:
        self._lanes, self._settings, self._horizon = lanes, settings, horizon

    def start(self, seeds: Seeds) -> "RewardEpisodes":
        """Begin one episode for each of the L seeds."""
        from rolecast.envs.rewards.channel_fused import LaneRewardChannel

        channel = LaneRewardChannel(self._settings, seeds, self._horizon)
        return RewardEpisodes(self._lanes.start(seeds), channel)


class RewardEpisodes:
    """Running compiled episodes, a `LaneEpisodes` with earned returns in addition."""

    observations: Float32
    returns: Float32
    rewards: Float32

    raw_returns: Float32
    """Team reward [K, W] earned so far, for scores."""

    def __init__(self, episodes: LaneEpisodes, channel: "LaneRewardChannel") -> None:
        self.unwrapped, self._channel = episodes, channel
        self.observations, self.raw_returns = episodes.observations, episodes.returns
        self.rewards, self.returns = channel.paid, channel.returns

    def advance(self, actions: Float32) -> None:
        """Take one step with actions [K, n, da, W] in [-1, 1]."""
        self.unwrapped.advance(actions)
        self._channel.pay(self.unwrapped.rewards)

    def payment(self) -> KernelCalls:
        """Return what is called in each step after the task's own kernels."""
        return self._channel.calls(self.unwrapped.rewards)
