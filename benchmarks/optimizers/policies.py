"""The optimisers' table on policies: what the graph is worth where nobody knows the true one.

Each cell is a whole search of predator-prey; what is recorded along its way is the held-out return
of the incumbent, on the same fresh episodes for all.
"""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from rolecast.benchmarks import resumable
from rolecast.benchmarks.main_table.cells import ARENAS, Arena, Cell, Contestant, search_cell
from rolecast.benchmarks.resumable import Row, by_table
from rolecast.core.seeds import Purpose, episode_seeds
from rolecast.envs.registry import make_task
from rolecast.platform.rollout.rollout import rollout
from rolecast.platform.search.run_folder import RunFolder
from rolecast.policies.artefact import load_policy

KIND: Final = "policy"
"""Kind of these problems, for filters."""

MARKS: Final = 12
"""Places along the budget, evenly spaced, at which the incumbent is evaluated."""

ENV_STEPS: Final = 800_000
QUICK_STEPS: Final = 24_000
TASKS: Final = ("pred_prey_3", "het_pred_prey_3")
HELD_OUT: Final = 1
"""Which set of held-out episodes."""

CONTESTANTS: Final = (
    Contestant(name="random", optimizer="random"),
    Contestant(name="cmaes separable", optimizer="cmaes"),
    Contestant(name="cmaes full", optimizer="cmaes", settings={"separable": False}),
    Contestant(name="local, none", optimizer="local_gp"),
    Contestant(name="local, found", optimizer="dss_gp_ucb"),
    Contestant(name="local, random", optimizer="dss_gp_ucb", settings={"structure": "random"}),
    Contestant(name="global, none", optimizer="gp_ucb"),
)
"""As on functions, with the settings that a search of a policy has; no true graph is known."""


def all_cells(seeds: int) -> list[Cell]:
    """Return the cells of the whole table; those of one task and seed follow each other."""
    return [
        _cell(arena, contestant, ENV_STEPS, seed)
        for arena in ARENAS
        if arena.name in TASKS
        for seed in range(seeds)
        for contestant in CONTESTANTS
    ]


def quick_cells() -> list[Cell]:
    """Return a table of seconds that says nothing, to see that the command works."""
    return [
        _cell(ARENAS[0], contestant, QUICK_STEPS, seed, test_episodes=50)
        for seed in range(2)
        for contestant in CONTESTANTS
        if contestant.name in {"random", "local, none", "local, found"}
    ]


def _cell(
    arena: Arena, contestant: Contestant, env_steps: int, seed: int, *, test_episodes: int = 1000
) -> Cell:
    return Cell(
        arena=arena,
        contestant=contestant,
        env_steps=env_steps,
        seed=seed,
        test_episodes=test_episodes,
    )


def run_missing(
    cells: Sequence[Cell], path: Path, *, processes: int, note: Callable[[str], None]
) -> list[Row]:
    """Run the cells that a results file lacks; return all its rows; see `resumable.run_missing`."""
    tasks = [arena.name for arena in ARENAS]
    contestants = [contestant.name for contestant in CONTESTANTS]
    return resumable.run_missing(
        cells,
        path,
        run=run_cell,
        order=by_table(tasks, contestants),
        line=lambda row: f"return {row['returns'][-1]:.1f} in {row['seconds'][-1]:.0f} s",
        processes=processes,
        note=note,
    )


def run_cell(cell: Cell) -> dict[str, Any]:
    """Search to the end of the budget; return one row of the table, JSON values.

    `returns` and their `stderrs` are of the incumbent after each of `evaluations` and `env_steps`;
    the last is what the search hands over. `seconds` is wall time of the search up to there.

    Raises:
        RunError: the search failed.
    """
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "run"
        search_cell(cell, folder)
        batches = RunFolder.open(folder).read_batches()
        policy = load_policy(folder / "policy").policy
    steps = np.array([batch.spent_after.env_steps for batch in batches])
    wanted = np.arange(1, MARKS) * cell.env_steps / MARKS
    places = np.minimum(np.searchsorted(steps, wanted), len(batches) - 1)
    marked = [*(batches[place] for place in places), batches[-1]]
    weights = policy.space.weights(np.stack([batch.incumbent for batch in marked]))
    seeds = episode_seeds(0, Purpose.HELD_OUT, HELD_OUT, cell.test_episodes)
    task = make_task(cell.arena.task)
    try:
        returns = rollout(task, policy, weights, seeds).returns
    finally:
        task.close()
    errors = returns.std(axis=1, ddof=1) / np.sqrt(cell.test_episodes)
    return {
        "key": cell.key,
        "problem": cell.arena.name,
        "contestant": cell.contestant.name,
        "optimizer": cell.contestant.optimizer,
        "settings": dict(cell.contestant.settings),
        "seed": cell.seed,
        "test_episodes": cell.test_episodes,
        "evaluations": [batch.spent_after.evaluations for batch in marked],
        "env_steps": [batch.spent_after.env_steps for batch in marked],
        "returns": [round(float(mean), 3) for mean in returns.mean(axis=1)],
        "stderrs": [round(float(error), 3) for error in errors],
        "seconds": [round(batch.wall_time_s, 2) for batch in marked],
    }
