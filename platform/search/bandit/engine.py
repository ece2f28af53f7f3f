"""Plays a bandit method against a function: queries, noise, regret and what was sent, by round."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from rolecast.core.errors import RequestError
from rolecast.core.types import Float
from rolecast.platform.optimizers.duets.coins import Coins
from rolecast.platform.search.bandit.functions import BanditFunction
from rolecast.platform.search.bandit.method import BanditMethod, BanditProblem

Indices = NDArray[np.int64]

NOISE_EPOCH = 0
"""Epoch of the coins that give the noise; those of methods count from 1."""


OPTIMUM_TOLERANCE: Final = 1e-6
"""Part of an optimum, or of 1 where that is more, by which a value may be above it."""

LARGEST_FIRST_SIZE: Final = 3.0
"""Root mean square of the first values above which an offset or a scale is asked for."""


@dataclass(frozen=True, eq=False)
class QueryBlock:
    """Queries that were asked for at once, in their order: by draw, then by agent."""

    points: Float
    """[q, d]."""

    exact: Float
    """Values without the noise that the engine adds, [q]."""

    observed: Float
    """Values that the method is told, [q]."""


@dataclass(frozen=True, eq=False)
class BanditTrace:
    """What a run came to, by round."""

    regret: Float | None
    """Cumulative regret of all agents after each round [T]; None where no optimum is known."""

    reals: Float
    """Real numbers sent until each round has ended, [T], the mean of an agent and the server."""

    greatest: float
    """Greatest exact value that was met."""


Query = Callable[[Float, int], QueryBlock]
"""From queries [q, d] and the number of those before to their block."""


def local_query(function: BanditFunction, problem: BanditProblem) -> Query:
    """Return the query of a function in this process."""
    return noisy_query(lambda points, _: function.values(points), function.noise, problem)


def noisy_query(
    values: Callable[[Float, Indices], Float], noise: float, problem: BanditProblem
) -> Query:
    """Return the query that adds noise to values.

    Args:
        values: from points [q, d] and the agents [q] that ask for them to exact values [q].
        noise: standard deviation.
        problem: of the run.
    """

    def query(points: Float, first: int) -> QueryBlock:
        agents, rounds = queries_from(first, len(points), problem.agents)
        exact = values(points, agents)
        observed = exact + noise * standard_noise(problem.seed, agents, rounds)
        require_finite(observed, first, problem.agents)
        return QueryBlock(points, exact, observed)

    return query


def queries_from(first: int, count: int, agents: int) -> tuple[Indices, Indices]:
    """Return agent and round [count] of the queries from `first` on: by round, then by agent."""
    rounds, owners = np.divmod(np.arange(first, first + count), agents)
    return owners, rounds


def standard_noise(seed: int, agents: Indices, rounds: Indices) -> Float:
    """Return standard normal numbers [P] of queries: by seed, agent [P] and round [P] alone."""
    coins = Coins(seed, NOISE_EPOCH, np.arange(int(agents.max(initial=0)) + 1))
    uniforms = coins.uniforms(agents, rounds, np.zeros(1, dtype=np.int64), 1)
    return np.asarray(ndtri(uniforms[:, 0, 0]))


def require_finite(values: Float, first: int, agents: int) -> None:
    """Refuse values that are no numbers.

    Raises:
        RequestError: names agent and round.
    """
    wrong = np.flatnonzero(~np.isfinite(values))
    if len(wrong):
        turn, agent = divmod(first + int(wrong[0]), agents)
        raise RequestError(
            f"agent {agent} answered {values[wrong[0]]} in round {turn + 1}; expected a finite "
            "number; the blocks before are kept"
        )


def misfit(values: Float) -> str:
    """Return a sentence on values far from those that methods presume; empty where they fit."""
    if np.sqrt(np.square(values).mean()) <= LARGEST_FIRST_SIZE:
        return ""
    return (
        f"the first values are {values.mean():.3g} ± {values.std():.2g}, and methods presume some "
        "about 0 of size about 1: the incumbent may be wrong; expected --offset and --scale"
    )


def excess(value: float, optimum: float | None) -> float:
    """Return by how much a value is more than the optimum; 0 within rounding, or without one."""
    if optimum is None or value - optimum <= OPTIMUM_TOLERANCE * max(1.0, abs(optimum)):
        return 0.0
    return value - optimum


def play(
    method: BanditMethod,
    problem: BanditProblem,
    query: Query,
    *,
    optimum: float | None,
    recorded: Sequence[QueryBlock] = (),
    record: Callable[[int, QueryBlock, Float], None] | None = None,
    note: Callable[[str], None] | None = None,
) -> BanditTrace:
    """Ask, query and tell until every agent has had its rounds.

    Args:
        method: fresh.
        problem: of the run.
        query: of blocks that are not recorded.
        optimum: greatest value of the function, or None.
        recorded: blocks of an earlier process, which are told and not queried again.
        record: keeps a block before it is told: number of queries before, block, incumbent.
        note: told where the first values are not of the size that methods presume.
    Raises:
        RequestError: a value is not finite, or recorded queries are not those of this method.
    """
    total, exact = problem.agents * problem.rounds, list[Float]()
    reals, done, waiting = np.zeros(problem.rounds), 0, list(recorded)
    while done < total:
        asked = method.ask()
        points = asked.swapaxes(0, 1).reshape(-1, asked.shape[-1])
        if waiting:
            block = waiting.pop(0)
            if not np.array_equal(block.points, points):
                raise RequestError("the recorded queries are of another run; expected its folder")
        else:
            block = query(points, done)
            if record is not None:
                record(done, block, method.incumbent)
        if note is not None and not done and (said := misfit(block.observed)):
            note(said)
        method.tell(block.observed.reshape(asked.shape[1], asked.shape[0]).T)
        exact.append(block.exact)
        done += len(points)
        # Of the round of the last query: `done` over N, rounded up.
        reals[-(-done // problem.agents) - 1 :] = method.ledger.reals
    values = np.concatenate(exact).reshape(problem.rounds, problem.agents)
    regret = None if optimum is None else np.cumsum((optimum - values).sum(1))
    return BanditTrace(regret, reals, float(values.max()))
