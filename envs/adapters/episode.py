"""Environment of a user, of Gymnasium or PettingZoo, as a team of named agents."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv, ParallelEnv

from rolecast.core.errors import ConfigError, RequestError, first_line

SINGLE_AGENT_NAME = "agent"
"""Agent name in a Gymnasium environment."""

MOST_STEPS_OF_AN_EPISODE: Final = 10_000
"""Steps after which an episode without a horizon has to have ended by itself."""

LARGEST_STATE: Final = 4096
"""Numbers of a state; larger ones, such as pictures, are not read."""

SURVIVAL_INFO: Final = "reward_survive"
"""Survival bonus of a step in the infos of Gymnasium's robots, version 5."""


@dataclass(frozen=True, kw_only=True)
class Moment:
    """Results of a reset or step of an environment, by agent."""

    observations: Mapping[str, Any]
    """Observations of the live agents, and of those that have just left."""

    rewards: Mapping[str, float]
    """Rewards of this step."""

    live: frozenset[str]
    """Agents that act in the next step; none when the episode has ended."""

    terminated: frozenset[str] = frozenset()
    """Agents that ended by themselves in this step, not by a limit on the episode's length."""

    ended: frozenset[str] = frozenset()
    """Agents that ended in this step, by themselves or by a limit."""

    state: NDArray[Any] | None = None
    """State of the world, flat, where the environment states its space."""

    survival_bonus: float | None = None
    """Bonus for a healthy body in the rewards of this step, where the environment tells it."""


class TeamEnvironment(Protocol):
    """Environment of a user, with one interface for all libraries."""

    agents: list[str]
    observation_spaces: dict[str, spaces.Space[Any]]
    action_spaces: dict[str, spaces.Space[Any]]

    state_size: int
    """Size of the state; 0 where the environment has none."""

    tells_survival: bool
    """Whether a step may tell its survival bonus."""

    frames_per_second: float | None
    """Steps in a second of its own time, as its metadata say; None where they do not."""

    def reset(self, seed: int) -> Moment:
        """Begin an episode."""

    def step(self, actions: Mapping[str, Any]) -> Moment:
        """Advance by one step with the actions of the live agents."""

    def max_steps(self) -> int | None:
        """Return the maximum length of an episode, if the environment states it."""

    def picture(self) -> Any:
        """Return what the environment renders."""

    def close(self) -> None:
        """Release the environment."""


class GymnasiumTeam:
    """A `gymnasium.Env` as a team of one."""

    tells_survival = True
    state_size = 0

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        self._env = env
        self.agents = [SINGLE_AGENT_NAME]
        self.frames_per_second = _frames_per_second(env)
        self.observation_spaces = {SINGLE_AGENT_NAME: env.observation_space}
        self.action_spaces = {SINGLE_AGENT_NAME: env.action_space}

    def reset(self, seed: int) -> Moment:
        """Begin an episode."""
        observation, _ = self._env.reset(seed=seed)
        return Moment(
            observations={SINGLE_AGENT_NAME: observation},
            rewards={},
            live=frozenset([SINGLE_AGENT_NAME]),
        )

    def step(self, actions: Mapping[str, Any]) -> Moment:
        """Advance by one step."""
        observation, reward, terminated, truncated, info = self._env.step(
            actions[SINGLE_AGENT_NAME]
        )
        bonus = (info or {}).get(SURVIVAL_INFO)
        return Moment(
            observations={SINGLE_AGENT_NAME: observation},
            rewards={SINGLE_AGENT_NAME: _number(reward)},
            live=frozenset() if terminated or truncated else frozenset([SINGLE_AGENT_NAME]),
            ended=frozenset([SINGLE_AGENT_NAME]) if terminated or truncated else frozenset(),
            terminated=frozenset([SINGLE_AGENT_NAME]) if terminated else frozenset(),
            survival_bonus=None if bonus is None else _number(bonus),
        )

    def max_steps(self) -> int | None:
        """Return the limit of the environment's spec."""
        return self._env.spec.max_episode_steps if self._env.spec else None

    def picture(self) -> Any:
        """Return what the environment renders."""
        return self._env.render()

    def close(self) -> None:
        """Release the environment."""
        self._env.close()  # type: ignore[no-untyped-call]  # Gymnasium leaves it untyped


