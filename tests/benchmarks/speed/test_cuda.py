"""The tables of CUDA are measured by the same code where there is a GPU and, here, without one."""

import pytest
import torch

from rolecast.benchmarks.speed.clique_kernels import FUSED_SIDE
from rolecast.benchmarks.speed.cuda import (
    kernel_cases,
    least_seconds,
    measure_kernel,
    measure_search,
    search_cases,
)
from rolecast.benchmarks.speed.surrogate import measure_all
from rolecast.core.errors import RequestError

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def test_every_kernel_is_timed_and_the_fused_one_compared_with_the_cpu() -> None:
    for case in kernel_cases(quick=True):
        row = measure_kernel(case, DEVICE)
        assert row["value_s"] > 0.0
        assert row["gradient_s"] > 0.0
        assert ("value_error" in row) == (case.kernel == FUSED_SIDE)
        if case.kernel == FUSED_SIDE:
            assert row["value_error"] < 1e-12
            assert row["gradient_error"] < 1e-12
            assert row["value_times"] == pytest.approx(
                row["cpu_value_s"] / row["value_s"], rel=0.01
            )


def test_a_search_is_timed() -> None:
    (case,) = search_cases(quick=True, device=DEVICE)
    row = measure_search(case)
    assert row["fit_s"] > 0.0
    assert row["batch_s"] > 0.0


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU, so it would be measured")
@pytest.mark.parametrize("part", ["cuda_kernels", "cuda_search"])
def test_without_a_gpu_its_tables_are_refused_before_others_are_measured(part: str) -> None:
    told: list[str] = []
    with pytest.raises(RequestError, match="torch sees no CUDA device here"):
        measure_all(quick=True, note=told.append, parts=("kernels", part))
    assert not told


def test_the_least_of_three_runs_is_taken_on_every_side_but_of_long_ones() -> None:
    given = iter([(3.0, 1.0), (1.0, 3.0), (2.0, 2.0), (15.0, 6.0)])
    assert least_seconds(lambda: next(given)) == (1.0, 1.0)
    assert least_seconds(lambda: next(given)) == (15.0, 6.0)
