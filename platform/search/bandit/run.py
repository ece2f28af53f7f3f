"""`rolecast.bandit_search`: N agents maximise one function, in T rounds, by one method."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from rolecast.core.errors import RequestError
from rolecast.core.signals import signals_given_back
from rolecast.core.threads import OneThread
from rolecast.core.validation import COUNT_OR_ZERO, check
from rolecast.envs.trust import remember_task, remember_use, require_trust, require_trusted
from rolecast.platform.optimizers.duets.protocol import DuetsProtocol
from rolecast.platform.search.bandit.duets import (
    DuetsMethodConfig,
    coarseness,
    require_settings_of_preset,
)
from rolecast.platform.search.bandit.engine import BanditTrace, Query, excess, local_query, play
from rolecast.platform.search.bandit.folder import BanditFolder
from rolecast.platform.search.bandit.functions import (
    FUNCTION_NAMES,
    PYTHON_PREFIX,
    TASK_PREFIX,
    BanditFunction,
)
from rolecast.platform.search.bandit.method import BanditMethod, BanditProblem, method_config
from rolecast.platform.search.bandit.request import BanditRequest, function_maker
from rolecast.platform.search.planning.config import OWN_ADDRESSES
from rolecast.platform.search.planning.request import require_no_run

ONE_THREAD: Final = OneThread()

RAY_ENGINE: Final = "rolecast.platform.actors.bandit_engine"
"""Module of `RayEngine`; beside this room, so it is found by name, and loads Ray."""


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

    above_optimum: float
    """By how much that is more than the optimum: regrets are too small then. 0 where it is not."""

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
    ball: bool = False,
    noise: float | None = None,
    optimum: float | None = None,
    offset: float | None = None,
    scale: float | None = None,
    task_play: Mapping[str, Any] | None = None,
    workers: int = 0,
    address: str | None = None,
    out: str | Path | None = None,
    note: Callable[[str], None] = lambda _: None,
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
        ball: whether its domain is the ball within these bounds, which are all -R and R.
        noise: standard deviation of normal noise that is added.
        optimum: greatest value that a function of your own returns, for its regret.
        offset: what your function, or a task, returns where the value is 0; None: 0.
        scale: difference of it that counts as 1; None: 1. Methods presume values about 0 of size
            about 1. Noise, regret and greatest value are in this unit.
        task_play: "policy" and "episodes" of task:TASK; see `TaskPlay`.
        workers: Ray actors among which the agents are shared; of "duets" the server has one more.
            0: all in this process. The result is the same to the last bit.
        address: of a Ray cluster, with workers; None starts one on this machine where there is
            none.
        out: folder of the run, which must not exist; None writes nothing.
        note: told of the Ray cluster, and of values that do not fit.
    Raises:
        RequestError: a name, setting or value is wrong, the cluster cannot be reached, or the
            function fails.
        RunError: an actor's process dies again and again.
    Example:
        >>> found = bandit_search("branin", agents=4, rounds=6, settings={"beta": 0.5})
        >>> len(found.epochs), found.communication_bytes == 8 * found.communication_reals
        (2, True)
    """
    if out is not None:
        if not isinstance(function, str):
            raise RequestError("a run with a folder needs a function by name; expected python:M:F")
        require_no_run(Path(out))
    request = BanditRequest(
        function=function if isinstance(function, str) else "callable",
        method=method,
        agents=agents,
        rounds=rounds,
        seed=seed,
        settings=dict(settings or {}),
        bounds=bounds,
        ball=ball,
        noise=noise,
        optimum=optimum,
        offset=offset,
        scale=scale,
        task_play=None if task_play is None else dict(task_play),
    )
    run = PreparedRun(request, function, workers, address, note)
    if method == "duets":
        require_settings_of_preset(request.settings)
    if request.function.startswith((PYTHON_PREFIX, TASK_PREFIX)):
        remember_task(request.function.removeprefix(TASK_PREFIX))
    if address not in OWN_ADDRESSES:
        remember_use("cluster", str(address))
    return run.play(None if out is None else BanditFolder(out), new=True)


