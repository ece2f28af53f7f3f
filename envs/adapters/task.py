"""Environment of a user as a batched task: one environment object per parallel episode."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final

import numpy as np
from gymnasium.spaces import Space
from numpy.typing import ArrayLike, NDArray

from rolecast.core.counter_random import folded_seed
from rolecast.core.errors import ConfigError, RequestError, RunError, stepped_outside
from rolecast.core.patience import Patience, StepTimeoutError
from rolecast.core.types import Float, Seeds
from rolecast.envs.actions import checked_actions
from rolecast.envs.adapters.calls import failed_moment, guarded_call, require_agents
from rolecast.envs.adapters.encoding import TeamEncoding
from rolecast.envs.adapters.episode import Moment, known_horizon
from rolecast.envs.adapters.membership import membership, seeded_spaces
from rolecast.envs.adapters.pool import EnvironmentPool
from rolecast.envs.spec import FAILED_EPISODES, TaskSpec

TEAM_REWARDS: Final[Mapping[str, Callable[[Float], Float]]] = {
    "sum": lambda rewards: np.add.accumulate(rewards, axis=1)[:, -1],
    "mean": lambda rewards: np.add.accumulate(rewards, axis=1)[:, -1] / rewards.shape[1],
}
"""Team reward [B] from rewards [B, m] of the paid agents; agents that have left count 0.

