"""The optimisers' table: which cells it has, how it goes on where it stopped, what it tells."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rolecast.benchmarks.functions.command import plain_records
from rolecast.benchmarks.functions.known_page import (
    KNOWN_TABLE,
    interval,
    markdown,
    ratios,
    summary,
)
from rolecast.benchmarks.functions.known_suite import (
    KNOWN_METHODS,
    KNOWN_PROBLEMS,
    function_of,
    known_runs,
    quick_known_runs,
)
from rolecast.benchmarks.functions.runs import FunctionProblem, FunctionRun, OptimizerMethod
from rolecast.benchmarks.policy_table import policy_trials, quick_policy_trials
from rolecast.benchmarks.result_table import chosen
from rolecast.benchmarks.table_trials import TableTrial
from rolecast.core.errors import RequestError
from rolecast.platform.optimizers.protocol import SharesEpisodes
from rolecast.platform.optimizers.registry import make_optimizer

TINY = FunctionProblem(kind="additive", dimension=6, noise=0.2, evaluations=60)


def row(contestant: str, seed: int, regrets: list[float]) -> dict[str, Any]:
    return {
        "key": f"{contestant}{seed}",
        "problem": "additive 6",
        "contestant": contestant,
        "seed": seed,
        "evaluations": [FunctionProblem.batch * (place + 1) for place in range(4)],
        "regrets": regrets,
        "seconds": [0.1, 0.2, 0.3, 0.4],
    }


ROWS = [row("local, none", seed, [0.8, 0.6, 0.5, 0.4]) for seed in range(3)] + [
    row("local, true", seed, [0.8, 0.6, 0.5, last]) for seed, last in enumerate([0.1, 0.2, 0.5])
]


def test_every_cell_differs_and_random_search_meets_every_problem() -> None:
    cells = known_runs(2)
    assert len({cell.key for cell in cells}) == len(cells)
    met = {cell.problem for cell in cells if cell.method.name == "random"}
    assert met == set(KNOWN_PROBLEMS)


@pytest.mark.parametrize(
    "problem",
    [each for each in KNOWN_PROBLEMS if each.kind != "additive" or each.dimension == 20],
    ids=lambda each: each.name,
)
def test_contestants_with_a_graph_are_asked_where_there_is_one(problem: FunctionProblem) -> None:
    structured = [each for each in KNOWN_METHODS if each.graph is not None]
    known = function_of(problem, 0).cliques is not None
    assert any(each.takes(problem) for each in structured) == known


@pytest.mark.parametrize("contestant", KNOWN_METHODS, ids=lambda each: each.name)
def test_every_contestant_can_be_built(contestant: OptimizerMethod) -> None:
    settings = contestant.settings_for(TINY, function_of(TINY, 0).cliques)
    optimizer = make_optimizer(contestant.optimizer, dimension=6, seed=0, **settings)
    assert optimizer.ask(5).shape == (5, 6)


def test_cmaes_begins_with_three_quarters_of_the_cubes_width() -> None:
    full = next(each for each in KNOWN_METHODS if each.name == "cmaes full")
    assert full.settings_for(TINY)["radius"] == pytest.approx(0.75 * (6.0 / 12.0) ** 0.5)


def test_no_method_shares_episodes_that_a_function_does_not_have() -> None:
    for method in KNOWN_METHODS:
        settings = method.settings_for(TINY, function_of(TINY, 0).cliques)
        optimizer = make_optimizer(method.optimizer, dimension=6, seed=0, **settings)
        optimizer.ask(6)
        if isinstance(optimizer, SharesEpisodes):
            assert optimizer.episode_rows().tolist() == list(range(6)), method.name


def test_the_control_has_as_many_cliques_as_the_truth() -> None:
    true, random = (
        next(each for each in KNOWN_METHODS if each.name == f"local, {graph}").settings_for(
            TINY, function_of(TINY, 0).cliques
        )
        for graph in ("true", "random")
    )
    assert true["cliques"] == function_of(TINY, 0).cliques != random["cliques"]
    assert sorted(map(len, true["cliques"])) == sorted(map(len, random["cliques"]))


def test_a_cell_records_the_true_regret_of_the_incumbent() -> None:
    """Of random search, whose incumbent can be told from outside, by the same draws again."""
    problem = FunctionProblem(kind="additive", dimension=6, evaluations=60)
    contestant = next(each for each in KNOWN_METHODS if each.name == "random")
    run = FunctionRun(problem=problem, method=contestant, seed=3)
    found = KNOWN_TABLE.run(run)
    optimizer, function = make_optimizer("random", dimension=6, seed=3), function_of(problem, 3)
    for evaluations, regret in zip(found["evaluations"], found["regrets"], strict=True):
        points = optimizer.ask(FunctionProblem.batch)
        optimizer.tell(points, function.value(points))
        assert evaluations % FunctionProblem.batch == 0
        assert regret == pytest.approx(function.regret(optimizer.best()), rel=1e-4)
    assert found["seconds"] == sorted(found["seconds"])
    assert found["key"] == run.key
    assert KNOWN_TABLE.line(found).startswith(f"regret {found['regrets'][-1]} in ")


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        (["kind=hartmann6"], 14),
        (["contestant=random", "seed=1"], 3),
        (["contestant=local, true"], 2),
        (["kind=policy"], 6),
    ],
)
def test_filters_of_a_kind_are_alternatives_and_kinds_agree(filters: list[str], count: int) -> None:
    cells: list[FunctionRun | TableTrial] = [*quick_known_runs(), *quick_policy_trials()]
    assert len(chosen(cells, filters, KNOWN_TABLE.kinds)) == count


@pytest.mark.parametrize(
    "filters",
    [["optimizer=random"], ["random"], ["seed=77"], ["contestant=random", "contestant=rndom"]],
)
def test_a_filter_that_leaves_nothing_is_refused(filters: list[str]) -> None:
    cells: list[FunctionRun | TableTrial] = [*known_runs(1), *policy_trials(1)]
    with pytest.raises(RequestError, match="--only"):
        chosen(cells, filters, KNOWN_TABLE.kinds)


def test_rows_of_a_contestant_have_the_order_of_the_quick_runs() -> None:
    cells = chosen(quick_known_runs(), ["contestant=random"], KNOWN_TABLE.kinds)
    places = [KNOWN_TABLE.order(dict(cell.names)) for cell in cells]
    assert sorted({*places}) == places


def test_the_table_tells_median_and_interval_at_each_share_of_the_budget() -> None:
    found = summary(ROWS)
    true = found[found["contestant"] == "local, true"]
    assert list(true["evaluations"]) == [20, 40, 80]
    assert list(true["regret"]) == [0.8, 0.6, 0.2]
    assert true["low"].isna().all()
    assert set(true["batch_ms"]) == {100.0}


def test_graphs_are_compared_seed_by_seed() -> None:
    (line,) = ratios(ROWS).to_dict("records")
    assert (line["graphs"], line["search"]) == ("true / none", "local")
    assert line["ratio"] == pytest.approx(0.5)
    assert (line["better"], line["seeds"]) == (2, 3)


def test_there_is_no_interval_of_fewer_than_five_seeds() -> None:
    assert np.isnan(interval([0.3, 0.4, 0.5, 0.6])).all()
    assert interval([0.5, 0.3, 0.7, 0.4, 0.6]) == (0.3, 0.7)


@pytest.mark.parametrize(("seeds", "place"), [(5, 0), (7, 0), (8, 1), (10, 1), (20, 5)])
def test_the_interval_of_a_median_holds_it_as_often_as_it_says(seeds: int, place: int) -> None:
    """And is the narrowest of its kind: the next one in misses it more often."""
    values = np.random.default_rng(0).permutation(seeds).astype(float)
    assert interval([*values]) == (place, seeds - 1 - place)
    drawn = np.sort(np.random.default_rng(1).standard_normal((20_000, seeds)), axis=1)

    def misses(end: int) -> float:
        return float(np.mean((drawn[:, end] > 0.0) | (drawn[:, -1 - end] < 0.0)))

    assert misses(place) < 0.1 < misses(place + 1)


def test_the_files_hold_every_problem(tmp_path: Path) -> None:
    written = KNOWN_TABLE.write(ROWS, tmp_path)
    assert {path.name for path in written} == {
        "optimizers.json",
        "optimizers.csv",
        "optimizers.md",
        "optimizers.png",
        "optimizers_time.png",
    }
    text = markdown(ROWS)
    assert "\nNot run: problems `additive 20`, `additive 20, noise 0.2`, " in text
    assert "; optimisers `random`, " in text
    assert "| additive 6 | local | true / none | **0.50**" in text
    assert "| local, true | 0.800 [-] |" in text
    assert (tmp_path / "optimizers.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "problem",
    [each for each in KNOWN_PROBLEMS if each.kind != "additive" or each.dimension == 20],
    ids=lambda each: each.name,
)
def test_no_optimum_is_where_searches_begin(problem: FunctionProblem) -> None:
    """Larger additive ones are drawn by the same code; their optima take seconds to find."""
    function = function_of(problem, 0)
    assert function.regret(np.full(problem.dimension, 0.5)) > 0.1


def test_a_ratio_without_an_interval_is_none_in_json() -> None:
    """Below five seeds there is no interval, and JSON has no NaN."""
    (line,) = plain_records(ratios(ROWS))
    assert (line["low"], line["high"]) == (None, None)
    assert json.loads(json.dumps(line, allow_nan=False)) == line
