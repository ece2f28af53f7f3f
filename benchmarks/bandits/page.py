"""Page and picture of `rolecast bench duets`: the paper's figure, and slopes of growth."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from matplotlib.figure import Figure

from rolecast.benchmarks.bandits.cells import (
    GROWING_AGENTS,
    GROWING_ROUNDS,
    BanditRun,
    run_cell,
    slope,
)
from rolecast.benchmarks.bandits.claim import claim_section
from rolecast.benchmarks.bandits.cluster import best_beta, best_betas, cluster_section
from rolecast.benchmarks.result_table import (
    ResultTable,
    Row,
    grouped,
    markdown_table,
    place,
    t_interval,
)
from rolecast.platform.reports.style import legend_lines, line_style, png
from rolecast.tune_configs.duets_fig1 import (
    FIGURE_BETAS,
    FIGURE_FUNCTIONS,
    FIGURE_METHODS,
    PAPER_METHODS,
)

PART_NAMES: Final = ("figure", "rounds", "agents", "server", "cluster")

THEOREM_SLOPES: Final[Mapping[str, str]] = {
    "regret": "1/2, and powers of log",
    "reals": "0, and powers of log",
}
"""Growth by Theorem 4.1 for the squared exponential, in N and in T."""


def markdown(rows: Sequence[Row]) -> str:
    """Return the page."""
    text = [
        "# Distributed bandits",
        "",
        "Written by `rolecast bench duets`; what the methods are and how they differ from their "
        "papers is in [bandits.md](../bandits.md) and `baselines/bandits/README.md`.",
    ]
    figure = _figure_rows(rows)
    if figure:
        text += ["", *_figure(figure)]
    growth = [
        row
        for part in ("rounds", "agents")
        for function in sorted({row["function"] for row in rows})
        for row in whole_seeds(
            row for row in rows if (row["part"], row["function"]) == (part, function)
        )
    ]
    if growth:
        text += ["", *_growth(growth)]
    server = whole_seeds(row for row in rows if row["part"] == "server")
    if server:
        text += ["", *_server(server)]
    betas = best_betas(rows)
    cluster = whole_seeds(
        row
        for row in rows
        if row["part"] == "cluster"
        and row["beta"] == betas.get((row["function"], row["method"]), row["beta"])
    )
    if cluster:
        text += ["", *cluster_section(cluster)]
    return "\n".join(text) + "\n"


def whole_seeds(rows: Iterable[Row]) -> list[Row]:
    """Return the rows of those seeds that have all cells which any seed has."""
    given = list(rows)
    names = ("part", "function", "method", "agents", "rounds", "beta")
    cells = grouped(given, *names).keys()
    seeds = grouped(given, "seed").items()
    whole = {seed for seed, mine in seeds if grouped(mine, *names).keys() == cells}
    return [row for row in given if (row["seed"],) in whole]


def _figure_rows(rows: Sequence[Row]) -> list[Row]:
    """Return whole seeds of the paper's methods together, and of every other by itself."""
    figure = [row for row in rows if row["part"] == "figure"]
    others = [(name,) for name in FIGURE_METHODS if name not in PAPER_METHODS]
    return [
        row
        for names in (PAPER_METHODS, *others)
        for row in whole_seeds(each for each in figure if each["method"] in names)
    ]


def _figure(rows: Sequence[Row]) -> list[str]:
    text = [
        "## The paper's figure",
        "",
        "N = 10, T = 50, noise of deviation 0.2. Cumulative regret and real numbers sent at the "
        "end: mean ± standard deviation over runs, at the beta of the lowest mean regret of each "
        "method; then the mean regret at every beta, and in brackets how many runs failed, as "
        "their region was trimmed to nothing: a beta with such a run is not chosen.",
    ]
    for function in FIGURE_FUNCTIONS:
        of_function = [row for row in rows if row["function"] == function]
        lines = []
        for method in FIGURE_METHODS:
            of_method = [row for row in of_function if row["method"] == method]
            if of_method:
                lines.append(_line(method, of_method))
        if lines:
            head = (
                "method",
                "runs",
                "beta",
                "regret",
                "reals",
                *(f"beta {b:g}" for b in FIGURE_BETAS),
            )
            text += ["", f"### {function}", "", markdown_table(head, lines)]
    claim = claim_section(rows, lambda each: best_beta(each)[1])
    picture = (
        "Lines are means over runs, bands their standard deviation on either side.\n\n"
        "![Regret and communication against rounds](duets.png)"
    )
    return [*text, "", *claim, *([""] if claim else []), picture]


