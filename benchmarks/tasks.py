"""What scripted policies earn in every task, and pictures of them, for the pages of tasks."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from rolecast.benchmarks.kept_rows import SET_KEY, commits_text
from rolecast.benchmarks.result_table import (
    ResultTable,
    Row,
    fill_regions,
    markdown_table,
    place,
    sets_text,
)
from rolecast.core.files import write_bytes
from rolecast.envs.mujoco.catalogue import NAMED_TASKS
from rolecast.envs.registry import FAMILIES, make_task, task_specs
from rolecast.envs.scripted import SCRIPTED, rollout_scripted
from rolecast.platform.reports.film.encode import STORYBOARD_FRAMES
from rolecast.platform.reports.film.options import Shot
from rolecast.platform.reports.film.render import render_scripted, write_rendering
from rolecast.platform.rollout.held_out import DEVELOPMENT_SET, SEALED_SET, held_out_seeds
from rolecast.platform.search.records.measurements import played_yardstick
from rolecast.tune_configs.main_table import TEAM_TEST_EPISODES

COMPILED_EPISODES: Final = TEAM_TEST_EPISODES
"""Of each scripted policy in a compiled task: those of the main table, which it is held against."""

OTHER_EPISODES: Final = 100
"""In one of MuJoCo, whose episodes are longer and slower."""

CHAIN_EPISODES: Final = 20
"""In a chain of segments, the slowest of all."""

TABLE_HEAD: Final = (
    "task",
    "agents",
    "observation",
    "action",
    "steps",
    "policy",
    "return",
    "episodes",
    "set",
)

REGION_BEGIN: Final = "<!-- returns: begin (written by `rolecast bench tasks`) -->"
REGION_END: Final = "<!-- returns: end -->"

DRAWN_TASKS: Final[Mapping[str, tuple[str, int]]] = MappingProxyType(
    {
        "pred_prey_6": ("chase", 25),
        "drone_delivery_6": ("expert", 150),
        "ant": ("random", 60),
        "hopper": ("random", 20),
        "swimmer": ("random", 300),
        "walker2d": ("random", 20),
        "manyagent_ant_4": ("random", 60),
        "manyagent_swimmer_6": ("random", 300),
    }
)
"""Task to the policy that is drawn, and its steps."""


@dataclass(frozen=True, kw_only=True)
class ScriptedRun:
    """A scripted policy in a task."""

    task: str
    """Task id."""

    policy: str
    """Name among the scripted policies."""

    episodes: int
    """Sealed episodes played."""

    @property
    def key(self) -> str:
        """Name of its row."""
        return f"{self.task} / {self.policy}"

    @property
    def names(self) -> Mapping[str, str]:
        """Names by kind of filter."""
        return {"task": self.task, "policy": self.policy}


def scripted_runs() -> list[ScriptedRun]:
    """Return every scripted policy in every listed task that it can play."""
    return [run for task_id in task_specs() for run in _runs_in(task_id, None)]


def quick_scripted_runs() -> list[ScriptedRun]:
    """Return few episodes of the smallest task of each family; shows that it works."""
    smallest = [f"{name}_{family.sizes[0]}" for name, family in FAMILIES.items()]
    return [run for task_id in (*smallest, *NAMED_TASKS) for run in _runs_in(task_id, 2)]


def _runs_in(task_id: str, episodes: int | None) -> list[ScriptedRun]:
    """Return the runs in a task; None plays as many episodes as its speed allows."""
    with closing(make_task(task_id)) as task:
        names = [name for name, script in SCRIPTED.items() if script.plays(task)]
        slow = CHAIN_EPISODES if task_id.startswith("manyagent") else OTHER_EPISODES
        count = episodes or (COMPILED_EPISODES if hasattr(task, "lanes") else slow)
    return [ScriptedRun(task=task_id, policy=name, episodes=count) for name in names]


def run_scripted(run: ScriptedRun) -> Row:
    """Play a scripted policy on the sealed set; return its row, JSON values."""
    spec = task_specs()[run.task]
    seeds = held_out_seeds(SEALED_SET, 0, run.episodes)
    with closing(make_task(run.task)) as task:
        returns, lengths = rollout_scripted(task, run.policy, seeds)
    earned = played_yardstick(run.policy, returns)
    return {
        "key": run.key,
        "task": run.task,
        "agents": spec.agents,
        "observation_size": spec.observation_size,
        "action_size": spec.action_size,
        "horizon": spec.horizon,
        "policy": run.policy,
        "mean": earned.mean,
        "stderr": earned.stderr,
        "episodes": run.episodes,
        "steps_mean": float(lengths.mean()),
        SET_KEY: SEALED_SET,
    }


def markdown(rows: Sequence[Row]) -> str:
    """Return the table of all results, a line for each policy in each task."""
    lines = [
        (
            f"`{row['task']}`",
            *(str(row[name]) for name in ("agents", "observation_size", "action_size", "horizon")),
            f"`{row['policy']}`",
            _number(row),
            f"{row['episodes']:,}",
            row.get(SET_KEY, DEVELOPMENT_SET),
        )
        for row in rows
    ]
    rule = ("---", *["---:"] * 4, "---", "---:", "---:", "---")
    return markdown_table(TABLE_HEAD, lines, rule) + "\n"


def write_page(rows: Sequence[Row], page: Path) -> None:
    """Fill the table of a page.

    Raises:
        RequestError: the page has no region for it.
    """
    write_bytes(page, fill_regions(page, (REGION_BEGIN, REGION_END, region(rows))))


def region(rows: Sequence[Row]) -> str:
    """Return what stands between the marks of a page: the table, its sets and its commits."""
    return f"{markdown(rows)}\nThe rows are of {sets_text(rows)}. {commits_text(rows)}\n"


def draw_all(
    folder: Path, tasks: Mapping[str, tuple[str, int]], note: Callable[[str], None]
) -> None:
    """Draw four moments of an episode of each task into a folder, ID.png.

    Raises:
        RequestError: this machine cannot draw a task, or the folder cannot be written.
    """
    for task_id, (script, steps) in tasks.items():
        rendering = render_scripted(
            script, task_id, Shot(steps=steps, most_frames=STORYBOARD_FRAMES)
        )
        write_rendering(rendering, folder / f"{task_id}.png")
        note(rendering.description)


def _number(found: Mapping[str, Any]) -> str:
    """Return a mean and its standard error, with the digits that the error leaves."""
    digits = 2 if found["stderr"] < 1.0 else 1
    return f"{found['mean']:.{digits}f} +- {found['stderr']:.{digits}f}"


TASK_ORDER: Final = [*task_specs()]

SCRIPTED_TABLE: Final[ResultTable[ScriptedRun]] = ResultTable(
    file="tasks.json",
    kinds=("task", "policy"),
    run=run_scripted,
    order=lambda row: (place(row["task"], TASK_ORDER), place(row["policy"], [*SCRIPTED])),
    line=_number,
    pages=lambda _: {},
)
