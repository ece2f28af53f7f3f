"""The tasks by id, and the one way to make one: for the search, and as a PettingZoo environment."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import entry_points
from types import MappingProxyType
from typing import Any, Final

from rolecast.core.errors import ConfigError, RequestError, unknown_name
from rolecast.envs.adapters.sources import ENVIRONMENT_SOURCES, Factory
from rolecast.envs.adapters.task import ADAPTER_OPTIONS, AdaptedTask
from rolecast.envs.drone_delivery.task import DroneDeliveryTask
from rolecast.envs.faces.gymnasium import TaskGymEnv
from rolecast.envs.faces.pettingzoo import TaskEnv
from rolecast.envs.ids import format_id, parse_id
from rolecast.envs.mujoco.catalogue import NAMED_TASKS, TASK_OPTIONS, many_segments
from rolecast.envs.predator_prey.task import PredatorPreyTask
from rolecast.envs.rewards.settings import split_options
from rolecast.envs.rewards.task import with_rewards
from rolecast.envs.spec import BatchedTask, TaskSpec

ENTRY_POINTS: Final = "rolecast.tasks"
"""Entry point group through which other packages offer tasks: id to factory."""

FOR_ENVIRONMENT: Final = "env."
"""Begins an option that goes to a user's environment though its name is one of our own."""


@dataclass(frozen=True, kw_only=True)
class TaskFamily:
    """Tasks that differ in a number: `NAME_N`."""

    build: Callable[..., BatchedTask]
    """Makes the task from N and the options of its id."""

    options: tuple[str, ...]
    """Options that an id may have."""

    sizes: tuple[int, ...]
    """Values of N that are listed."""

    numbers: str
    """Words that say which N there are."""


FAMILIES: Final[Mapping[str, TaskFamily]] = MappingProxyType(
    {
        "drone_delivery": TaskFamily(
            build=DroneDeliveryTask,
            options=(),
            sizes=(3, 6, 9),
            numbers="N >= 1",
        ),
        "pred_prey": TaskFamily(
            build=PredatorPreyTask,
            options=("observation",),
            sizes=(3, 6, 9, 15),
            numbers="N a multiple of 3",
        ),
        "het_pred_prey": TaskFamily(
            build=partial(PredatorPreyTask, heterogeneous=True),
            options=("observation", "task_seed"),
            sizes=(3, 6, 9, 15),
            numbers="N a multiple of 3",
        ),
        "manyagent_ant": TaskFamily(
            build=partial(many_segments, "ant"),
            options=TASK_OPTIONS,
            sizes=(4, 6, 8, 12, 16),
            numbers="N >= 2",
        ),
        "manyagent_swimmer": TaskFamily(
            build=partial(many_segments, "swimmer"),
            options=TASK_OPTIONS,
            sizes=(4, 6, 8, 12, 16),
            numbers="N >= 2",
        ),
    }
)
"""The project's own tasks: name before `_N` to how they are made."""

OWN_FORMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "gym:ID": "any Gymnasium environment, as in gym:Pendulum-v1",
        "pettingzoo:MODULE": "any PettingZoo module with a parallel_env",
        "python:MODULE:FACTORY": "what your function makes: a Gymnasium or PettingZoo environment",
    }
)
"""Forms of id under which users bring their own environments, with a line for each."""


def task_specs() -> dict[str, TaskSpec]:
    """Return what the project's own tasks are, by id; a family also has other N than those."""
    made = {
        f"{name}_{n}": family.build(n) for name, family in FAMILIES.items() for n in family.sizes
    } | {name: build() for name, build in NAMED_TASKS.items()}
    return {task_id: task.spec for task_id, task in made.items()}


def tasks_of_others() -> dict[str, str]:
    """Return the tasks that other packages offer: id to a line that says where from."""
    return {point.name: f"from {point.value}" for point in entry_points(group=ENTRY_POINTS)}


def task_ids() -> dict[str, str]:
    """Return the ids that can be made as they stand, each with a line that says what it is.

    Those of other packages are included; a family also has other N than the ones listed.
    """
    return {name: spec.summary for name, spec in task_specs().items()} | tasks_of_others()


