"""What a bandit run is asked for, and the function that this names."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any

from rolecast.core.errors import ConfigError, RequestError, require_known
from rolecast.core.validation import (
    BOOLEAN_VALUE,
    COUNT_OR_ZERO,
    FINITE_NUMBER,
    NOT_NEGATIVE,
    POSITIVE_INTEGER,
    POSITIVE_NUMBER,
    check,
    make_plain,
    or_none,
)
from rolecast.platform.search.bandit.functions import TASK_PREFIX, BanditFunction, make_function


@dataclass(frozen=True, kw_only=True)
class BanditRequest:
    """One run of a bandit, as its folder stores it."""

    function: str
    """A name of `FUNCTION_NAMES`, python:MODULE:FUNCTION, or task:TASK."""

    method: str = "duets"
    """Name of the method."""

    agents: int = 10
    """N."""

    rounds: int = 50
    """T, queries of each agent."""

    seed: int = 0
    """Seed of all random choices."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the method."""

    bounds: Sequence[tuple[float, float]] | None = None
    """Bounds of the inputs of a user's function."""

    ball: bool = False
    """Whether its domain is the ball within these bounds."""

    noise: float | None = None
    """Standard deviation of the noise that is added; None: 0.2, or 0 for a user's function."""

    optimum: float | None = None
    """Greatest value of a user's function, for its regret; None where it is not known."""

    offset: float | None = None
    """What a user's function or a task returns where the value is 0; None: 0."""

    scale: float | None = None
    """Difference of what it returns that counts as 1, above 0; None: 1."""

    task_play: Mapping[str, Any] | None = None
    """Policy, episodes, offset and scale of task:TASK, where they are not those of `TaskPlay`."""

    def __post_init__(self) -> None:
        make_plain(self)
        rules = {"agents": POSITIVE_INTEGER, "rounds": POSITIVE_INTEGER}
        rules |= {"seed": COUNT_OR_ZERO, "ball": BOOLEAN_VALUE}
        rules |= {"optimum": or_none(FINITE_NUMBER), "noise": or_none(NOT_NEGATIVE)}
        rules |= {"offset": or_none(FINITE_NUMBER), "scale": or_none(POSITIVE_NUMBER)}
        check(type(self).__name__, vars(self), rules)
        if self.bounds is not None:
            object.__setattr__(self, "bounds", _pairs(self.bounds))


def _pairs(bounds: Any) -> tuple[tuple[float, float], ...]:
    """Return the bounds of each input.

    Raises:
        ConfigError: they are no pairs of numbers.
    """
    expected = "a pair of finite numbers, low and high, for each input"
    try:
        pairs = [(low, high) for low, high in bounds]
    except (TypeError, ValueError) as error:
        raise ConfigError("bounds", bounds, expected) from error
    if not all(FINITE_NUMBER.allows(each) for pair in pairs for each in pair):
        raise ConfigError("bounds", bounds, expected)
    return tuple((float(low), float(high)) for low, high in pairs)


def function_maker(
    request: BanditRequest, function: str | Callable[..., Any]
) -> Callable[[], BanditFunction]:
    """Return what builds the function, in any process.

    Raises:
        RequestError: settings of a task are given for something else, or others for a task.
    """
    if not request.function.startswith(TASK_PREFIX):
        if request.task_play:
            given = ", ".join(request.task_play)
            raise RequestError(f"{request.function!r} has {given}; expected those with task:TASK")
        return partial(
            make_function,
            function,
            seed=request.seed,
            bounds=request.bounds,
            ball=request.ball,
            noise=request.noise,
            optimum=request.optimum,
            offset=request.offset,
            scale=request.scale,
        )
    if request.bounds is not None or request.optimum is not None or request.ball:
        raise RequestError(
            f"{request.function!r} has bounds or an optimum; expected neither, for its domain is "
            "the unit cube of a policy's parameters"
        )
    # What plays tasks takes a quarter of a second to load, and no other function needs it.
    from rolecast.platform.search.bandit.task_function import TaskPlay, task_function

    settings = dict(request.task_play or {})
    for name in ("offset", "scale"):
        if getattr(request, name) is not None:
            if name in settings:
                raise RequestError(f"{name} is given twice; expected it once")
            settings[name] = getattr(request, name)
    require_known("setting of a task", settings, [setting.name for setting in fields(TaskPlay)])
    play = TaskPlay(**settings)
    return partial(task_function, request.function, play, seed=request.seed, noise=request.noise)
