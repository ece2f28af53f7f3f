"""Wall time of bandits on a simulated cluster: unequal agents, delays, and links of a bandwidth.

The unit of time is the mean duration of a query. Agents go on alone between exchanges; at one all
wait for the slowest, and for the numbers to pass the links, which are alike and independent.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from rolecast.benchmarks.result_table import Row, markdown_table
from rolecast.core.types import Float
from rolecast.platform.search.bandit.functions import make_function
from rolecast.platform.search.bandit.run import BanditResult
from rolecast.tune_configs.duets_fig1 import FIGURE_BETAS, FIGURE_METHODS

LINK_BANDWIDTHS: Final = (1.0, 10.0, 100.0, 1000.0, 100_000.0)
"""Real numbers that a link carries while a query lasts."""

MESSAGE_LATENCY: Final = 0.02
"""Delay of a message, beside its numbers."""

LOG_DEVIATION: Final = 0.5
"""Deviation of the logarithms of agents' speeds, and of single durations."""

CLUSTER_METHODS: Final = tuple(name for name in FIGURE_METHODS if name != "asynckernelucb")
"""Without that whose agents never wait: its order of queries would depend on the durations."""

EXCHANGE_MESSAGES: Final[Mapping[str, int]] = MappingProxyType({"duets": 3})
"""Messages one after another in an exchange; 2 where none is said: up, and down."""

REGRET_WINDOW: Final = 5
"""Rounds over which regret is averaged."""

WANTED_SHARE: Final = 0.1
"""A method has arrived when its mean regret of a query is this share of a uniform point's."""

CLUSTER_FUNCTIONS: Final = ("h2", "branin", "hartmann4")

BETA_SEEDS: Final = 5
"""First seeds of the figure whose regret says which beta a method has here."""


def best_beta(rows: Sequence[Row]) -> tuple[float | None, list[Row]]:
    """Return the beta of the lowest mean regret at the end, and its rows.

    A beta with which a run failed is never the best; None, and no rows, where every beta has one.
    """
    by_beta = {beta: [row for row in rows if row["beta"] == beta] for beta in FIGURE_BETAS}
    means = {
        beta: float(np.mean([row["regret"][-1] for row in each]))
        for beta, each in by_beta.items()
        if each and not any("failed" in row for row in each)
    }
    if not means:
        return None, []
    best = min(means, key=lambda beta: means[beta])
    return best, by_beta[best]


def best_betas(rows: Sequence[Row]) -> dict[tuple[str, str], float]:
    """Return function and method to `best_beta` of the figure's first seeds, where all betas ran.

    Args:
        rows: of any parts.
    """
    figure = [row for row in rows if row["part"] == "figure" and row["seed"] < BETA_SEEDS]
    found = {}
    for names in product(CLUSTER_FUNCTIONS, CLUSTER_METHODS):
        own = [row for row in figure if (row["function"], row["method"]) == names]
        beta, _ = best_beta(own)
        if beta is not None and {row["beta"] for row in own} >= set(FIGURE_BETAS):
            found[names] = beta
    return found


def query_durations(agents: int, rounds: int, seed: int) -> Float:
    """Return durations [N, T] of mean 1: log-normal by agent, times log-normal by query."""
    rng = np.random.default_rng((agents, rounds, seed))
    speeds = rng.standard_normal((agents, 1))
    logs = LOG_DEVIATION * (speeds + rng.standard_normal((agents, rounds))) - LOG_DEVIATION**2
    return np.asarray(np.exp(logs))


def round_ends(
    durations: Float,
    exchanges: Sequence[tuple[int, float]],
    *,
    bandwidth: float,
    messages: int,
) -> Float:
    """Return when all agents have ended each round, [T].

    Args:
        durations: of the queries, [N, T].
        exchanges: rounds after which all exchange, and real numbers that pass a link then.
        bandwidth: real numbers a unit of time.
        messages: one after another in an exchange.
    """
    ends, clocks, done = np.empty(durations.shape[1]), np.zeros(len(durations)), 0
    for after, reals in [*exchanges, (durations.shape[1], 0.0)]:
        passed = clocks[:, None] + np.cumsum(durations[:, done:after], axis=1)
        if after > done:
            ends[done:after] = passed.max(0)
            clocks, done = passed[:, -1], after
        if reals:
            clocks = np.full_like(clocks, clocks.max())
            clocks += messages * MESSAGE_LATENCY + reals / bandwidth
    return np.asarray(ends)


