"""Found policy at work in an environment: raw observations in, actions of its spaces out."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rolecast.core.errors import ConfigError, RequestError, RunError, unknown_name
from rolecast.core.types import Float
from rolecast.envs.adapters.encoding import TeamEncoding
from rolecast.envs.adapters.episode import GymnasiumTeam, as_team
from rolecast.envs.adapters.membership import membership
from rolecast.envs.ids import parse_id
from rolecast.envs.registry import is_built_in
from rolecast.envs.spec import TaskSpec


class DeployedPolicy:
    """Policy for the spaces of one environment, without state of its own.

    Observations and actions are encoded as in the search: flattened, padded, with an id where
    agents differ; bounds reached by their affine map, Discrete by the largest number.
    """

    def __init__(self, act: Callable[[Float], Float], task: TaskSpec, env: object) -> None:
        """Read the spaces of an environment.

        Args:
            act: the policy, from observations [n, do] to actions [n, da] in [-1, 1].
            task: that it was trained for.
            env: a `gymnasium.Env` or a PettingZoo `ParallelEnv`.

        Raises:
            RequestError: the environment has other sizes than the task of the search.
        """
        name, options = parse_id(task.id)
        team = as_team(env, name)
        # A task of this project has no options of an adapter: there, `team` is nobody's.
        own = {} if is_built_in(name) else options
        chosen, others = own.get("team"), own.get("others", "policy")
        members = membership(team.agents, chosen, others, task.id)
        self._act, self._task = act, task
        self._encoding = TeamEncoding(team, members.acting, task.id)
        self._single, self._known = isinstance(team, GymnasiumTeam), members.everyone
        _check_sizes(task, self._encoding)

    @property
    def agents(self) -> list[str]:
        """Names of the agents that the policy acts for."""
        return list(self._encoding.agents)

    def step(self, observations: Any) -> Any:
        """Return what to do.

        Args:
            observations: of a `gymnasium.Env`, the observation as its `step` returned it; of a
                team, a mapping of live agents to theirs. Agents that are missing have left.
        Returns:
            The action for `env.step`: an element of the action space, or for a team a mapping of
            these agents to theirs.

        Raises:
            RequestError: an agent is unknown, or an observation does not fit its space or is not
                finite.
        """
        given = {self._encoding.agents[0]: observations} if self._single else observations
        if not isinstance(given, Mapping):
            raise ConfigError("observations", type(given).__name__, "a mapping by agent")
        for agent in given.keys() - set(self._known):
            raise unknown_name("agent of the environment:", str(agent), map(str, self._known))
        shape = (len(self._encoding.agents), self._encoding.observation_size)
        rows = np.zeros(shape)
        try:
            self._encoding.write(rows, given, given.keys(), "step()")
        except (RunError, KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            spaces = [str(view) for view, _ in self._encoding.spaces]
            raise RequestError(
                f"observations do not fit the spaces of {self._task.id!r} "
                f"({type(error).__name__}: {error}); expected {', '.join(dict.fromkeys(spaces))}"
            ) from error
        if not np.isfinite(rows).all():
            raise RequestError("observations are NaN or infinite; expected finite numbers")
        actions = self._encoding.actions(self._act(rows), given.keys())
        return actions[self._encoding.agents[0]] if self._single else actions


def _check_sizes(task: TaskSpec, encoding: TeamEncoding) -> None:
    """Refuse an environment whose sizes are not those of the task."""
    met = len(encoding.agents), encoding.observation_size, encoding.action_size
    wanted = task.agents, task.observation_size, task.action_size
    if met != wanted:
        raise RequestError(
            f"the environment has (agents, numbers observed, numbers acted with) {met}; "
            f"expected {wanted}, as in task {task.id!r}"
        )
