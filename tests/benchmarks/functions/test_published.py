"""The competitors' table: functions as printed, honest regrets, resumption, printed figures."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from botorch.test_functions.synthetic import (
    Ackley,
    Branin,
    Hartmann,
    Levy,
    Rosenbrock,
    StyblinskiTang,
)
from scipy.optimize import minimize

from rolecast.benchmarks.functions.literature import (
    PUBLISHED_FUNCTIONS,
    PUBLISHED_PROBLEMS,
    embedded,
    published_problem,
    rover,
)
from rolecast.benchmarks.functions.published import (
    PUBLISHED_TABLE,
    REGRET_PLACES,
    markdown,
    published,
    published_methods,
    published_runs,
    quick_published_runs,
)
from rolecast.benchmarks.functions.runs import FunctionRun
from rolecast.core.errors import RequestError
from rolecast.core.types import Float
from rolecast.platform.optimizers.registry import BASELINES, make_optimizer

BOX = [(-5.0, 10.0)] * 4
THEIRS: dict[str, Any] = {
    "branin": Branin(),
    "hartmann6": Hartmann(),
    "ackley": Ackley(dim=4, bounds=BOX),
    "levy": Levy(dim=4, bounds=BOX),
    "rosenbrock": Rosenbrock(dim=4, bounds=BOX),
    "styblinski_tang": StyblinskiTang(dim=4),
}


@pytest.mark.parametrize("kind", THEIRS)
def test_functions_are_those_of_botorch_over_the_box_named(kind: str) -> None:
    theirs = THEIRS[kind]
    low, high = theirs.bounds.double().numpy()
    points = np.random.default_rng(0).random((50, len(low)))
    expected = -theirs(torch.tensor(low + (high - low) * points)).numpy()
    np.testing.assert_allclose(
        PUBLISHED_FUNCTIONS[kind].value(points), expected, rtol=1e-6, atol=1e-6
    )
    optimum = PUBLISHED_FUNCTIONS[kind].greatest(len(low))
    assert optimum == pytest.approx(-theirs.optimal_value, abs=1e-3)


@pytest.mark.parametrize("kind", THEIRS)
def test_no_function_exceeds_its_optimum_and_none_is_best_in_the_middle(kind: str) -> None:
    known = PUBLISHED_FUNCTIONS[kind]
    inputs = known.inputs or 4

    def loss(point: Float) -> float:
        return -float(known.value(point[None])[0])

    starts = np.random.default_rng(1).random((30, inputs))
    box = [(0.0, 1.0)] * inputs
    found = max(-float(minimize(loss, start, bounds=box).fun) for start in starts)
    assert found <= known.greatest(inputs) + 1e-9
    assert known.value(np.full((1, inputs), 0.5))[0] < known.greatest(inputs) - 0.1


def straight(bends: float = 0.0) -> Float:
    """Return points of a way along the diagonal, or off it by some."""
    line = (np.linspace(0.05, 0.95, 30) + 0.1) / 1.2
    way = np.stack([line, line + bends * np.sin(3.0 * np.arange(30))], axis=1)
    return np.asarray(way.reshape(1, 60))


def test_a_rover_pays_for_its_way_for_obstacles_and_for_missing_its_ends() -> None:
    """A way along the diagonal, of length 0.9 sqrt(2), hits some of the hundred obstacles."""
    earned = float(rover(straight())[0])
    assert -25.0 < earned < 5.0 - 0.05 * 0.9 * np.sqrt(2.0) - 1.0
    missing = straight()
    missing[0, :2] += 0.1 / 1.2
    first = float(rover(missing)[0])
    assert earned - first == pytest.approx(10.0 * 0.2, abs=0.6)
    outside = straight()
    outside[0, 1::2] = 1.0
    assert float(rover(outside)[0]) < 5.0 - 20.0 * 0.9


def test_a_rover_that_stays_where_it_is_pays_for_the_goal_it_misses() -> None:
    """Out of the way of all obstacles: 10 times 0.9 along both axes, and nothing else."""
    still = np.tile((np.array([0.05, 0.05]) + 0.1) / 1.2, 30)[None]
    assert float(rover(still)[0]) == pytest.approx(5.0 - 18.0, abs=1e-9)


def test_other_dimensions_than_the_drawn_ones_do_not_matter() -> None:
    function = embedded("branin", 9, 3)
    points = np.random.default_rng(0).random((2, 9))
    moved = [
        float(np.ptp(function.value(np.where(np.arange(9) == one, points[:1], points[1:]))))
        + abs(
            float(
                function.value(np.where(np.arange(9) == one, points[:1], points[1:]))[0]
                - function.value(points[1:])[0]
            )
        )
        for one in range(9)
    ]
    assert sum(change > 1e-9 for change in moved) == 2


@pytest.mark.parametrize(
    ("kind", "dimension", "message"),
    [
        ("brannin", 2, "'brannin' does not exist; did you mean 'branin'"),
        ("hartmann6", 5, "5 dimensions are too few"),
    ],
)
def test_a_function_that_cannot_be_is_refused(kind: str, dimension: int, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        embedded(kind, dimension, 0)


def test_every_competitor_of_the_registry_is_asked_and_every_cell_differs() -> None:
    cells = published_runs(2)
    assert len({cell.key for cell in cells}) == len(cells)
    asked = {cell.method.optimizer for cell in cells}
    assert asked >= set(BASELINES)
    assert [cell.seed for cell in cells] == sorted(cell.seed for cell in cells)
    names = {contestant.name for contestant in published_methods()}
    assert all(names.issuperset(problem.asked) for problem in PUBLISHED_PROBLEMS)
    one_by_one = [cell.method.name for cell in cells if cell.problem.name.endswith("one by one")]
    assert one_by_one.count("baxus") == 2
    assert "gibo" not in one_by_one
    quick = {cell.method.name for cell in quick_published_runs()}
    assert quick == {"random", "cmaes", "snes", "rducb"}


def test_a_cell_records_regrets_of_the_best_point_and_of_the_incumbent() -> None:
    """Of random search, whose points can be told from outside, by the same draws again."""
    problem = published_problem(kind="branin", dimension=5, evaluations=40)
    contestant = next(each for each in published_methods() if each.name == "random")
    run = FunctionRun(problem=problem, method=contestant, seed=2)
    found = PUBLISHED_TABLE.run(run)
    optimizer, function = make_optimizer("random", dimension=5, seed=2), embedded("branin", 5, 2)
    greatest = -np.inf
    assert found["evaluations"] == [10, 20, 30, 40]
    for observed, incumbent in zip(found["observed"], found["incumbent"], strict=True):
        points = optimizer.ask(10)
        values = function.value(points)
        greatest = max(greatest, values.max())
        assert observed == pytest.approx(function.optimum - greatest, rel=1e-4)
        assert incumbent == pytest.approx(observed, rel=1e-4)
    assert found["key"] == run.key
    assert PUBLISHED_TABLE.line(found).startswith(f"regret {found['observed'][-1]} in ")


def row(contestant: str, seed: int, regret: float) -> dict[str, Any]:
    return {
        "key": f"branin 2 / {contestant} / {seed}",
        "problem": "branin 2",
        "contestant": contestant,
        "seed": seed,
        "batch": 10,
        "evaluations": [100, 200],
        "observed": [1.0, regret],
        "incumbent": [1.0, regret],
        "seconds": [0.5, 1.0],
    }


def test_the_page_sets_printed_figures_beside_ours(tmp_path: Path) -> None:
    rows = [row("turbo", seed, regret) for seed, regret in enumerate([0.5, 0.01, 0.02])]
    text = markdown(rows)
    assert "## branin 2, 200 evaluations, batches of 10" in text
    assert "| turbo | **0.02** [0.01, 0.5] | **0.02** [0.01, 0.5] | 0.001 ± 0.001 | 3 | 1 |" in text
    assert "| branin 2, 200 | turbo | 0.000 ± 0.000 | `turbo` **0.02** [0.01, 0.5] | 10 |" in text
    assert "| xnes (full covariance) |  |  | 0.047 ± 0.083 |  |  |" in text
    written = PUBLISHED_TABLE.write(rows, tmp_path)
    assert {path.name for path in written} == {
        "competitors.json",
        "competitors.md",
    }


def test_every_printed_figure_names_its_source_and_a_problem_of_the_table() -> None:
    budgets = {problem.name: problem for problem in PUBLISHED_PROBLEMS}
    names = {contestant.name for contestant in published_methods()}
    for line in published():
        problem = budgets[line["problem"]]
        assert line["source"]
        assert float(line["regret"]) >= 0.0
        assert int(line["evaluations"]) in range(
            problem.evaluations // REGRET_PLACES,
            problem.evaluations + 1,
            problem.evaluations // REGRET_PLACES,
        )
        assert not line["contestant"] or line["contestant"] in names


def test_some_settings_follow_from_the_problem() -> None:
    by_name = {contestant.name: contestant for contestant in published_methods()}
    problem = published_problem(kind="branin", dimension=100, evaluations=50)
    assert by_name["cmaes sigma 0.25"].settings_for(problem) == {"radius": 2.5}
    assert by_name["baxus"].settings_for(problem) == {"evaluations": 40}
    assert by_name["alebo"].settings_for(problem)["embedding"] == 4
    other = published_problem(kind="hartmann6", dimension=100, evaluations=50)
    assert "embedding" not in by_name["alebo"].settings_for(other)
