"""`rolecast.bandit_search`: N agents maximise one function, in T rounds, by one method."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from rolecast.core.errors import RequestError
from rolecast.core.threads import OneThread
from rolecast.core.validation import COUNT_OR_ZERO, POSITIVE_INTEGER, check
from rolecast.envs.trust import remember_task, require_trust
from rolecast.platform.search.bandit.engine import BanditTrace, local_query, play
from rolecast.platform.search.bandit.folder import BanditFolder
from rolecast.platform.search.bandit.functions import (
    PYTHON_PREFIX,
    BanditFunction,
    make_function,
)
from rolecast.platform.search.bandit.method import BanditMethod, BanditProblem, method_config

ONE_THREAD: Final = OneThread()


@dataclass(frozen=True, kw_only=True)
class BanditRequest:
    """One run of a bandit, as its folder stores it."""

    function: str
    """A name of `FUNCTION_NAMES`, or python:MODULE:FUNCTION."""

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

    bounds: tuple[tuple[float, float], ...] | None = None
    """Bounds of the inputs of a user's function."""

    noise: float | None = None
    """Standard deviation of the noise that is added; None: 0.2, or 0 for a user's function."""

    optimum: float | None = None
    """Greatest value of a user's function, for its regret; None where it is not known."""

    def __post_init__(self) -> None:
        rules = {"agents": POSITIVE_INTEGER, "rounds": POSITIVE_INTEGER}
        rules |= {"seed": COUNT_OR_ZERO}
        check(type(self).__name__, vars(self), rules)


@dataclass(frozen=True, kw_only=True)
class BanditResult:
    """What a run came to; `json()` is what the command prints."""

    function: str
    method: str
    agents: int
    rounds: int
    seed: int
    cumulative_regret: float | None
    """Of all agents and rounds; None where no optimum is known."""

    communication_reals: float
    """Real numbers sent: mean of an agent's uplink, and broadcasts once."""

    communication_bytes: float
    """The same in bytes of float64."""

    uplink_reals: float
    downlink_reals: float
    epochs: list[dict[str, Any]]
    """What happened at each exchange."""

    incumbent: list[float]
    """Point of greatest posterior mean."""

    incumbent_value: float | None
    """Its value without noise; None for a user's function."""

    greatest_value: float
    """Greatest value without noise that was met."""

    regret_by_round: list[float] | None
    reals_by_round: list[float]

    def json(self) -> dict[str, Any]:
        """Return JSON values, without those by round."""
        values = asdict(self)
        del values["regret_by_round"], values["reals_by_round"]
        return values


def bandit_search(
    function: str | Callable[..., Any],
    *,
    method: str = "duets",
    agents: int = 10,
    rounds: int = 50,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    bounds: Sequence[tuple[float, float]] | None = None,
    noise: float | None = None,
    optimum: float | None = None,
    out: str | Path | None = None,
) -> BanditResult:
    """Let N agents maximise a function together, and count what they send.

    Args:
        function: "h1", "h2", "branin", "hartmann4", "python:MODULE:FUNCTION", or a callable of a
            point [d].
        method: "duets" or a rival.
        agents: N.
        rounds: T, queries of each agent.
        seed: of all random choices.
        settings: of the method.
        bounds: low and high of each input; for a function of your own.
        noise: standard deviation of normal noise that is added.
        optimum: greatest value of a function of your own, for its regret.
        out: folder of the run, which must not exist; None writes nothing.
    Raises:
        RequestError: a name, setting or value is wrong, or the function fails.
    Example:
        >>> found = bandit_search("branin", agents=4, rounds=6, settings={"beta": 0.5})
        >>> len(found.epochs), found.communication_bytes == 8 * found.communication_reals
        (2, True)
    """
    named = isinstance(function, str)
    if out is not None and not named:
        raise RequestError("a run with a folder needs a function by name; expected python:M:F")
    request = BanditRequest(
        function=function if isinstance(function, str) else "callable",
        method=method,
        agents=agents,
        rounds=rounds,
        seed=seed,
        settings=dict(settings or {}),
        bounds=None if bounds is None else tuple((float(a), float(b)) for a, b in bounds),
        noise=noise,
        optimum=optimum,
    )
    made = _function(request, function)
    problem, built = _built(request, made)
    if request.function.startswith(PYTHON_PREFIX):
        remember_task(request.function)
    if out is None:
        return _run(request, made, problem, built, None)
    folder = BanditFolder(out)
    folder.create(asdict(request))
    return _run(request, made, problem, built, folder)


def resume_bandit(path: str | Path, *, trust: bool = False) -> BanditResult:
    """Continue an interrupted run as if it had never stopped; no query is repeated.

    Args:
        path: folder of the run.
        trust: call the function that the folder names, though it may run any code.
    Raises:
        RequestError: there is no run, or its function is not trusted.
    """
    folder = BanditFolder(path)
    stored = folder.read_request()
    try:
        if stored.get("bounds") is not None:
            stored["bounds"] = tuple((float(a), float(b)) for a, b in stored["bounds"])
        request = BanditRequest(**stored)
    except (TypeError, ValueError) as error:
        raise RequestError(f"{folder.path} is damaged: {error}") from error
    if request.function.startswith(PYTHON_PREFIX):
        require_trust(request.function, trust=trust)
    made = _function(request, request.function)
    problem, built = _built(request, made)
    folder.lock()
    return _run(request, made, problem, built, folder)


def _function(request: BanditRequest, function: str | Callable[..., Any]) -> BanditFunction:
    return make_function(
        function,
        seed=request.seed,
        bounds=request.bounds,
        noise=request.noise,
        optimum=request.optimum,
    )


def _built(request: BanditRequest, function: BanditFunction) -> tuple[BanditProblem, BanditMethod]:
    """Return problem and method, all settings checked."""
    problem = BanditProblem(
        domain=function.domain,
        agents=request.agents,
        rounds=request.rounds,
        seed=request.seed,
        lengthscale=function.lengthscale,
    )
    return problem, method_config(request.method, request.settings).build(problem)


def _run(
    request: BanditRequest,
    function: BanditFunction,
    problem: BanditProblem,
    method: BanditMethod,
    folder: BanditFolder | None,
) -> BanditResult:
    """Play to the end, and write the result where there is a folder."""
    recorded = [] if folder is None else folder.read_blocks(repair=True)
    with ONE_THREAD():
        query = local_query(function, problem)
        try:
            trace = play(
                method,
                problem,
                query,
                optimum=function.optimum,
                recorded=recorded,
                record=None if folder is None else folder.append,
            )
            result = _result(request, function, method, trace)
            if folder is not None:
                folder.write_result(asdict(result))
        finally:
            if folder is not None:
                folder.release()
    return result


def _result(
    request: BanditRequest, function: BanditFunction, method: BanditMethod, trace: BanditTrace
) -> BanditResult:
    incumbent = method.incumbent
    value = float(function.values(incumbent[None])[0]) if function.optimum is not None else None
    ledger = method.ledger
    return BanditResult(
        function=request.function,
        method=request.method,
        agents=request.agents,
        rounds=request.rounds,
        seed=request.seed,
        cumulative_regret=None if trace.regret is None else float(trace.regret[-1]),
        communication_reals=ledger.reals,
        communication_bytes=ledger.byte_count,
        uplink_reals=ledger.uplink,
        downlink_reals=ledger.downlink,
        epochs=method.records(),
        incumbent=incumbent.tolist(),
        incumbent_value=value,
        greatest_value=trace.greatest,
        regret_by_round=None if trace.regret is None else trace.regret.tolist(),
        reals_by_round=trace.reals.tolist(),
    )
