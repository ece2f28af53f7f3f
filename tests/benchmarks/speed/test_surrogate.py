"""The table of the surrogate's speed measures both sides at the same cases."""

from typing import Any

import numpy as np
import pytest
import torch

from rolecast.benchmarks.speed.clique_kernels import all_cases, fused, one_a_clique
from rolecast.benchmarks.speed.surrogate import (
    OWN_SIDE,
    Iteration,
    all_iterations,
    measure_all,
    measure_iteration,
)
from rolecast.platform.optimizers.local_gp.model import LocalGp
from rolecast.platform.optimizers.observations import Observations
from rolecast.platform.surrogate.gp import Posterior


def test_every_case_is_measured_and_compared() -> None:
    told: list[str] = []
    results = measure_all(quick=True, note=told.append)
    assert len(results["cases"]) == len(all_cases(quick=True))
    assert len(told) == sum(len(results[rows]) for rows in ("cases", "cores", "iterations"))
    assert set(results["ratio_to_gpytorch"]["float32"]) == {"value", "gradient"}
    for row in results["cases"]:
        pairs = row["cliques"] * row["points"] * (row["points"] + 1) / 2
        assert abs(row["value_ns"] - row["value_s"] / pairs * 1e9) <= 1e5 / pairs
        assert row["gradient_s"] > 0.0
    ours, theirs = results["iterations"]
    assert ours["greatest_s"] >= ours["mean_s"] > 0.0
    ratio = theirs["mean_s"] / ours["mean_s"]
    assert results["iteration_ratio_to_botorch"] == pytest.approx(ratio, abs=0.051)


def test_a_part_is_measured_alone_and_one_core_is_no_faster_than_itself() -> None:
    told: list[str] = []
    results = measure_all(quick=True, note=told.append, parts=("cores",))
    assert len(told) == len(results["cores"])
    assert set(results) == {"unit", "cores", "cores_on"}
    assert {"processor", "versions", "commit"} <= set(results["cores_on"])
    for row in results["cores"]:
        for name in ("value", "gradient"):
            assert row[f"{name}_one_s"] > 0.0
            assert row[f"{name}_times"] < 1.5 * row["threads"]


def test_the_measured_search_learns_from_what_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its iterations contain the fits that they are to measure: one each, after the first."""
    fitted: list[int] = []
    condition = LocalGp.condition

    def counting(self: LocalGp, data: Observations, *further: Any) -> Posterior:
        found = condition(self, data, *further)
        fitted.append(len(found.points))
        return found

    monkeypatch.setattr(LocalGp, "condition", counting)
    case = Iteration(optimizer=OWN_SIDE, dimensions=12, points=80, cliques=5, batches=2)
    measure_iteration(case)
    assert fitted == [80, 80, 80]


def test_as_many_iterations_are_measured_as_hold_one_refit() -> None:
    """A process of more than 500 points is fitted anew when it has grown by a tenth."""
    measured = {(case.points, case.batches) for case in all_iterations(quick=False)[1:]}
    assert measured == {(500, 4), (1000, 7), (3000, 20), (5000, 34)}


def test_both_sides_of_a_comparison_compute_the_same() -> None:
    """Up to the weights: GPyTorch begins with ln 2 for each, the fused kernel with 1 / M.

    Both are made in float32, whose rounding stays.
    """
    case, *_ = all_cases(quick=True)
    points = torch.as_tensor(np.random.default_rng(1).random((7, case.dimensions)))
    ours, theirs = (
        make(case, np.random.default_rng(0)).double()(points).to_dense()
        for make in (fused, one_a_clique)
    )
    torch.testing.assert_close(ours * case.cliques * np.log(2.0), theirs, rtol=1e-6, atol=1e-6)