def _line(method: str, rows: Sequence[Row]) -> tuple[str, ...]:
    beta, best = best_beta(rows)
    means = []
    for each in FIGURE_BETAS:
        of_beta = [row for row in rows if row["beta"] == each]
        found = [row["regret"][-1] for row in of_beta if "failed" not in row]
        failed = f" ({len(of_beta) - len(found)})" if len(found) < len(of_beta) else ""
        means.append((f"{np.mean(found):.0f}" if found else "") + failed)
    if beta is None:
        return (f"`{method}`", "0", "none: each has a failed run", "", "", *means)
    spreads = (_spread([row[value][-1] for row in best]) for value in ("regret", "reals"))
    return (f"`{method}`", str(len(best)), f"{beta:g}", *spreads, *means)


def _growth(rows: Sequence[Row]) -> list[str]:
    lines = []
    for part, size in (("rounds", "T"), ("agents", "N")):
        for function in sorted({row["function"] for row in rows}):
            cells = [row for row in rows if row["part"] == part and row["function"] == function]
            for value in ("regret", "reals"):
                slopes = _slopes(cells, part, value)
                if slopes:
                    means = _means(cells, part, value)
                    found = _interval(slopes)
                    lines.append((size, function[-1], value, *found, THEOREM_SLOPES[value], means))
    head = ("grows", "d", "of", "slope", "95 % interval", "theorem", "means by size")
    return [
        "## Growth of DUETS",
        "",
        "Slopes of log-log fits, one a seed, and the t interval of their mean. Functions of norm 1 "
        "in the space of a squared exponential of lengthscale 0.2, beta = 1, p_0 = 10. T is "
        f"{_list(GROWING_ROUNDS)} with N = 10; N is {_list(GROWING_AGENTS)} with T = 100.",
        "",
        markdown_table(head, lines),
        "",
        _cost(rows),
    ]


def _slopes(rows: Sequence[Row], size: str, value: str) -> list[float]:
    """Return a slope for each seed."""
    seeds = grouped(rows, "seed").values()
    return [slope(each, size, value) for each in seeds if len(each) > 1]


def _interval(slopes: Sequence[float]) -> tuple[str, str]:
    mean = f"{np.mean(slopes):.2f}"
    if len(slopes) < 2:
        return mean, ""
    low, high = t_interval(slopes)
    return mean, f"{low:.2f} to {high:.2f} ({len(slopes)})"


def _means(rows: Sequence[Row], size: str, value: str) -> str:
    sizes = sorted({row[size] for row in rows})
    means = [np.mean([row[value][-1] for row in rows if row[size] == each]) for each in sizes]
    return ", ".join(f"{mean:.0f}" for mean in means)


def _cost(rows: Sequence[Row]) -> str:
    most = max(row["agents"] * row["rounds"] for row in rows)
    seconds = [row["seconds"] for row in rows if row["agents"] * row["rounds"] == most]
    return (
        f"The longest runs have {most:,} queries and took {np.median(seconds):.0f} s of one core "
        "in the median, all parties in one process."
    )


