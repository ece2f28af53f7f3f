"""Return of searches with larger batches, at equal env steps and at equal forecast wall time.

With many workers and few episodes a batch, workers wait. A larger batch feeds them, and the model
learns less often. Times are forecasts of `rolecast plan` for W workers from costs measured here;
returns are of real searches, which are the same for any number of workers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from rolecast.benchmarks.result_table import markdown_table
from rolecast.benchmarks.timing import digits, returns_by_seed
from rolecast.platform.search.costs import measure
from rolecast.platform.search.forecast import forecast
from rolecast.platform.search.planning.config import SearchConfig
from rolecast.platform.search.planning.plan import make_plan

BATCH_FACTORS: Final = ((1, 1), (4, 1), (16, 1), (1, 4))
"""Candidates of a batch and episodes of a candidate, times those that the plan proposes."""

MANY_WORKERS: Final = 64
"""W of the forecast."""


@dataclass(frozen=True, kw_only=True)
class BatchRow:
    """A search whose batch is made larger."""

    task: str
    env_steps: int
    seeds: int
    test_episodes: int


BATCH_ROWS: Final = (
    BatchRow(task="pred_prey_3", env_steps=400_000, seeds=10, test_episodes=10_000),
)
"""A task of light episodes; heavy ones keep many workers busy in a batch of the plan."""

QUICK_BATCH_ROW: Final = BatchRow(task="pred_prey_3", env_steps=16_000, seeds=1, test_episodes=100)

Searched = Callable[[str, Sequence[str]], Mapping[str, Any]]
"""Runs `rolecast search TASK OPTIONS --json` and returns its answer."""


def compare_batches(
    searched: Searched, *, quick: bool, note: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Return what larger batches earn: a row for each task, factor and budget.

    Args:
        searched: runs a search.
        quick: one small search of each kind.
        note: told of each row.
    """
    rows = (QUICK_BATCH_ROW,) if quick else BATCH_ROWS
    factors = BATCH_FACTORS[:2] if quick else BATCH_FACTORS
    timed = [(row, _batches(row, factors)) for row in rows]  # before searches take the cores
    found: list[dict[str, Any]] = []
    for row, batches in timed:
        planned = batches[0]
        for batch in batches:
            budgets = {"equal env steps": (row.env_steps, batch.forecast_s)}
            if batch is not planned:
                longer = int(row.env_steps * planned.forecast_s / batch.forecast_s)
                budgets["equal time"] = longer, planned.forecast_s
            for budget, (env_steps, seconds) in budgets.items():
                returns = _returns(searched, row, env_steps, batch)
                found.append(
                    {
                        "task": row.task,
                        "batch_size": batch.size,
                        "episodes": batch.episodes,
                        "budget": budget,
                        "env_steps": env_steps,
                        "forecast_s": digits(seconds),
                        "seeds": row.seeds,
                        **returns_by_seed(returns),
                    }
                )
                shape = f"{batch.size} x {batch.episodes} a batch"
                note(f"{row.task}, {shape}, {budget}: {np.mean(returns):.1f}")
    return found


@dataclass(frozen=True)
class _Batch:
    """Candidates and episodes of a batch, and the expected seconds of a search with them."""

    size: int
    episodes: int
    forecast_s: float


def _batches(row: BatchRow, factors: Sequence[tuple[int, int]]) -> list[_Batch]:
    """Return the batch of the plan times each pair of factors."""
    planned = make_plan(SearchConfig(task=row.task, env_steps=row.env_steps))
    planned.task.close()
    shapes = [(planned.batch_size * more, planned.episodes * longer) for more, longer in factors]
    return [_Batch(*shape, _forecast_s(row, *shape)) for shape in shapes]


def _forecast_s(row: BatchRow, batch_size: int, episodes: int) -> float:
    """Return the expected seconds of a search with many workers."""
    plan = make_plan(
        SearchConfig(
            task=row.task, env_steps=row.env_steps, batch_size=batch_size, episodes=episodes
        )
    )
    (expected,) = forecast(plan, measure(plan), [MANY_WORKERS])
    plan.task.close()
    return float(expected.total_s)


def _returns(searched: Searched, row: BatchRow, env_steps: int, batch: _Batch) -> list[float]:
    """Return the held-out return of each seed."""
    options = {
        "--env-steps": env_steps,
        "--batch-size": batch.size,
        "--episodes": batch.episodes,
        "--test-episodes": row.test_episodes,
    }
    words = [str(word) for option in options.items() for word in option]
    return [
        float(searched(row.task, [*words, "--seed", str(seed)])["test_return"])
        for seed in range(row.seeds)
    ]


def markdown(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the part of the page that shows `compare_batches`."""
    head = ("task", "candidates", "episodes", "budget", "env steps", f"s, {MANY_WORKERS} workers")
    keys = ("task", "batch_size", "episodes", "budget", "env_steps", "forecast_s")
    return [
        "Larger batches: candidates, and episodes of each. The first row of a task is its plan.",
        f"Seconds are what `rolecast plan --workers {MANY_WORKERS}` expects. At equal time, the",
        "larger batch has as many env steps more as it takes to last as long as the plan's.",
        "",
        markdown_table(
            (*head, "seeds", "held-out return", "standard error"),
            (
                (
                    *(row[key] for key in keys),
                    row["seeds"],
                    row["return_mean"],
                    row["return_stderr"] or "-",
                )
                for row in found
            ),
        ),
        "",
    ]
