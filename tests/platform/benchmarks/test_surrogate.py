"""The table of the surrogate's speed measures both kernels at the same cases."""

import numpy as np
import torch

from rolecast.platform.benchmarks.surrogate import all_cases, fused, measure_all, one_a_clique


def test_every_case_is_measured_and_compared() -> None:
    told: list[str] = []
    results = measure_all(quick=True, note=told.append)
    assert len(told) == len(results["cases"]) == len(all_cases(quick=True))
    assert set(results["ratio_to_gpytorch"]["float32"]) == {"value", "gradient"}
    for row in results["cases"]:
        pairs = row["cliques"] * row["points"] * (row["points"] + 1) / 2
        assert abs(row["value_ns"] - row["value_s"] / pairs * 1e9) <= 1e5 / pairs
        assert row["gradient_s"] > 0.0


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