def resume_bandit(
    path: str | Path,
    *,
    workers: int | None = None,
    address: str | None = None,
    trust: bool = False,
    note: Callable[[str], None] = lambda _: None,
) -> BanditResult:
    """Continue an interrupted run as if it had never stopped; no query is repeated.

    Args:
        path: folder of the run.
        workers: as of `bandit_search`, of any number; None: as the run had.
        address: as of `bandit_search`; None: the run's.
        trust: call the function and join the cluster that the folder names, though they may run
            any code.
        note: as of `bandit_search`.
    Raises:
        RequestError: there is no run, or its function or cluster is not trusted.
    """
    folder = BanditFolder(path)
    stored = folder.read_request()
    try:
        request = BanditRequest(**stored)
    except (TypeError, ValueError) as error:
        raise RequestError(f"{folder.path} is damaged: {error}") from error
    if request.function.startswith((PYTHON_PREFIX, TASK_PREFIX)):
        require_trust(request.function.removeprefix(TASK_PREFIX), trust=trust)
    had, at = folder.read_placement()
    workers = had if workers is None else workers
    if workers and address is None:
        if at not in OWN_ADDRESSES:
            require_trusted("cluster", str(at), trust=trust)
        address = at
    run = PreparedRun(request, request.function, workers, address, note)
    folder.lock()
    return run.play(folder, new=False)


class PreparedRun:
    """A run whose settings were checked, and where it computes."""

    def __init__(
        self,
        request: BanditRequest,
        function: str | Callable[..., Any],
        workers: int,
        address: str | None,
        note: Callable[[str], None] = lambda _: None,
    ) -> None:
        check("rolecast.bandit_search", {"workers": workers}, {"workers": COUNT_OR_ZERO})
        if address is not None and not workers:
            raise RequestError(f"address is {address!r} and workers is 0; expected workers >= 1")
        self._request, self._workers, self._address = request, workers, address
        self._note = note
        self._make = function_maker(request, function)
        self._function = self._make()
        self._problem = BanditProblem(
            domain=self._function.domain,
            agents=request.agents,
            rounds=request.rounds,
            seed=request.seed,
            lengthscale=self._function.lengthscale,
        )
        config = method_config(request.method, request.settings)
        self._protocol: DuetsProtocol | None = None
        self._method: BanditMethod | None = None
        if workers and isinstance(config, DuetsMethodConfig):
            self._protocol = config.protocol(self._problem)
        else:
            self._method = config.build(self._problem)

    @contextmanager
    def _engine(self) -> Iterator[tuple[BanditMethod, Query]]:
        """Yield the method and its query, in this process or on Ray."""
        if self._method is not None and not self._workers:
            yield self._method, local_query(self._function, self._problem)
            return
        with signals_given_back():
            engine = import_module(RAY_ENGINE).RayEngine(
                self._problem,
                self._make,
                self._function.noise,
                protocol=self._protocol,
                workers=self._workers,
                address=self._address,
                note=self._note,
            )
        try:
            engine.wait_for_parties()
            yield self._method or engine.method, engine.query
        finally:
            engine.close()

    def play(self, folder: BanditFolder | None, *, new: bool) -> BanditResult:
        """Play to the end, and write the result where there is a folder.

        A new folder is made once the parties have a place: a run that cannot begin leaves none.
        """
        try:
            with ONE_THREAD(), self._engine() as (method, query):
                if folder is not None and new:
                    placement = {"workers": self._workers, "address": self._address}
                    folder.create(asdict(self._request), placement)
                recorded = [] if folder is None else folder.read_blocks(repair=True)
                trace = play(
                    method,
                    self._problem,
                    query,
                    optimum=self._function.optimum,
                    recorded=recorded,
                    record=None if folder is None else folder.append,
                    note=None if self._request.function in FUNCTION_NAMES else self._note,
                )
                result = _result(self._request, self._function, method, trace)
            if said := coarseness(result.epochs):
                self._note(said)
            if result.above_optimum:
                self._note(
                    f"the optimum is {result.above_optimum:.3g} below the greatest value that was "
                    "met, so regrets are too small; expected one that no value exceeds"
                )
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
    # A user's function is called N T times and no more: a call may cost an experiment.
    known = request.function in FUNCTION_NAMES
    value = float(function.values(incumbent[None])[0]) if known else None
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
        above_optimum=excess(trace.greatest, function.optimum),
        regret_by_round=None if trace.regret is None else trace.regret.tolist(),
        reals_by_round=trace.reals.tolist(),
    )