def sequential_ends(durations: Float, reals: float, *, bandwidth: float) -> Float:
    """Return the same [T] where each query waits for the one before and `reals` pass a link."""
    each = durations + 2 * MESSAGE_LATENCY + reals / bandwidth
    return np.asarray(np.cumsum(each.sum(0)))


def exchanges_of(result: BanditResult) -> list[tuple[int, float]]:
    """Return the rounds after which a run exchanged, and what passed a link then."""
    found, done = [], 0
    for record in result.epochs:
        done = record["round"] if "round" in record else done + record["length"]
        found.append((int(done), float(record["uplink"] + record["downlink"])))
    return found


def arrival_times(result: BanditResult, seed: int) -> list[float | None]:
    """Return when a run arrives, by bandwidth; None where it does not within its rounds."""
    assert result.regret_by_round is not None
    lost = np.diff(result.regret_by_round, prepend=0.0) / result.agents
    means = np.convolve(lost, np.full(REGRET_WINDOW, 1.0 / REGRET_WINDOW), "valid")
    arrived = np.flatnonzero(means <= WANTED_SHARE * uniform_regret(result))
    if not len(arrived):
        return [None] * len(LINK_BANDWIDTHS)
    place = int(arrived[0]) + REGRET_WINDOW - 1
    durations = query_durations(result.agents, result.rounds, seed)
    exchanges = exchanges_of(result)
    messages = EXCHANGE_MESSAGES.get(result.method, 2)
    if result.method == "centralised":
        width = result.communication_reals / result.rounds
        ends = [sequential_ends(durations, width, bandwidth=each) for each in LINK_BANDWIDTHS]
    else:
        ends = [
            round_ends(durations, exchanges, bandwidth=each, messages=messages)
            for each in LINK_BANDWIDTHS
        ]
    return [float(each[place]) for each in ends]


def uniform_regret(result: BanditResult) -> float:
    """Return the mean regret of uniform points of the run's function."""
    function = make_function(result.function, seed=result.seed)
    assert function.optimum is not None
    cube = np.random.default_rng(0).random((1 << 14, function.domain.dimension))
    return function.optimum - float(function.values(function.domain.from_cube(cube)).mean())


def cluster_section(rows: Sequence[Row]) -> list[str]:
    """Return lines of the page."""
    text = [
        "## On a simulated cluster",
        "",
        f"Time until the mean regret of a query over {REGRET_WINDOW} rounds is a tenth of that of "
        "a uniform point, in mean durations of a query, by the real numbers that a link carries "
        "in that time; means over runs, and how many of them arrive within 50 rounds where not "
        "all do. N = 10; durations are log-normal, deviation 0.5 of logarithms by agent and again "
        f"by query; a message takes {MESSAGE_LATENCY} beside its numbers. Agents wait for each "
        "other at exchanges alone; `centralised` asks one query at a time. Each method has the "
        f"beta of its least regret in the first {BETA_SEEDS} runs of the figure.",
    ]
    for function in CLUSTER_FUNCTIONS:
        lines = []
        for method in CLUSTER_METHODS:
            names = (function, method)
            found = [row for row in rows if (row["function"], row["method"]) == names]
            if found:
                lines.append((f"`{method}`", *_times([row["times"] for row in found])))
        if lines:
            head = ("method", *(f"{each:,.0f} reals" for each in LINK_BANDWIDTHS))
            text += ["", f"### {function}, by bandwidth", "", markdown_table(head, lines)]
    return text


def _times(runs: Sequence[Sequence[Any]]) -> list[str]:
    texts = []
    for by_run in zip(*runs, strict=True):
        arrived = [time for time in by_run if time is not None]
        if not arrived:
            texts.append("never")
            continue
        some = "" if len(arrived) == len(by_run) else f" ({len(arrived)} of {len(by_run)})"
        texts.append(f"{np.mean(arrived):.0f}{some}")
    return texts
