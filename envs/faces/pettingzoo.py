"""PettingZoo interface of every task: one episode of the batched task, agent by agent.

It holds a batch of one, so that seeds and actions give the trajectories of the batched task.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from rolecast.core.errors import ConfigError, stepped_outside
from rolecast.core.types import Float
from rolecast.envs.faces.one_episode import (
    check_render_mode,
    checked_action,
    checked_seed,
    cut_short,
    next_seed,
    picture,
    render_metadata,
)
from rolecast.envs.spec import BatchedTask

Step = tuple[
    dict[str, Float],
    dict[str, float],
    dict[str, bool],
    dict[str, bool],
    dict[str, dict[str, Any]],
]


class TaskEnv(ParallelEnv[str, Float, Float]):  # type: ignore[misc]  # PettingZoo has no types
    """Task as a cooperative `ParallelEnv`: every agent is paid the whole team reward.

    Observations and actions are Boxes of float64, actions in [-1, 1]. An episode that is
    cut by a limit on its length, such as the horizon, is truncated; one that ends by itself is
    terminated. All agents end together; those of a user's environment keep their names. The infos
    of a step have the metrics of the task; reward settings add `raw_reward`.
    """

    def __init__(self, task: BatchedTask, render_mode: str | None = None) -> None:
        """Wrap a task, of which this environment is then the owner.

        Args:
            task: from `make_task`.
            render_mode: None, or "rgb_array".

        Raises:
            RequestError: the mode does not exist, or this task cannot be drawn.
        """
        check_render_mode(task, render_mode)
        self.task = task
        self.render_mode = render_mode
        spec = task.spec
        self.metadata = {"name": spec.id, **render_metadata(task)}
        numbered = [f"agent_{index}" for index in range(spec.agents)]
        self.possible_agents: list[str] = getattr(task, "agent_names", numbered)
        self.agents: list[str] = []
        self.observation_spaces = {
            agent: Box(-np.inf, np.inf, (spec.observation_size,), np.float64)
            for agent in self.possible_agents
        }
        self.action_spaces = {
            agent: Box(-1.0, 1.0, (spec.action_size,), np.float64) for agent in self.possible_agents
        }
        self._next_seeds = np.random.default_rng(0)
        self._observations = np.zeros((spec.agents, spec.observation_size))
        self._steps = 0

    def observation_space(self, agent: str) -> Box:
        """Return the space of one agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Box:
        """Return the space of one agent's actions."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Float], dict[str, dict[str, Any]]]:
        """Begin an episode.

        Args:
            seed: seed of this episode, an integer >= 0, as in the batched task. None: the next
                of a sequence from the last seed, at first 0.
            options: unused; part of the interface.
        """
        if seed is None:
            seed = next_seed(self._next_seeds)
        else:
            seed = checked_seed(seed)
            self._next_seeds = np.random.default_rng(seed)
        self.agents = list(self.possible_agents)
        self._steps = 0
        self._observations = self.task.reset(np.array([seed], dtype=np.uint64))[0]
        return self._by_agent(), {agent: {} for agent in self.agents}

    def step(self, actions: Mapping[str, Float]) -> Step:
        """Advance by one step with an action [da] of each live agent.

        Raises:
            RequestError: no episode is running; or an action is missing, has a wrong shape, or is
                not finite; names agent and step.
        """
        live = self.agents
        if not live:
            raise stepped_outside(self.task.spec.id, self._steps)
        joint = np.stack([self._checked(actions, agent) for agent in live])
        observations, reward, done, metrics = self.task.step(joint[None])
        self._observations = observations[0]
        self._steps += 1
        ended = bool(done[0])
        truncated = ended and cut_short(self.task, self._steps)
        result: Step = (
            self._by_agent(),
            {agent: float(reward[0]) for agent in live},
            dict.fromkeys(live, ended and not truncated),
            dict.fromkeys(live, truncated),
            {agent: {name: float(value[0]) for name, value in metrics.items()} for agent in live},
        )
        if ended:
            self.agents = []
        return result

    def state(self) -> Float:
        """Return all agents' observations in one array [n * do]."""
        return self._observations.ravel()

    def render(self) -> NDArray[np.uint8] | None:
        """Return a picture [H, W, 3] of the current state; None without a render mode."""
        return picture(self.task, self.render_mode)

    def close(self) -> None:
        """Release the task."""
        self.task.close()

    def _checked(self, actions: Mapping[str, Float], agent: str) -> Float:
        """Return one agent's action [da]."""
        field = f"action of {agent!r} in step {self._steps + 1} of task {self.task.spec.id!r}"
        size = self.task.spec.action_size
        if agent not in actions:
            raise ConfigError(field, None, f"an array of shape {(size,)}")
        return checked_action(field, actions[agent], size)

    def _by_agent(self) -> dict[str, Float]:
        return dict(zip(self.possible_agents, self._observations.copy(), strict=True))
