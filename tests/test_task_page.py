"""The pages of tasks cover every task, and each number observed is the one they document."""

import re
from pathlib import Path
from typing import Any

import pytest

from rolecast.benchmarks.result_table import read_rows
from rolecast.benchmarks.tasks import DRAWN_TASKS, REGION_BEGIN, REGION_END, region
from rolecast.envs.mujoco.catalogue import NAMED_TASKS
from rolecast.envs.mujoco.models import load_model
from rolecast.envs.mujoco.task import MujocoTask
from rolecast.envs.registry import FAMILIES, make_task, task_specs

PAGE = Path(__file__).resolve().parent.parent / "docs" / "tasks.md"
TABLE = re.compile(r"<!-- observation: (\S+) -->\n((?:\|.*\n)+)")
PAGES = (PAGE, *sorted((PAGE.parent / "tasks").glob("*.md")))
"""The guide, and a page for each family of tasks."""

TEXT = "\n".join(page.read_text() for page in PAGES)
TABLES = dict(TABLE.findall(TEXT))
FORCE = "N m, N"
FLAT = ("pred_prey_3", "drone_delivery_3")
"""Tasks whose numbers come from no simulator of others."""


def units(task_id: str) -> list[str]:
    """Return the unit of each number observed, by the page, what it is cut to left out."""
    found: list[str] = []
    for line in TABLES[task_id].splitlines()[2:]:
        index, _, unit = (part.strip() for part in line.strip("|").split("|"))
        first, _, last = index.partition("-")
        assert int(first) == len(found), f"{task_id}: {line} does not go on where the last ended"
        found += [unit.partition(", cut")[0]] * (int(last or first) - int(first) + 1)
    return found


def units_of_state(model: Any) -> list[str]:
    """Return the unit of each column of a simulator's state, by the kinds of its joints."""
    positions: list[str] = []
    velocities: list[str] = []
    for joint in range(model.njnt):
        free, _, slide, _ = (model.jnt_type[joint] == kind for kind in range(4))
        if free:
            positions += ["m"] * 3 + ["1"] * 4
            velocities += ["m/s"] * 3 + ["rad/s"] * 3
        else:
            positions.append("m" if slide else "rad")
            velocities.append("m/s" if slide else "rad/s")
    return [*positions, *velocities, *[FORCE] * (6 * int(model.nbody))]


def test_every_task_has_its_numbers_on_a_page() -> None:
    smallest = {f"{name}_{family.sizes[0]}" for name, family in FAMILIES.items()}
    assert TABLES.keys() == (smallest | NAMED_TASKS.keys()) - {"het_pred_prey_3"}


@pytest.mark.parametrize("task_id", TABLES)
def test_the_page_counts_what_is_observed(task_id: str) -> None:
    assert len(units(task_id)) == make_task(task_id).spec.observation_size


@pytest.mark.parametrize("task_id", [each for each in TABLES if each not in FLAT])
def test_units_are_those_of_the_simulator(task_id: str) -> None:
    task = make_task(task_id)
    assert isinstance(task, MujocoTask)
    by_column = units_of_state(load_model(task.robot))
    agent = min(1, task.spec.agents - 1)  # the first at an end may see less
    columns = task._layout.seen[agent]
    assert units(task_id) == [by_column[column] for column in columns]


@pytest.mark.parametrize("option", sorted({o for f in FAMILIES.values() for o in f.options}))
def test_every_option_is_named(option: str) -> None:
    assert re.search(rf"`{option}\b", PAGE.read_text())


def test_the_guide_links_the_page_of_each_family() -> None:
    linked = re.findall(r"\]\((tasks/\w+\.md)\)", PAGE.read_text())
    assert {PAGE.parent / name for name in linked} == set(PAGES) - {PAGE}


def test_every_picture_of_the_pages_is_made_by_the_command_and_small() -> None:
    shown = [
        page.parent / name
        for page in PAGES
        for name in re.findall(r"\]\((\S+\.png)\)", page.read_text())
    ]
    assert {picture.stem for picture in shown} == DRAWN_TASKS.keys()
    assert max(picture.stat().st_size for picture in shown) < 60_000


def test_the_table_of_returns_is_that_of_the_measured_results() -> None:
    results = PAGE.parent / "results"
    text = (results / "tasks.md").read_text()
    written = text.partition(f"{REGION_BEGIN}\n")[2].partition(REGION_END)[0]
    rows = read_rows(results / "tasks.json")
    assert rows
    assert {row["task"] for row in rows} <= task_specs().keys()
    assert written == region(rows)