def make_task(task: str | Factory, **options: Any) -> BatchedTask:
    """Make a task for the search and for `rollout`.

    Args:
        task: an id, `pred_prey_6` or `gym:Pendulum-v1`, with options after `?` if wanted; or a
            function that returns a `gymnasium.Env`, a PettingZoo `ParallelEnv` or a batched task.
        options: as after `?` in the id, which they override. Every task has those of
            `RewardSettings`: sparse, delay, noise, flip, drop, flush_on_end. For a user's own
            environment, `horizon` and `team_reward` ("sum" or "mean" over agents) are the task's
            own too, and all others are given to the environment; `env.NAME` is given to it as NAME
            in any case.

    Raises:
        RequestError: an unknown id or option, a setting out of its range, or an environment that
            cannot be imported or made.

    >>> make_task("pred_prey_6?observation=full").spec.observation_size
    30
    >>> make_task("pred_prey_6", sparse=5, delay=2).spec.id
    'pred_prey_6?delay=2&sparse=5'
    """
    if isinstance(task, str):
        name, given = parse_id(task)
        rewards, given = split_options(given | options)
        return with_rewards(_from_id(name, given), rewards)
    if not callable(task):
        raise RequestError(f"task is a {type(task).__name__}; expected an id or a function")
    rewards, given = split_options(options)
    return with_rewards(_from_factory(task, _name_of(task), given), rewards)


def make_env(task: str | Factory, *, render_mode: str | None = None, **options: Any) -> Any:
    """Make a task as a PettingZoo `ParallelEnv`, or as a `gymnasium.Env` where it has one agent.

    For the same seed and actions it runs through the same trajectory as `make_task`'s.

    Args:
        task: as in `make_task`.
        render_mode: None, or "rgb_array".
        options: as in `make_task`.
    Returns:
        A `TaskGymEnv` for an id of one agent, such as `hopper`, a user's own environment aside;
        else a `TaskEnv`.
    Raises:
        RequestError: as in `make_task`; or the task cannot be drawn.
    """
    drawn_by_env = not isinstance(task, str) or ":" in task
    if render_mode is not None and drawn_by_env:
        options["render_mode"] = render_mode
    made = make_task(task, **options)
    single = not drawn_by_env and made.spec.agents == 1
    return TaskGymEnv(made, render_mode) if single else TaskEnv(made, render_mode)


def _from_id(name: str, given: Mapping[str, Any]) -> BatchedTask:
    """Return the task of a name with options, reward settings aside."""
    family = re.fullmatch(r"(\w+?)_(-?\d+)", name)
    if family and family[1] in FAMILIES:
        _check_options(name, FAMILIES[family[1]].options, given)
        return FAMILIES[family[1]].build(int(family[2]), **given)
    if name in NAMED_TASKS:
        _check_options(name, TASK_OPTIONS, given)
        return NAMED_TASKS[name](**given)
    scheme, colon, rest = name.partition(":")
    if colon:
        if scheme not in ENVIRONMENT_SOURCES:
            raise unknown_name("kind of task", scheme, ENVIRONMENT_SOURCES)
        return _from_factory(ENVIRONMENT_SOURCES[scheme](rest), name, given)
    for point in entry_points(group=ENTRY_POINTS, name=name):
        return _from_factory(point.load(), name, given)
    raise unknown_name("task", name, task_ids())


def _from_factory(factory: Factory, name: str, options: Mapping[str, Any]) -> BatchedTask:
    """Return the batched task that a factory makes, or the one round its environments."""
    own = {key: value for key, value in options.items() if key in ADAPTER_OPTIONS}
    theirs = {
        key.removeprefix(FOR_ENVIRONMENT): value
        for key, value in options.items()
        if key not in ADAPTER_OPTIONS
    }
    if len(own) + len(theirs) < len(options):
        twice = next(key for key in theirs if FOR_ENVIRONMENT + key in options and key in options)
        raise RequestError(f"option {twice!r} of task {name!r} is given twice; expected once")
    task_id = format_id(name, options)
    make = partial(_made, factory, theirs, task_id)
    made = make()
    if isinstance(getattr(made, "spec", None), TaskSpec):
        batched: BatchedTask = made
        if batched.spec.horizon < 1:
            field = f"horizon of task {batched.spec.id!r}"
            raise ConfigError(field, batched.spec.horizon, "an integer >= 1")
        return batched
    return AdaptedTask(make, task_id=task_id, first=made, **own)


def _made(factory: Factory, options: Mapping[str, Any], task_id: str) -> Any:
    """Call a user's factory; say which task it was if that fails."""
    try:
        return factory(**options)
    except RequestError:
        raise
    except Exception as error:
        what = (str(error).strip().splitlines() or ["no message"])[0]
        raise RequestError(
            f"task {task_id!r} cannot be made: {type(error).__name__} ({what})"
        ) from error


def _check_options(name: str, known: tuple[str, ...], options: Mapping[str, Any]) -> None:
    """Refuse options that a task of this project does not have."""
    for option in options:
        if option not in known:
            raise unknown_name(f"option of task {name!r}:", option, known)


def _name_of(factory: Factory) -> str:
    """Return the id of a function; it can be built again from it where it is importable."""
    name = getattr(factory, "__qualname__", type(factory).__qualname__)
    return f"python:{factory.__module__}:{name}"
