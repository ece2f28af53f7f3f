"""The tables of a comparison: end returns in the layout of the paper's, and every trial.

Each is made once, as a frame for a CSV file; the HTML is written from the frame.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pandas as pd
from markupsafe import Markup

from rolecast.core.rounding import mean_and_error
from rolecast.platform.reports.comparison.groups import Groups, MethodTrials
from rolecast.platform.reports.comparison.improvement import Improvement
from rolecast.platform.reports.comparison.paper import PaperNumber, paper_number
from rolecast.platform.reports.comparison.statistics import (
    LEAST_SEEDS_OF_INTERVAL,
    SUMMARY_STATISTICS,
    Estimate,
    estimate,
    told_apart,
)
from rolecast.platform.reports.page import results_table
from rolecast.platform.tuning.methods import Method, SearchMethod

ALL_REWARDS: Final = "all rewards"
"""Row of a task over all its reward settings, of the seeds that finished in each of them."""

LEAST_RETURN: Final = 1e-12
"""Size of a return or an error below which it is written as 0."""

RESULT_COLUMNS: Final = (
    "task", "reward", "method", "policy", "seeds", "failed", "unfinished", "mean", "stderr",
    "mean_low", "mean_high", "IQM", "IQM_low", "IQM_high", "best", "best_so_far", "paper_mean",
    "paper_stderr", "paper_best_so_far", "paper_table", "paper_mistake",
)  # fmt: skip


def results(whole: Groups) -> pd.DataFrame:
    """Return one row a task, reward and method: the held-out return at the end, over seeds.

    A row's `best` says whether it is not told apart from the highest mean of its setting: the 95 %
    interval of the probability that the one is better holds one half, or there is none, as seeds
    are too few. `best_so_far` is as in the
    paper's tables 7 and 8: the highest return on the way, which it is chosen by; mean over seeds.
    Nothing else is chosen. The rows of `ALL_REWARDS` are over the rewards of a task, of the seeds
    of a method that finished in each of them; a method without such a seed has none.
    """
    rows = []
    for task in whole.tasks:
        rewards = whole.rewards(task)
        for reward in rewards:
            line = [_result(whole, task, reward, method) for method in whole.methods]
            rows += _with_best(whole, [reward], [row for row in line if row is not None])
        if len(rewards) > 1:
            over_all = [_over_rewards(whole, task, rewards, method) for method in whole.methods]
            rows += _with_best(whole, rewards, [row for row in over_all if row is not None])
    return pd.DataFrame(rows, columns=list(RESULT_COLUMNS))


def _result(whole: Groups, task: str, reward: str, method: str) -> dict[str, Any] | None:
    cell = whole.cells.get((task, reward, method))
    if cell is None:
        return None
    printed = [
        paper_number(task, reward, *_paper_name(whole.kinds[method]), best_so_far=best)
        for best in (False, True)
    ]
    return {
        "task": task,
        "reward": reward,
        **_counts([cell]),
        **_figures([cell.finals] if len(cell.finals) else []),
        **({"best_so_far": float(cell.highest.mean())} if len(cell.highest) else {}),
        **_printed(*printed),
    }


def _over_rewards(
    whole: Groups, task: str, rewards: Sequence[str], method: str
) -> dict[str, Any] | None:
    strata = whole.complete_strata([(task, reward) for reward in rewards], method)
    if not strata:
        return None
    return {
        "task": task,
        "reward": ALL_REWARDS,
        **_counts([whole.cells[task, reward, method] for reward in rewards]),
        "seeds": len(strata[0]),
        **_figures(strata),
    }


def _counts(cells: Sequence[MethodTrials]) -> dict[str, Any]:
    """Return what cells of one method are, and how their trials ended."""
    failed = sum(cell.count("failed") for cell in cells)
    finished = sum(len(cell.finals) for cell in cells)
    return {
        "method": cells[0].method,
        "policy": cells[0].trials[0].policy,
        "seeds": finished,
        "failed": failed,
        "unfinished": sum(len(cell.trials) for cell in cells) - finished - failed,
    }


def _paper_name(method: Method) -> tuple[str, str]:
    """Return the name and size of a method in the paper's numbers."""
    if isinstance(method, SearchMethod):
        return method.optimizer, method.policy
    return method.algorithm, method.policy


def _figures(strata: Sequence[Any]) -> dict[str, float]:
    """Return mean, IQM and their intervals; the standard error of a single stratum's mean."""
    found: dict[str, float] = {}
    for name in SUMMARY_STATISTICS if strata else ():
        one = estimate(strata, name)
        found[name] = float(one.value)
        if one.low is not None and one.high is not None:
            found[f"{name}_low"], found[f"{name}_high"] = float(one.low), float(one.high)
    error = mean_and_error(np.asarray(strata[0]))[1] if len(strata) == 1 else None
    return found if error is None else found | {"stderr": error}


