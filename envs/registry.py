"""Tasks by id, and their factories `make_task` and `make_env`."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import entry_points
from pathlib import PurePath
from types import MappingProxyType
from typing import Any, Final

from rolecast.core.errors import ConfigError, RequestError, first_line, require_known, unknown_name
from rolecast.core.lazy_table import load_entry
from rolecast.core.memory import require_room
from rolecast.core.validation import plain
from rolecast.envs.causal.problem import CausalProblem, CausalTask
from rolecast.envs.causal.task_ids import CAUSAL_TASKS, split_task_options
from rolecast.envs.ids import format_id, parse_id
from rolecast.envs.mujoco.catalogue import NAMED_TASKS, TASK_OPTIONS, many_segments
from rolecast.envs.rewards.settings import split_options
from rolecast.envs.spec import BatchedTask, TaskSpec

Factory = Callable[..., object]
"""Factory of an environment, from the options of a task id."""

ENTRY_POINTS: Final = "rolecast.tasks"
"""Entry-point group of tasks of other packages: id to factory."""

FOR_ENVIRONMENT: Final = "env."
"""Prefix of an option for a user's environment that has the name of a task option."""

TEAM_OPTIONS: Final = ("capture", "view", "scout")
"""Options of predator-prey that make a team of its predators."""


@dataclass(frozen=True, kw_only=True)
class TaskFamily:
    """Family of tasks that differ in a number: `NAME_N`."""

    build: Callable[..., BatchedTask]
    """Factory of the task from N and the options of its id."""

    options: tuple[str, ...]
    """Options of an id."""

    sizes: tuple[int, ...]
    """Values of N that are listed."""

    variants: tuple[str, ...] = ()
    """Options with which the least N is listed, too."""

    numbers: str
    """Range of N in words."""


def _drone_delivery(n: int, **options: Any) -> BatchedTask:
    from rolecast.envs.drone_delivery.task import DroneDeliveryTask  # loads Numba

    return DroneDeliveryTask(n, **options)


def _predator_prey(n: int, **options: Any) -> BatchedTask:
    from rolecast.envs.predator_prey.task import PredatorPreyTask  # loads Numba

    return PredatorPreyTask(n, **options)


