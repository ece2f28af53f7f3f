"""Encoding of a team of named agents: observations to rows of numbers, and numbers to actions.

A search and a found policy at work (`rolecast.policies.deployed`) share it, so that a policy sees
in use what it saw in its search.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from gymnasium.spaces import Space

from rolecast.core.errors import RequestError, RunError, first_line
from rolecast.core.types import Float
from rolecast.envs.adapters.episode import TeamEnvironment
from rolecast.envs.adapters.spaces import action_codec, observation_codec


class TeamEncoding:
    """Encoding of n agents, padded with zeros to the largest of them.

    Where their spaces differ, a one-hot id follows each agent's own numbers.
    """

    def __init__(self, team: TeamEnvironment, agents: Sequence[str], task_id: str) -> None:
        """Read the spaces of the agents.

        Args:
            team: environment with the agents.
            agents: the n agents that the policy acts for, in the order of the rows.
            task_id: for errors.

        Raises:
            RequestError: there are no agents, a space cannot be used, or no action has a number.
        """
        if not agents:
            raise RequestError(f"task {task_id!r} has no agents; expected at least one")
        self.agents = list(agents)
        self.spaces: list[tuple[Space[Any], Space[Any]]] = [
            (team.observation_spaces[agent], team.action_spaces[agent]) for agent in agents
        ]
        self._id = task_id
        self._views = [observation_codec(view) for view, _ in self.spaces]
        self._codecs = [action_codec(act) for _, act in self.spaces]
        if not self.action_size:
            shown = self.spaces[0][1]
            raise RequestError(
                f"task {task_id!r} has the action space {shown}; expected one with numbers"
            )
        self._seen = max(view.size for view in self._views)
        self._with_id = any(pair != self.spaces[0] for pair in self.spaces)

    @property
    def observation_size(self) -> int:
        """Size do of a row, with the id."""
        return self._seen + (len(self.agents) if self._with_id else 0)

    @property
    def action_size(self) -> int:
        """Size da of the largest action."""
        return max(codec.size for codec in self._codecs)

    @property
    def discrete_actions(self) -> bool:
        """Whether every number of every action serves a choice."""
        return all(codec.discrete for codec in self._codecs)

    def write(
        self, rows: Float, observations: Mapping[str, Any], shown: Collection[str], where: str
    ) -> None:
        """Write observations into rows [n, do]; zeros for agents that are not shown.

        Args:
            rows: overwritten.
            observations: by agent, elements of their spaces.
            shown: agents whose observation counts.
            where: place in the episode, for errors.

        Raises:
            RunError: an observation is not in its space, or has another size.
        """
        rows[:] = 0.0
        for index, (agent, view) in enumerate(zip(self.agents, self._views, strict=True)):
            if agent not in shown or agent not in observations:
                continue
            try:
                numbers = view.encode(observations[agent])
            except Exception as error:
                raise RunError(
                    f"task {self._id!r} showed what is not in the observation space of {agent!r} "
                    f"in {where}: {type(error).__name__} ({first_line(error)})"
                ) from error
            if numbers.shape != (view.size,):
                raise RunError(
                    f"task {self._id!r} showed {numbers.size} numbers to {agent!r} "
                    f"in {where}; expected {view.size} as its observation space says"
                )
            rows[index, : view.size] = numbers
            if self._with_id:
                rows[index, self._seen + index] = 1.0

    def actions(self, rows: Float, acting: Collection[str]) -> dict[str, Any]:
        """Return the action of each acting agent, an element of its space.

        Args:
            rows: [n, da] in [-1, 1].
            acting: agents that act in this step.
        """
        return {
            agent: codec.decode(row[: codec.size])
            for agent, codec, row in zip(self.agents, self._codecs, rows, strict=True)
            if agent in acting
        }
