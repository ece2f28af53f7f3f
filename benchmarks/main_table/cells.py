"""One cell of the result table: one search of one optimiser with one seed and one budget.

Each budget is a search of its own, because an optimiser's schedules follow the budget it is given:
the figure at 400,000 env steps is what a user gets who asks for 400,000.
"""

import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

MARKS: Final = (400_000, 800_000, 1_600_000)
"""Budgets of the predator-prey tasks, env steps."""

MUJOCO_MARKS: Final = (250_000, 1_000_000)
"""Budgets of the locomotion tasks, env steps."""


@dataclass(frozen=True, kw_only=True)
class Arena:
    """What is searched: a task, and a policy for it."""

    name: str
    """As the table names it."""

    task: str
    """Task id."""

    policy: str
    """Name of the policy."""

    policy_options: Mapping[str, Any] = field(default_factory=dict)
    """Its settings."""

    budgets: tuple[int, ...] = MARKS
    """Env steps, one search each."""

    test_episodes: int = 1000
    """Fresh episodes of the held-out evaluation; episodes of MuJoCo take forty times the steps."""

    scripted: bool = True
    """Whether the scripted policies `chase` and `random` play this task."""


@dataclass(frozen=True, kw_only=True)
class Contestant:
    """Who searches: an optimiser with its settings."""

    name: str
    """As the table names it."""

    optimizer: str
    """Name in the registry."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    """What differs from its defaults."""


ARENAS: Final = (
    Arena(name="pred_prey_3", task="pred_prey_3", policy="hom"),
    Arena(
        name="pred_prey_3 with role net",
        task="pred_prey_3",
        policy="hom",
        policy_options={"role_assignment": True},
    ),
    Arena(name="het_pred_prey_3", task="het_pred_prey_3", policy="hom"),
    Arena(name="pred_prey_6", task="pred_prey_6", policy="hom"),
    *(
        Arena(
            name=name,
            task=task,
            policy=policy,
            budgets=MUJOCO_MARKS,
            test_episodes=20,
            scripted=False,
        )
        for name, task, policy in (
            ("Swimmer-v5", "gym:Swimmer-v5", "mlp"),
            ("Hopper-v5", "gym:Hopper-v5", "mlp"),
            ("walker2d", "walker2d", "mlp"),
            ("ant", "ant", "mlp"),
            ("ma_ant_4x2", "ma_ant_4x2", "hom"),
        )
    ),
)
"""The first is the main one: README quotes it."""

CONTESTANTS: Final = (
    Contestant(name="dss_gp_ucb", optimizer="dss_gp_ucb"),
    Contestant(name="local_gp", optimizer="local_gp"),
    Contestant(
        name="local_gp, start unheeded", optimizer="local_gp", settings={"heed_start": False}
    ),
    Contestant(name="cmaes separable", optimizer="cmaes", settings={"separable": True}),
    Contestant(name="cmaes full", optimizer="cmaes", settings={"separable": False}),
    Contestant(
        name="dss_gp_ucb paper", optimizer="dss_gp_ucb", settings={"configuration": "paper"}
    ),
    Contestant(name="gp_ucb", optimizer="gp_ucb"),
    Contestant(name="random", optimizer="random"),
)


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One search, and the held-out evaluation of what it returns."""

    arena: Arena
    contestant: Contestant
    env_steps: int
    """Budget."""

    seed: int
    """Root seed of the search."""

    test_episodes: int = 1000
    """Fresh episodes of the held-out evaluation."""

    @property
    def key(self) -> str:
        """What tells this cell from all others."""
        return f"{self.arena.name} / {self.contestant.name} / {self.env_steps} / {self.seed}"


def search_cell(cell: Cell, folder: Path) -> float:
    """Search as a cell says, in this process, into a folder; return the seconds it took.

    Raises:
        RequestError: the optimiser or the policy does not have such settings.
        RunError: the search failed.
    """
    from rolecast.platform.search.run import search

    start = time.perf_counter()
    search(
        task=cell.arena.task,
        policy=cell.arena.policy,
        policy_options=dict(cell.arena.policy_options),
        optimizer=cell.contestant.optimizer,
        optimizer_settings=dict(cell.contestant.settings),
        env_steps=cell.env_steps,
        seed=cell.seed,
        workers=0,
        test_episodes=1,
        out=str(folder),
    )
    return time.perf_counter() - start


def run_cell(cell: Cell) -> dict[str, Any]:
    """Search, evaluate, and return one row of the table, JSON values; see `search_cell`."""
    from rolecast import __version__
    from rolecast.platform.rollout.evaluate import evaluate

    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "run"
        seconds = search_cell(cell, folder)
        held_out = evaluate(folder, episodes=cell.test_episodes)
    return {
        "key": cell.key,
        "arena": cell.arena.name,
        "task": cell.arena.task,
        "policy": cell.arena.policy,
        "policy_options": dict(cell.arena.policy_options),
        "contestant": cell.contestant.name,
        "optimizer": cell.contestant.optimizer,
        "settings": dict(cell.contestant.settings),
        "env_steps": cell.env_steps,
        "seed": cell.seed,
        "episode_return_mean": held_out.episode_return_mean,
        "episode_return_stderr": held_out.episode_return_stderr,
        "test_episodes": cell.test_episodes,
        "search_seconds": round(seconds, 2),
        "rolecast": __version__,
    }
