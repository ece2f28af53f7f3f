"""From what `.environment(...)` was given to a batched task, and what learners ask of it."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from ray.rllib.env.env_context import EnvContext
from ray.rllib.env.multi_agent_env import MultiAgentEnv
from ray.tune.registry import ENV_CREATOR, _global_registry

from rolecast.core.errors import RequestError
from rolecast.envs.adapters.spaces import action_codec
from rolecast.envs.ids import parse_id
from rolecast.envs.registry import make_task
from rolecast.envs.spec import BatchedTask, TaskSpec

Environment = str | Callable[..., object]
"""What `.environment(...)` takes: an id, a name of RLlib's registry, a class or a function."""


def task_of(environment: Environment | None, options: Mapping[str, Any]) -> BatchedTask:
    """Return the batched task of an algorithm's `.environment(environment, env_config=options)`.

    Args:
        environment: a task id (`pred_prey_3`, `gym:Pendulum-v1`) or a Gymnasium id
            (`Pendulum-v1`). Else a name given to RLlib's `register_env`, an environment class of
            Gymnasium or RLlib, or a function. A class is called with its options as one mapping,
            a function with keyword arguments.
        options: as in `make_task`: reward settings, `horizon`, `team_reward`, and the
            environment's own.

    Raises:
        RequestError: there is no such environment, or it cannot be made.
    """
    if environment is None:
        raise RequestError("the algorithm has no environment; expected .environment(TASK)")
    if isinstance(environment, str):
        registry: Any = _global_registry
        if registry.contains(ENV_CREATOR, environment):
            creator = registry.get(ENV_CREATOR, environment)
            return make_task(_named(partial(_by_mapping, creator), environment), **options)
        name = parse_id(environment)[0]
        if name in gymnasium.registry and ":" not in name:
            environment = f"gym:{environment}"
        return make_task(environment, **options)
    if isinstance(environment, type) and issubclass(environment, (gymnasium.Env, MultiAgentEnv)):
        creator = partial(_by_mapping, environment)
        return make_task(_named(creator, environment.__qualname__), **options)
    return make_task(environment, **options)


class JointObservations(spaces.Box):
    """Observations [n, do] of all agents, and the size of the state that critics may read."""

    def __init__(self, agents: int, observation_size: int, state_size: int = 0) -> None:
        super().__init__(-np.inf, np.inf, (agents, observation_size), np.float32)
        self.state_size = state_size
        """S; 0 where there is none."""


class JointActions(spaces.Box):
    """Actions [n, da] of all agents, and how many of its da numbers each agent reads."""

    def __init__(self, agents: int, action_size: int, own_sizes: Sequence[int] | None) -> None:
        super().__init__(-1.0, 1.0, (agents, action_size), np.float32)
        self.own_sizes = tuple(own_sizes or [action_size] * agents)
        """[n], each from 1 to da; the rest of an agent's numbers is padding."""


def joint_spaces(
    spec: TaskSpec, state_size: int = 0, own_sizes: Sequence[int] | None = None
) -> tuple[JointObservations, JointActions]:
    """Return the joint observation space, Box [n, do], and action space, Box [n, da].

    Args:
        spec: sizes of the task.
        state_size: S; 0 where nobody reads a state.
        own_sizes: [n], as in `own_action_sizes`; None for da of each agent.
    """
    return (
        JointObservations(spec.agents, spec.observation_size, state_size),
        JointActions(spec.agents, spec.action_size, own_sizes),
    )


def own_action_sizes(task: BatchedTask) -> list[int] | None:
    """Return how many numbers each agent's action has, [n]; None where all have da."""
    own = getattr(task, "spaces", None)
    return None if own is None else [action_codec(actions).size for _, actions in own]


def check_fit(task: BatchedTask, method: str, *, teams: bool, discrete: bool = False) -> None:
    """Refuse a task in which a method cannot learn.

    Actions and observations are encoded as in a search: Discrete actions by the largest of as many
    numbers, smaller agents padded with zeros, with an id where agents differ.

    Args:
        task: any.
        method: name of the method, for the error.
        teams: whether the method takes several agents.
        discrete: whether its agents choose among a few actions; else they act by numbers. A choice
            that an agent does not have acts as its first.

    Raises:
        RequestError: the method takes one agent only, or choices and the task has none.
    """
    spec = task.spec
    if not teams and spec.agents > 1:
        raise RequestError(
            f"{method} acts for one agent and task {spec.id!r} has {spec.agents}; "
            "expected a task of one agent, or a method for teams"
        )
    if not discrete:
        return
    own = getattr(task, "spaces", None)
    if own is None:
        raise RequestError(
            f"{method} chooses among a few actions and task {spec.id!r} takes real numbers; "
            "expected Discrete actions"
        )
    for _, actions in own:
        if not isinstance(actions, spaces.Discrete):
            raise RequestError(
                f"{method} chooses among a few actions and task {spec.id!r} takes {actions}; "
                "expected Discrete actions"
            )


def _by_mapping(creator: Callable[[EnvContext], object], **options: Any) -> object:
    """Call a creator as RLlib does; of its PettingZoo wrapper, take the environment inside.

    The wrapper keeps agents in a set, whose order changes from process to process.
    """
    made = creator(EnvContext(options, worker_index=0))
    return getattr(made, "par_env", made)


def _named(factory: partial[object], name: str) -> Callable[..., object]:
    """Return a factory under the name that its tasks' ids shall have."""
    factory.__qualname__ = name  # type: ignore[attr-defined]  # partials take attributes
    factory.__module__ = "registered"
    return factory