def _server(rows: Sequence[Row]) -> list[str]:
    lines = []
    for points in sorted({row["agents"] * row["rounds"] for row in rows}):
        line = [f"{points:,}"]
        for function in ("bumps1", "bumps2"):
            cells = [row for row in rows if row["function"] == function]
            found = [row for row in cells if row["agents"] * row["rounds"] == points]
            line += [
                f"{np.mean([row[name] for row in found]):.{digits}f}" if found else ""
                for name, digits in (("seconds", 2), ("memory_mib", 0), ("inducing", 0))
            ]
        lines.append(line)
    names = ("seconds", "MiB", "inducing points")
    seeds = len({row["seed"] for row in rows})
    return [
        "## The server's epoch",
        "",
        "Seconds of one core, largest memory beside what the process had before, and inducing "
        f"points, of a first epoch of N T_j points of the whole unit cube; means over {seeds} "
        "seeds. Up to 1,500 points the covariance is factored as it is, in time N^3 T_j^3; above, "
        "a factor of low rank stands for it, in time linear in N T_j (squared exponential, "
        "lengthscale 0.2).",
        "",
        markdown_table(["N T_j", *(f"{name}, d = {d}" for d in (1, 2) for name in names)], lines),
    ]


def _list(sizes: Iterable[int]) -> str:
    return ", ".join(f"{size:,}" for size in sizes)


def _spread(values: Sequence[float]) -> str:
    return f"{np.mean(values):.0f} ± {np.std(values, ddof=1) if len(values) > 1 else 0:.0f}"


def picture(rows: Sequence[Row]) -> bytes:
    """Draw regret and communication against rounds, each method at its best beta."""
    functions = [name for name in FIGURE_FUNCTIONS if any(row["function"] == name for row in rows)]
    methods = [name for name in FIGURE_METHODS if any(row["method"] == name for row in rows)]
    drawing = Figure(figsize=(3.4 * len(functions), 6.0), layout="constrained")
    grid: Any = drawing.subplots(2, len(functions), squeeze=False)
    for column, function in enumerate(functions):
        for method in methods:
            cells = [row for row in rows if (row["function"], row["method"]) == (function, method)]
            _, best = best_beta(cells)
            if not best:
                continue
            style = line_style(methods.index(method))
            for line, value in enumerate(("regret", "reals")):
                curves = np.array([row[value] for row in best])
                middle, spread = curves.mean(0), curves.std(0, ddof=int(len(curves) > 1))
                axes = grid[line, column]
                rounds = best[0]["rounds_at"]
                axes.plot(rounds, middle, **style)
                axes.fill_between(
                    rounds, middle - spread, middle + spread, color=style["color"], alpha=0.15, lw=0
                )
        grid[0, column].set_title(function)
        grid[1, column].set_xlabel("round")
    grid[0, 0].set_ylabel("cumulative regret")
    grid[1, 0].set_ylabel("real numbers sent")
    handles = legend_lines(grid[0, 0], methods)
    drawing.legend(handles=handles, loc="outside lower center", ncols=len(methods))
    return png(drawing)


def pages(rows: Sequence[Row]) -> dict[str, bytes]:
    """Return the page, and the picture where there are rows of the figure."""
    figure = _figure_rows(rows)
    found = {"duets.md": markdown(rows).encode()}
    return found | ({"duets.png": picture(figure)} if figure else {})


def _outcome(row: Row) -> str:
    if row["part"] == "server":
        found = f"{row['memory_mib']:.0f} MiB, {row['inducing']:.0f} inducing points"
    elif row["part"] == "cluster":
        found = f"arrives at {row['times']}"
    elif "failed" in row:
        found = row["failed"]
    else:
        found = f"regret {row['regret'][-1]}, {row['reals'][-1]} reals"
    return f"{found}, {row['seconds']:.1f} s"


DUETS_TABLE: Final[ResultTable[BanditRun]] = ResultTable(
    file="duets.json",
    kinds=("part", "function", "method", "beta", "seed"),
    run=run_cell,
    order=lambda row: (
        place(row["part"], PART_NAMES),
        row["function"],
        place(row["method"], FIGURE_METHODS),
        row["beta"],
        row["agents"],
        row["rounds"],
        row["seed"],
    ),
    line=_outcome,
    pages=pages,
)