FAMILIES: Final[Mapping[str, TaskFamily]] = MappingProxyType(
    {
        "drone_delivery": TaskFamily(
            build=_drone_delivery,
            options=("handover",),
            sizes=(3, 6, 9),
            variants=("handover=1",),
            numbers="N >= 1",
        ),
        "pred_prey": TaskFamily(
            build=_predator_prey,
            options=("observation", *TEAM_OPTIONS),
            sizes=(3, 6, 9, 15),
            variants=(
                "capture=2",
                "view=0.5",
                "capture=2&view=0.5",
                "scout=1",
                "capture=2&scout=1",
            ),
            numbers="N a multiple of 3",
        ),
        "het_pred_prey": TaskFamily(
            build=partial(_predator_prey, heterogeneous=True),
            options=("observation", "task_seed", *TEAM_OPTIONS),
            sizes=(3, 6, 9, 15),
            variants=("capture=2",),
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
"""Families of this project's tasks, by the name before `_N`."""


def _causal(name: str, **options: Any) -> BatchedTask:
    from rolecast.envs.causal.catalogue import make_causal

    kept = {option: value for option, value in options.items() if value != 0}
    return make_causal(name, format_id(name, kept), options)


OWN_FORMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "gym:ID": "any Gymnasium environment, as in gym:Pendulum-v1",
        "pettingzoo:MODULE": "any PettingZoo module with a parallel_env",
        "python:MODULE:FACTORY": "what your function makes: a Gymnasium or PettingZoo environment",
    }
)
"""Forms of ids for users' environments, with a line for each."""


def task_specs() -> dict[str, TaskSpec]:
    """Return the specs of this project's tasks by id, with the listed N of each family."""
    made = {
        f"{name}_{n}": family.build(n) for name, family in FAMILIES.items() for n in family.sizes
    } | {name: build() for name, build in NAMED_TASKS.items()}
    for name, family in FAMILIES.items():
        for variant in family.variants:
            task_id, options = parse_id(f"{name}_{family.sizes[0]}?{variant}")
            made[format_id(task_id, options)] = family.build(family.sizes[0], **options)
    for name, variants in CAUSAL_TASKS.items():
        for task_id in (name, *(f"{name}?{variant}" for variant in variants)):
            made[task_id] = make_task(task_id)
    return {task_id: task.spec for task_id, task in made.items()}


def tasks_of_others() -> dict[str, str]:
    """Return the tasks of other packages: id to a line with their source."""
    return {point.name: f"from {point.value}" for point in entry_points(group=ENTRY_POINTS)}


def make_task(task: str | Factory, **options: Any) -> BatchedTask:
    """Return a task for the search and for `rollout`.

    Args:
        task: an id, `pred_prey_6` or `gym:Pendulum-v1`, with options after `?` if wanted; or a
            function that returns a `gymnasium.Env`, a PettingZoo `ParallelEnv` or a batched task.
        options: as after `?` in the id, which they override. Every task has those of
            `RewardSettings`: sparse, delay, noise, flip, drop, survival, flush_on_end. A user's
            environment also has `horizon`, `team_reward` ("sum" or "mean" over agents), `team` (the
            agents whose reward counts) and `others` ("policy" or "random", who acts for agents
            outside the team). All its other options go to the environment; so does `env.NAME`, as
            NAME.

    Raises:
        RequestError: an id or option is unknown, a setting is out of its range, or an environment
            cannot be made.

    >>> make_task("pred_prey_6?observation=full").spec.observation_size
    30
    >>> make_task("pred_prey_6", sparse=5, delay=2).spec.id
    'pred_prey_6?delay=2&sparse=5'
    """
    from rolecast.envs.rewards.task import with_rewards

    options = plain(options)
    if isinstance(task, str):
        name, given = parse_id(task)
        rewards, own = split_task_options(name, given | options)
        return with_rewards(_from_id(name, own), rewards)
    if not callable(task):
        raise RequestError(f"task is a {type(task).__name__}; expected an id or a function")
    rewards, given = split_options(options)
    return with_rewards(_from_factory(task, _name_of(task), given), rewards)


def is_built_in(name: str) -> bool:
    """Return whether a task's name, without options, is of this project itself."""
    family = re.fullmatch(r"(\w+?)_(-?\d+)", name)
    return name in (*NAMED_TASKS, *CAUSAL_TASKS) or (family is not None and family[1] in FAMILIES)


def make_env(task: str | Factory, *, render_mode: str | None = None, **options: Any) -> Any:
    """Return a task as a PettingZoo `ParallelEnv`, or as a `gymnasium.Env` for one agent.

    Trajectories for a seed and actions are those of `make_task`.

    Args:
        task: as in `make_task`.
        render_mode: None, or "rgb_array".
        options: as in `make_task`.
    Returns:
        A `TaskGymEnv`, a `gymnasium.Env`, for one agent; a `TaskEnv`, a `ParallelEnv`, for a team.
    Raises:
        RequestError: as in `make_task`; or the task cannot be drawn.
    """
    from rolecast.envs.faces.gymnasium import TaskGymEnv
    from rolecast.envs.faces.pettingzoo import TaskEnv

    built_in = isinstance(task, str) and is_built_in(parse_id(task)[0])
    told = {} if built_in or render_mode is None else {"render_mode": render_mode}
    try:  # a user's environment is told when it is made; a batched task takes no such option
        made = make_task(task, **options, **told)
    except RequestError:
        if not told:
            raise
        made = make_task(task, **options)
    return (TaskGymEnv if made.spec.agents == 1 else TaskEnv)(made, render_mode)


def _from_id(name: str, given: Mapping[str, Any]) -> BatchedTask:
    """Return the task of a name with options, without reward settings."""
    family = re.fullmatch(r"(\w+?)_(-?\d+)", name)
    if family and family[1] in FAMILIES:
        require_known(f"option of task {name!r}:", given, FAMILIES[family[1]].options)
        needed = 512 * int(family[2]) ** 2  # places of all pairs, of 16 episodes
        require_room(f"number of agents of {family[1]}", int(family[2]), needed, "fewer")
        return FAMILIES[family[1]].build(int(family[2]), **given)
    if name in NAMED_TASKS:
        require_known(f"option of task {name!r}:", given, TASK_OPTIONS)
        return NAMED_TASKS[name](**given)
    if name in CAUSAL_TASKS:
        return _causal(name, **given)
    scheme, colon, rest = name.partition(":")
    if colon:
        from rolecast.envs.adapters.sources import ENVIRONMENT_SOURCES

        _check_scheme(scheme, rest)
        return _from_factory(ENVIRONMENT_SOURCES[scheme](rest), name, given)
    for point in entry_points(group=ENTRY_POINTS, name=name):
        return _from_factory(load_entry(point, f"task {name!r}"), name, given)
    raise unknown_name("task", name, _names_of_tasks())


def check_task_id(task: str) -> None:
    """Refuse an id that names no task; nothing is loaded, and options are not read.

    Raises:
        RequestError: no such task; offers the nearest.
    """
    name, _ = parse_id(task)
    if is_built_in(name):
        return
    scheme, colon, rest = name.partition(":")
    if colon:
        _check_scheme(scheme, rest)
    elif name not in tasks_of_others():
        raise unknown_name("task", name, _names_of_tasks())


def _check_scheme(scheme: str, rest: str) -> None:
    """Refuse the beginning of an id that says no kind of task."""
    kinds = [form.partition(":")[0] for form in OWN_FORMS]
    if scheme == "causal":
        raise unknown_name("task", f"causal:{rest}", CAUSAL_TASKS)
    if scheme.endswith(".py"):
        parts = PurePath(scheme).with_suffix("").parts
        known = f"python:{'.'.join(parts)}:{rest}"
        if not {"/", ".."}.isdisjoint(parts):
            known = "python:MODULE:NAME of a file below the working directory"
        raise RequestError(f"task '{scheme}:{rest}' is no id; expected {known}")
    if scheme not in kinds:
        raise unknown_name("kind of task", scheme, kinds)


def _names_of_tasks() -> list[str]:
    """Return the names of tasks as they are offered to someone who mistyped one."""
    families = [f"{name}_{n}" for name, family in FAMILIES.items() for n in family.sizes]
    return [*families, *NAMED_TASKS, *CAUSAL_TASKS, *tasks_of_others()]


def _from_factory(factory: Factory, name: str, options: Mapping[str, Any]) -> BatchedTask:
    """Return the batched task of a factory, or an adapter round its environments."""
    from rolecast.envs.adapters.task import ADAPTER_OPTIONS, AdaptedTask

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
    if isinstance(made, CausalProblem):
        made = made(task_id)
    elif isinstance(made, CausalTask):
        made = made.named(task_id)
    if isinstance(getattr(made, "spec", None), TaskSpec):
        batched: BatchedTask = made
        if batched.spec.horizon < 1:
            field = f"horizon of task {batched.spec.id!r}"
            raise ConfigError(field, batched.spec.horizon, "an integer >= 1")
        if own:
            raise RequestError(
                f"option {min(own)!r} of task {name!r} is for environments that are adapted, and "
                f"this one is a batched task; expected {FOR_ENVIRONMENT}{min(own)} for its own"
            )
        return batched
    return AdaptedTask(make, task_id=task_id, first=made, **own)


def _made(factory: Factory, options: Mapping[str, Any], task_id: str) -> Any:
    """Call a user's factory; an error names the task."""
    try:
        return factory(**options)
    except RequestError:
        raise
    except (Exception, SystemExit) as error:
        what = f"{type(error).__name__} ({first_line(error)})"
        raise RequestError(f"task {task_id!r} cannot be made: {what}") from error


def _name_of(factory: Factory) -> str:
    """Return the id of a function: to build it again, or with a "<" if it cannot be imported."""
    name = getattr(factory, "__qualname__", f"<{type(factory).__qualname__}>")
    return f"python:{factory.__module__}:{name}"
