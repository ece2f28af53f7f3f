"""The parts of compiled policies, against numpy in float64."""

import numpy as np
import pytest

from rolecast.core.compiled import compiled
from rolecast.core.simd import load, store
from rolecast.core.types import LANE_COUNT, Float, Float32
from rolecast.policies.layers_fused import (
    add_code,
    add_product,
    clip_rows,
    dense,
    dense_three,
    tanh_lanes,
)


@compiled
def tanh_rows(rows: Float32) -> None:
    for i in range(rows.shape[0]):
        store(rows, i, tanh_lanes(load(rows, i)))


@compiled
def one_dense(w: Float32, rows: Float32, count: int, units: int) -> int:
    return dense(w, 0, rows, 0, count, count, units)


@compiled
def team_dense(w: Float32, rows: Float32, count: int, units: int, shift: int) -> None:
    dense_three(w, 0, rows, 0, count, count, units, shift)


@compiled
def second_inputs(w: Float32, rows: Float32, first: int, stride: int, units: int) -> None:
    add_product(w, first, stride, w, units * stride, rows, 0, stride - first, 10, units)


@compiled
def code_of(w: Float32, rows: Float32, code: int, bits: int, units: int) -> None:
    add_code(w, 0, bits, code, bits, w, units * bits, rows, 0, units)


@compiled
def clipped(source: Float32, bound: np.float32, rows: Float32) -> None:
    clip_rows(source, 0, bound, rows, 0, source.shape[0])


def rows_of(*shape: int) -> Float32:
    """Draw rows of lanes."""
    return np.random.default_rng(3).normal(size=(*shape, LANE_COUNT)).astype(np.float32)


def exact(rows: Float32) -> Float:
    return rows.astype(np.float64)


def test_tanh_is_within_a_millionth_everywhere() -> None:
    rows = np.linspace(-12.0, 12.0, 4096 * LANE_COUNT, dtype=np.float32).reshape(-1, LANE_COUNT)
    expected = np.tanh(exact(rows))
    tanh_rows(rows)
    np.testing.assert_allclose(rows, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize(("x", "y"), [(np.inf, 1.0), (-np.inf, -1.0), (0.0, 0.0), (50.0, 1.0)])
def test_tanh_keeps_its_limits(x: float, y: float) -> None:
    rows = np.full((1, LANE_COUNT), x, dtype=np.float32)
    tanh_rows(rows)
    np.testing.assert_allclose(rows, y, atol=1e-6)


def test_nan_stays_nan_and_stays_in_its_lane() -> None:
    rows = np.zeros((1, LANE_COUNT), dtype=np.float32)
    rows[0, 3] = np.nan
    tanh_rows(rows)
    assert np.isnan(rows[0]).tolist() == [lane == 3 for lane in range(LANE_COUNT)]


@pytest.mark.parametrize(("count", "units"), [(1, 1), (3, 2), (16, 4), (5, 7), (14, 14)])
def test_a_layer_is_its_weights_times_its_inputs_plus_bias(count: int, units: int) -> None:
    w, rows = rows_of((count + 1) * units), rows_of(count + units)
    weight = exact(w[: count * units]).reshape(units, count, LANE_COUNT)
    expected = (weight * exact(rows[:count])).sum(axis=1) + exact(w[count * units :])
    assert one_dense(w, rows, count, units) == (count + 1) * units
    np.testing.assert_allclose(rows[count:], expected, atol=1e-5)


@pytest.mark.parametrize(("count", "units"), [(1, 1), (3, 2), (16, 4), (5, 7), (14, 14)])
def test_three_agents_have_the_layer_of_one_each(count: int, units: int) -> None:
    shift = count + units + 2
    w, rows = rows_of((count + 1) * units), rows_of(3 * shift)
    singly = rows.copy()
    for agent in range(3):
        one_dense(w, singly[agent * shift :], count, units)
    team_dense(w, rows, count, units, shift)
    np.testing.assert_allclose(rows, singly, atol=1e-5)


def test_part_of_a_layer_reads_its_own_columns() -> None:
    stride, first, units = 9, 4, 6
    w, rows = rows_of((stride + 1) * units), rows_of(20)
    weight = exact(w[: stride * units]).reshape(units, stride, LANE_COUNT)[:, first:]
    expected = (weight * exact(rows[: stride - first])).sum(axis=1) + exact(w[stride * units :])
    second_inputs(w, rows, first, stride, units)
    np.testing.assert_allclose(rows[10 : 10 + units], expected, atol=1e-5)


@pytest.mark.parametrize("code", [0, 1, 5, 7])
def test_a_code_adds_the_columns_of_its_bits(code: int) -> None:
    w, rows = rows_of(4 * 3 + 4), rows_of(4)
    columns = exact(w[:12]).reshape(4, 3, LANE_COUNT)
    bits = np.array([code >> bit & 1 for bit in range(3)])[None, :, None]
    code_of(w, rows, code, 3, 4)
    np.testing.assert_allclose(rows, (columns * bits).sum(axis=1) + exact(w[12:]), atol=1e-6)


def test_clipping_is_numpys() -> None:
    source, rows = 3.0 * rows_of(5), rows_of(5)
    source[2, 4] = np.nan
    clipped(source, np.float32(1.5), rows)
    np.testing.assert_array_equal(rows, np.clip(source, -1.5, 1.5))