Added agent by agent: the order of `sum` depends on B, and a return must not.
"""

ADAPTER_OPTIONS: Final = ("horizon", "team_reward", "team", "others")
"""Options of the adapter; all others go to the environment."""


class AdaptedTask:
    """Task of a user's environment, over B parallel episodes.

    Agents with different spaces are padded with zeros to the largest, and observe a one-hot id
    after their own numbers. Observations and rewards of an agent that has left are 0.
    """

    ends_itself: bool
    """Whether no horizon is known, so that each episode has to end by itself."""

    has_chosen_team: bool
    """Whether it was said whose reward counts."""

    patience: Patience | None = None
    """Ends a step that lasts too long; None: it lasts as long as it lasts."""

    _failed: Float
    """[B], 1 where an episode has failed since the last step."""

    def __init__(
        self,
        make: Callable[[], object],
        *,
        task_id: str,
        first: object = None,
        horizon: int | None = None,
        team_reward: str = "sum",
        team: object = None,
        others: str = "policy",
        summary: str = "",
    ) -> None:
        """Read the spaces of the first environment.

        Args:
            make: returns a new environment: a `gymnasium.Env` or a PettingZoo `ParallelEnv`.
            task_id: the whole id of the task.
            first: an environment that `make` has made already; None to make it here.
            horizon: most steps of an episode; None to take what the environment states, or else
                to wait until episodes end by themselves.
            team_reward: "sum" or "mean" over the agents whose reward counts.
            team: agents whose reward counts, see `membership`; None for all.
            others: who acts for the other agents: "policy", or "random".
            summary: one line for listings.

        Raises:
            RequestError: an option is wrong, or a space cannot be used.
        """
        if team_reward not in TEAM_REWARDS:
            raise ConfigError("team_reward", team_reward, "'sum' or 'mean'")
        self._id, self._join = task_id, TEAM_REWARDS[team_reward]
        self._teams = EnvironmentPool(make, make() if first is None else first, task_id)
        made = self._teams[0]
        self._members = membership(made.agents, team, others, task_id)
        self._encoding = TeamEncoding(made, self._members.acting, task_id)
        self._agents = self._encoding.agents
        self._paid = np.isin(self._agents, self._members.paid)
        steps = made.max_steps() if horizon is None else horizon
        self.ends_itself, self.has_chosen_team = steps is None, team is not None
        self._spec = TaskSpec(
            id=task_id,
            agents=len(self._agents),
            observation_size=self._encoding.observation_size,
            action_size=self._encoding.action_size,
            horizon=known_horizon(steps, task_id),
            discrete_actions=self._encoding.discrete_actions,
            summary=summary,
        )
        self._begin(np.zeros(0, dtype=np.uint64))

    @property
    def spec(self) -> TaskSpec:
        """Sizes of the task."""
        return self._spec

    @property
    def spaces(self) -> list[tuple[Space[Any], Space[Any]]]:
        """Observation and action space of each of the n agents, as in the environment."""
        return list(self._encoding.spaces)

    @property
    def agent_names(self) -> list[str]:
        """Names of the n agents, as in the environment."""
        return list(self._agents)

    @property
    def terminated(self) -> NDArray[np.bool_]:
        """Episodes [B] that ended by themselves, not by the horizon or another limit."""
        return self._terminated.copy()

    @property
    def present(self) -> NDArray[np.bool_]:
        """Whether each agent [B, n] acts in the next step; observations of others are 0."""
        return np.array([[agent in live for agent in self._agents] for live in self._live])

    @property
    def agent_rewards(self) -> Float:
        """Reward [B, n] of each agent in the last step; the team's where its own does not count."""
        return self._rewards.copy()

    @property
    def state_size(self) -> int:
        """Size S of the state; 0 where the environment states no space of it."""
        return self._teams[0].state_size

    def state(self) -> Float:
        """Return states [B, S]."""
        return self._states.copy()

    @property
    def frames_per_second(self) -> float | None:
        """Steps in a second of its own time, which is also how fast it wants to be shown."""
        return self._teams[0].frames_per_second

    @property
    def survival_bonus(self) -> Float | None:
        """Survival bonus [B] of the last step; NaN if it was not told, None if it never is."""
        return self._bonus.copy() if self._teams[0].tells_survival else None

    def reset(self, seeds: Seeds) -> Float:
        """Begin B episodes; return observations [B, n, do].

        The environment's seed is `folded_seed`, because many generators accept 31 bits only.

        Raises:
            RequestError: two episodes got the same environment object.
            RunError: an environment raised, or showed NaN.
        """
        self._begin(np.array(seeds, dtype=np.uint64))
        batch = self._seeds.size
        self._teams.grow(batch)
        return self._restart(range(batch))

    def restart(self, episodes: ArrayLike, seeds: ArrayLike) -> Float:
        """Begin episodes [K] of B anew with seeds [K]; return observations [B, n, do] of all.

        Raises:
            RequestError: no episode has begun.
            RunError: an environment raised, or showed NaN.
        """
        if not self._seeds.size:
            raise stepped_outside(self._id)
        rows = np.asarray(episodes, dtype=np.int64)
        self._seeds[rows] = np.asarray(seeds, dtype=np.uint64)
        return self._restart(rows.tolist())

    def step(self, actions: Float) -> tuple[Float, Float, NDArray[np.bool_], Mapping[str, Float]]:
        """Advance all episodes by one step; see `BatchedTask.step`.

        Raises:
            RequestError: no episode has begun, or actions have a wrong shape or are not finite.
            RunError: an environment raised, or showed NaN; names the seed and the step.
        """
        batch = self._seeds.size
        if not batch:
            raise stepped_outside(self._id)
        actions = checked_actions(self._spec, actions, batch, self._steps)
        rewards, self._bonus = np.zeros((batch, self._spec.agents)), np.zeros(batch)
        for episode in np.flatnonzero(self._running).tolist():
            self._steps[episode] += 1
            acting, around = self._live[episode], self._around[episode]
            chosen = self._encoding.actions(actions[episode], acting)
            for agent, space in self._random[episode].items():
                if agent in around:
                    chosen[agent] = space.sample()
            moment = self._ask(episode, self._teams[episode].step, chosen)
            rewards[episode] = [
                moment.rewards.get(agent, 0.0) if agent in acting and paid else 0.0
                for agent, paid in zip(self._agents, self._paid, strict=True)
            ]
            bonus = moment.survival_bonus
            self._bonus[episode] = np.nan if bonus is None else bonus
            last = acting or around
            self._terminated[episode] = not self._running[episode] and last <= moment.terminated
            if self._steps[episode] >= self._spec.horizon:
                self._end_by_force(episode)
        team_reward = self._join(rewards[:, self._paid])
        self._rewards = np.where(self._paid, rewards, team_reward[:, None])
        metrics = {FAILED_EPISODES: self._failed} if self._failed.any() else {}
        self._failed = np.zeros(batch)
        return self._observations.copy(), team_reward, ~self._running, metrics

    def frame(self, episode: int = 0) -> NDArray[np.uint8]:
        """Return the picture [H, W, 3] rendered by the environment of one episode.

        Raises:
            RequestError: it renders none; make it with `render_mode=rgb_array`.
        """
        picture = self._teams[episode].picture()
        if not isinstance(picture, np.ndarray):
            raise RequestError(
                f"task {self._id!r} drew {type(picture).__name__}; "
                "expected an array, from an environment made with render_mode=rgb_array"
            )
        return picture

    def close(self) -> None:
        """Close all environments, as `EnvironmentPool.close`; the task cannot be used after it."""
        self._teams.close()

    def _begin(self, seeds: Seeds) -> None:
        """Allocate B episodes, none of them live."""
        batch, spec = seeds.size, self._spec
        self._seeds = seeds
        self._steps = np.zeros(batch, dtype=np.int64)
        self._live: list[frozenset[str]] = [frozenset()] * batch
        self._random: list[dict[str, Space[Any]]] = [{}] * batch
        self._around: list[frozenset[str]] = [frozenset()] * batch
        self._ended: list[frozenset[str]] = [frozenset()] * batch
        self._running = np.zeros(batch, dtype=np.bool_)
        self._observations = np.zeros((batch, spec.agents, spec.observation_size))
        self._terminated = np.zeros(batch, dtype=np.bool_)
        self._rewards = np.zeros((batch, spec.agents))
        self._bonus, self._failed = np.zeros(batch), np.zeros(batch)
        self._states = np.zeros((batch, self._teams[0].state_size))

    def _restart(self, episodes: Iterable[int]) -> Float:
        """Begin some episodes with their seeds; return observations [B, n, do] of all."""
        for episode in episodes:
            self._steps[episode], self._terminated[episode], self._rewards[episode] = 0, False, 0.0
            self._live[episode] = self._ended[episode] = frozenset()
            seed = folded_seed(int(self._seeds[episode]))
            self._ask(episode, self._teams[episode].reset, seed)
            if self._members.random:
                acts = self._teams[episode].action_spaces
                at_random = {agent: acts[agent] for agent in self._members.random}
                self._random[episode] = seeded_spaces(at_random, seed)
        return self._observations.copy()

    def _ask(self, episode: int, call: Callable[[Any], Moment], argument: object) -> Moment:
        """Call an environment of a user, and see what it shows; an error names the episode.

        One that fails is replaced where that is forgiven, and its episode ends.
        """
        seed, where = int(self._seeds[episode]), partial(self._where, episode)
        patience, counted = self.patience, self._live[episode].intersection(self._members.paid)
        try:
            moment = guarded_call(
                call, argument, where, seed, patience, task_id=self._id, counted=counted
            )
            first = not self._steps[episode]
            require_agents(moment, self._members.everyone, where, first=first, task_id=self._id)
            self._see(episode, moment, counted)
        except RunError as error:
            if patience is None or not patience.forgives:
                raise
            patience.forgive(error, seed)
            self._teams.replace(episode, closes=not isinstance(error, StepTimeoutError))
            moment = failed_moment(self._agents)
            self._failed[episode], self._observations[episode] = 1.0, 0.0
            self._see(episode, moment, frozenset())
        return moment

    def _see(self, episode: int, moment: Moment, acted: frozenset[str]) -> None:
        """Write who is live and the observations; zeros for agents that are absent.

        It ends with the last agent, or as all of the policy's have ended; these may come later. At
        the end of an episode, agents with a last observation keep it.
        """
        live = moment.live.intersection(self._agents)
        self._live[episode], self._around[episode] = live, moment.live
        self._ended[episode] |= moment.ended
        over = not live and self._ended[episode].issuperset(self._agents)
        self._running[episode] = bool(moment.live) and not over
        rows = self._observations[episode]
        shown = live if self._running[episode] else moment.observations.keys()
        unpaid = (acted & live) - moment.rewards.keys()
        silent = sorted(unpaid | (live - moment.observations.keys()))
        if silent:
            raise RunError(
                f"task {self._id!r} left out {silent[0]!r} in {self._where(episode)}; "
                "expected an observation and a reward of every live agent"
            )
        self._encoding.write(rows, moment.observations, shown, self._where(episode))
        self._states[episode] = 0.0 if moment.state is None else moment.state
        if not (np.isfinite(rows).all() and np.isfinite(self._states[episode]).all()):
            raise RunError(
                f"task {self._id!r} showed NaN or infinity in {self._where(episode)}; "
                "expected finite observations"
            )

    def _end_by_force(self, episode: int) -> None:
        """End an episode at the horizon; one that should have ended by itself is an error."""
        if self.ends_itself and self._running[episode]:
            raise RunError(
                f"task {self._id!r} had not ended after {self._spec.horizon:,} steps of the "
                f"episode of seed {int(self._seeds[episode])}; expected episodes that end by "
                "themselves, or an option horizon=STEPS"
            )
        self._live[episode], self._running[episode] = frozenset(), False

    def _where(self, episode: int) -> str:
        steps = int(self._steps[episode])
        step = f"step {steps}" if steps else "the reset"
        return f"{step} of the episode of seed {int(self._seeds[episode])}"