class ParallelTeam:
    """A PettingZoo `ParallelEnv` as a team; agents in the order of `possible_agents`."""

    tells_survival = False

    def __init__(self, env: Any) -> None:
        self._env = env
        self.agents = list(env.possible_agents)
        self.frames_per_second = _frames_per_second(env)
        self.observation_spaces = {agent: env.observation_space(agent) for agent in self.agents}
        self.action_spaces = {agent: env.action_space(agent) for agent in self.agents}
        space = getattr(env, "state_space", None)
        size = int(np.prod(space.shape)) if isinstance(space, spaces.Box) else 0
        self.state_size = size if size <= LARGEST_STATE else 0

    def reset(self, seed: int) -> Moment:
        """Begin an episode."""
        observations, _ = self._env.reset(seed=seed)
        return Moment(
            observations=observations,
            rewards={},
            live=frozenset(self._env.agents),
            state=self._state(),
        )

    def step(self, actions: Mapping[str, Any]) -> Moment:
        """Advance by one step."""
        observations, rewards, terminated, truncated, _ = self._env.step(dict(actions))
        gone = {agent for ends in (terminated, truncated) for agent, end in ends.items() if end}
        live = frozenset(self._env.agents) - gone
        return Moment(
            observations=observations,
            rewards={agent: _number(reward) for agent, reward in rewards.items()},
            live=live,
            ended=frozenset(gone),
            state=self._state(),
            terminated=frozenset(agent for agent, end in terminated.items() if end),
        )

    def _state(self) -> NDArray[Any] | None:
        return np.asarray(self._env.state()).ravel() if self.state_size else None

    def max_steps(self) -> int | None:
        """Return `max_cycles` of the environment, or of the turn-based one inside it.

        Infinity is no limit.
        """
        for holder in (self._env, getattr(self._env, "aec_env", self._env)):
            steps = getattr(getattr(holder, "unwrapped", holder), "max_cycles", None)
            if isinstance(steps, int | float | np.integer) and math.isfinite(steps):
                return int(steps)
        return None

    def picture(self) -> Any:
        """Return what the environment renders."""
        return self._env.render()

    def close(self) -> None:
        """Release the environment."""
        self._env.close()


def _number(reward: Any) -> float:
    """Return a reward as a float, whether it is a number or an array of one."""
    return float(np.asarray(reward).item())


def _frames_per_second(env: Any) -> float | None:
    """Return `render_fps` of the metadata of an environment, where it is a speed."""
    told = getattr(env, "metadata", None)
    frames = told.get("render_fps") if isinstance(told, Mapping) else None
    if not isinstance(frames, int | float) or isinstance(frames, bool):
        return None
    return frames if 0 < frames < math.inf else None


def as_team(env: object, task_id: str) -> TeamEnvironment:
    """Return an environment as a team.

    Raises:
        RequestError: it is neither a `gymnasium.Env` nor a `ParallelEnv`, or has no spaces.
    """
    if isinstance(env, AECEnv):
        raise RequestError(
            f"task {task_id!r} made an AECEnv, whose agents act in turns; expected "
            "the module's parallel_env(), or pettingzoo.utils.aec_to_parallel(env)"
        )
    if not (isinstance(env, gymnasium.Env | ParallelEnv) or hasattr(env, "possible_agents")):
        raise RequestError(
            f"task {task_id!r} made a {type(env).__name__}; "
            "expected a gymnasium.Env, a pettingzoo ParallelEnv or a batched task"
        )
    try:
        team: TeamEnvironment = (
            GymnasiumTeam(env) if isinstance(env, gymnasium.Env) else ParallelTeam(env)
        )
    except Exception as error:
        what = f"{type(error).__name__} ({first_line(error)})"
        raise RequestError(f"task {task_id!r} has spaces that cannot be read: {what}") from error
    _require_spaces(team, task_id)
    return team


def _require_spaces(team: TeamEnvironment, task_id: str) -> None:
    """Refuse a team with an agent whose space is none.

    Raises:
        ConfigError: names the agent.
    """
    for kind, found in (("observation", team.observation_spaces), ("action", team.action_spaces)):
        for agent, space in found.items():
            if not isinstance(space, spaces.Space):
                field = f"{kind} space of {agent!r} of task {task_id!r}"
                raise ConfigError(field, space, "a gymnasium.spaces.Space, such as a Box")


def known_horizon(steps: object, task_id: str) -> int:
    """Return the horizon; without one, the steps after which an episode has to have ended."""
    if steps is None:
        return MOST_STEPS_OF_AN_EPISODE
    if type(steps) is not int or steps < 1:
        expected = "an integer >= 1, from the environment or an option horizon=STEPS"
        raise ConfigError(f"horizon of task {task_id!r}", steps, expected)
    return steps