def _printed(last: PaperNumber | None, best: PaperNumber | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if last is not None:
        found |= {
            "paper_mean": last.mean,
            "paper_stderr": np.nan if last.stderr is None else last.stderr,
            "paper_table": last.table,
            "paper_mistake": last.mistake,
        }
    if best is not None:
        found["paper_best_so_far"] = best.mean
    return found


def _with_best(
    whole: Groups, rewards: Sequence[str], rows: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Mark the rows of a task over some rewards that are not told apart from the best of them.

    Methods of too few seeds to be told apart count only where no method has more: one lucky seed
    would make all others as good.
    """
    strata = {
        row["method"]: whole.complete_strata(
            [(row["task"], reward) for reward in rewards], row["method"]
        )
        for row in rows
        if "mean" in row
    }
    enough = {
        method: each
        for method, each in strata.items()
        if min(map(len, each)) >= LEAST_SEEDS_OF_INTERVAL
    }
    judged = enough or strata
    means = {row["method"]: row["mean"] for row in rows if row["method"] in judged}
    leader = max(means, key=lambda method: means[method], default=None)

    def ties(method: str) -> bool:
        if leader is None or method not in means:
            return False
        if means[method] == means[leader]:
            return True
        return not told_apart([*zip(judged[leader], judged[method], strict=True)])

    return [row | {"best": ties(row["method"])} for row in rows]


def results_html(frame: pd.DataFrame, task: str, methods: Sequence[str]) -> Markup:
    """Return the table of one task: a row a reward, a column a method.

    Bold is what is not told apart from the best of its row, each method by itself.

    Args:
        frame: from `results`.
        task: which.
        methods: columns, in order.
    """
    mine = frame[frame["task"] == task]
    columns = [method for method in methods if method in set(mine["method"])]
    rows = []
    for reward in dict.fromkeys(mine["reward"]):
        line = mine[mine["reward"] == reward].set_index("method")
        most = int(line["seeds"].max())
        cells = [
            _cell(line.loc[method], most) if method in line.index else None for method in columns
        ]
        rows.append((str(reward), cells))
    return results_table(columns, rows)


def _cell(row: "pd.Series[Any]", most: int) -> dict[str, Any]:
    """Return a cell: mean (standard error), IQM and interval, seeds where they are not all."""
    missing = [f"{row[name]} {name}" for name in ("failed", "unfinished") if row[name]]
    if not row["seeds"]:
        main, notes = "–", missing
    else:
        error = "" if np.isnan(row["stderr"]) else f" ({number(row['stderr'])})"
        main = f"{number(row['mean'])}{error}"
        notes = [f"IQM {_interval(row['IQM'], row['IQM_low'], row['IQM_high'])}"]
        if missing or row["seeds"] < most:
            notes.append(
                ", ".join([f"{row['seeds']} seed{'' if row['seeds'] == 1 else 's'}", *missing])
            )
    if not np.isnan(row["paper_mean"]):
        notes.append(f"paper {_paper_text(row)}")
    return {"main": main, "best": bool(row["seeds"] and row["best"]), "notes": notes}


def _paper_text(row: "pd.Series[Any]") -> str:
    error = "" if np.isnan(row["paper_stderr"]) else f" ({number(row['paper_stderr'])})"
    best = row["paper_best_so_far"]
    so_far = "" if best == row["paper_mean"] else f"; best so far {number(best)}"
    if so_far and not np.isnan(row["best_so_far"]):
        so_far += f", ours {number(row['best_so_far'])}"
    return f"{number(row['paper_mean'])}{error}{' [?]' if row['paper_mistake'] else ''}{so_far}"


def _interval(value: float, low: float, high: float) -> str:
    ends = "-" if np.isnan(low) else f"{number(low)}, {number(high)}"
    return f"{number(value)} [{ends}]"


def number(value: float) -> str:
    """Write a return with as many digits as its size deserves: 1,147, 135.4, 0.21, 0.00044."""
    if abs(value) >= 999.95:
        return f"{value:,.0f}"
    if LEAST_RETURN < abs(value) < 0.0995:
        return f"{value:.2g}"
    return f"{value:.1f}" if abs(value) >= 9.995 else f"{value:.2f}"


def curves(whole: Groups) -> pd.DataFrame:
    """Return the lines of the pictures: one row a cell, statistic and point."""
    frames = [
        pd.DataFrame(vars(trace)).assign(
            task=cell.task, reward=cell.reward, method=cell.method, statistic=statistic
        )
        for cell in whole.cells.values()
        for statistic, trace in cell.traces.items()
    ]
    where = ["env_steps", "policy_evaluations", "wall_time_s"]
    columns = ["task", "reward", "method", "statistic", *where, "seeds", "value", "low", "high"]
    if not frames:
        return pd.DataFrame(columns=columns)
    return pd.concat(frames, ignore_index=True)[columns]


def trials(whole: Groups) -> pd.DataFrame:
    """Return one row a trial, planned, running, failed or finished, in planned order.

    Whole numbers stay whole (Int64) where another trial has none.
    """
    names = ("env_steps", "policy_evaluations", "wall_time_s", "test_return", "test_return_stderr")
    return pd.DataFrame(
        [
            {
                "trial": trial.name,
                "task": trial.task,
                "reward": trial.reward,
                "method": trial.method,
                "policy": trial.policy,
                "parameters": trial.parameters,
                "seed": trial.seed,
                "status": trial.status,
                **{name: None if trial.last is None else trial.last[name] for name in names},
                "env_steps_per_second": trial.steps_per_second,
                "error": trial.error,
            }
            for trial in whole.trials
        ]
    ).astype(dict.fromkeys(("parameters", "env_steps", "policy_evaluations"), "Int64"))


def improvement_rows(found: Sequence[Improvement]) -> pd.DataFrame:
    """Return one row a pair and setting."""
    return pd.DataFrame(
        [
            {
                "ours": each.ours,
                "theirs": each.theirs,
                "task": each.task,
                "reward": each.reward,
                "settings": each.settings,
                "seeds_ours": each.seeds[0],
                "seeds_theirs": each.seeds[1],
                **_share(each.estimate),
            }
            for each in found
        ]
    )


def _share(found: Estimate | None) -> dict[str, float]:
    if found is None:
        return {"probability": np.nan, "low": np.nan, "high": np.nan}
    if found.low is None or found.high is None:
        return {"probability": float(found.value), "low": np.nan, "high": np.nan}
    return {
        "probability": float(found.value),
        "low": float(found.low),
        "high": float(found.high),
    }
