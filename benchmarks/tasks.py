"""What scripted policies earn in every task, and pictures of them: the figures of docs/tasks.md."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from rolecast.benchmarks.table_text import fill_region, table
from rolecast.core.files import read_json, write_bytes, write_json
from rolecast.envs.mujoco.catalogue import NAMED_TASKS
from rolecast.envs.registry import FAMILIES, make_task, task_specs
from rolecast.envs.scripted import SCRIPTED
from rolecast.platform.reports.film.encode import STORYBOARD_FRAMES
from rolecast.platform.reports.film.options import Shot
from rolecast.platform.reports.film.render import render_scripted, write_rendering
from rolecast.platform.rollout.evaluate import evaluate

COMPILED_EPISODES: Final = 1000
"""Of each scripted policy in a compiled task."""

OTHER_EPISODES: Final = 100
"""In one of MuJoCo, whose episodes are longer and slower."""

CHAIN_EPISODES: Final = 20
"""In a chain of segments, the slowest of all."""

QUICK_EPISODES: Final = 2

TABLE_HEAD: Final = (
    "task",
    "agents",
    "observation",
    "action",
    "steps",
    "policy",
    "return",
    "episodes",
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


def task_list(*, quick: bool) -> list[str]:
    """Return the ids measured: all that are listed; quick, the smallest of each family."""
    if quick:
        return [*(f"{name}_{family.sizes[0]}" for name, family in FAMILIES.items()), *NAMED_TASKS]
    return [*task_specs()]


def measure_all(path: Path, *, quick: bool, note: Callable[[str], None]) -> dict[str, Any]:
    """Evaluate every scripted policy in every task that it can play, on held-out episodes.

    Args:
        path: JSON file of the results; a task that it has with as many episodes is not played
            again, each other one is written to it at once.
        quick: few episodes of few tasks; says nothing, shows that it works.
        note: told of each policy that is evaluated.
    Returns:
        JSON values: task id to its sizes, its source and `returns`: policy to mean, standard error,
        episodes and mean steps of an episode.
    """
    kept = read_json(path) if path.is_file() else {}
    specs, results = task_specs(), dict[str, Any]()
    for task_id in task_list(quick=quick):
        episodes = _episodes(task_id, quick=quick)
        row = kept.get(task_id)
        known = {} if row is None else row["returns"]
        current = set(known) == set(_players(task_id))
        if not current or any(each["episodes"] != episodes for each in known.values()):
            row = {**asdict(specs[task_id]), "returns": _returns(task_id, episodes, note)}
        results[task_id] = row
        write_json(path, results | {each: kept[each] for each in kept if each not in results})
    return results


def _episodes(task_id: str, *, quick: bool) -> int:
    """Return how many episodes of a task are played."""
    if quick:
        return QUICK_EPISODES
    task = make_task(task_id)
    if hasattr(task, "lanes"):
        return COMPILED_EPISODES
    return CHAIN_EPISODES if task_id.startswith("manyagent") else OTHER_EPISODES


def _players(task_id: str) -> list[str]:
    """Return the scripted policies that can play a task."""
    task = make_task(task_id)
    names = [name for name, script in SCRIPTED.items() if script.plays(task)]
    task.close()
    return names


def _returns(task_id: str, episodes: int, note: Callable[[str], None]) -> dict[str, Any]:
    """Return what each scripted policy that can play a task earns."""
    returns = {}
    for name in _players(task_id):
        found = evaluate(name, task=task_id, episodes=episodes)
        returns[name] = {
            "mean": found.episode_return_mean,
            "stderr": found.episode_return_stderr,
            "episodes": found.episodes,
            "steps_mean": found.env_steps / found.episodes,
        }
        note(f"{task_id}, {name}: {_number(returns[name])}")
    return returns


def markdown(results: Mapping[str, Any]) -> str:
    """Return the table of all results, a line for each policy in each task."""
    lines = [TABLE_HEAD, ("---", *["---:"] * 4, "---", "---:", "---:")]
    for task_id, row in results.items():
        sizes = [row[name] for name in ("agents", "observation_size", "action_size", "horizon")]
        lines += [
            (
                f"`{task_id}`",
                *map(str, sizes),
                f"`{name}`",
                _number(found),
                f"{found['episodes']:,}",
            )
            for name, found in row["returns"].items()
        ]
    return table(lines) + "\n"


def write_page(results: Mapping[str, Any], page: Path) -> None:
    """Fill the table of a page.

    Raises:
        RequestError: the page has no region for it.
    """
    write_bytes(page, fill_region(page, REGION_BEGIN, REGION_END, markdown(results)))


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
