"""A kernel called by its address does what it does when called by name."""

from typing import Any

import numpy as np
import pytest

from rolecast.core.compiled import compiled, compiled_exactly
from rolecast.core.kernel_address import (
    StepsTogether,
    at_step,
    call_all,
    call_kernel,
    kernel_address,
)
from rolecast.core.types import STEP_ARGUMENT, Float


@compiled
def add_scaled(scale: tuple[float, float], numbers: Float, total: Float) -> None:
    """Add numbers times the second scale."""
    for index in range(numbers.size):
        total[index] += scale[1] * numbers[index]


@compiled
def refuse_negative(numbers: Float) -> None:
    """Raise where a number is negative."""
    if numbers.min() < 0.0:
        raise ValueError("negative")


@compiled_exactly
def call_twice(address: int, arguments: tuple[Any, ...]) -> None:
    """Call the kernel at an address two times."""
    for _ in range(2):
        call_kernel(address, arguments)


@compiled
def first(numbers: Float) -> float:
    """Return the first number."""
    return float(numbers[0])


def address_of(kernel: Any, arguments: tuple[Any, ...]) -> int:
    kernel(*arguments)
    address = kernel_address(kernel, arguments)
    assert address is not None
    return address


def test_a_kernel_is_called_with_the_arguments_of_its_address() -> None:
    total = np.zeros(3)
    arguments = (5.0, 2.0), np.arange(3.0), total
    address = address_of(add_scaled, arguments)
    total[:] = 0.0
    call_twice(address, arguments)
    np.testing.assert_array_equal(total, [0.0, 4.0, 8.0])


def test_what_a_kernel_raises_comes_through() -> None:
    good = (np.ones(2),)
    address = address_of(refuse_negative, good)
    call_twice(address, good)
    with pytest.raises(ValueError, match="negative"):
        call_twice(address, (-np.ones(2),))


def test_what_cannot_be_called_by_an_address_has_none() -> None:
    numbers = (np.ones(2),)
    refuse_negative(*numbers)
    assert kernel_address(refuse_negative, (np.ones(2, dtype=np.int8),)) is None  # never called so
    first(*numbers)
    assert kernel_address(first, numbers) is None  # it returns a number
    assert kernel_address(address_of, numbers) is None


@compiled
def add_step(step: int, total: Float) -> None:
    """Add the number of a step."""
    total[0] += step


@compiled
def double(total: Float) -> None:
    """Double all numbers."""
    for index in range(total.size):
        total[index] *= 2.0


def test_kernels_take_many_steps_in_their_order_and_are_told_the_number() -> None:
    total = np.zeros(1)
    calls = (add_step, (STEP_ARGUMENT, total)), (double, (total,))
    assert StepsTogether.of(calls) is None  # they were never called so
    call_all(at_step(calls, 5))
    assert total[0] == 10.0
    together = StepsTogether.of(calls)
    assert together is not None
    together.take(6, 8)
    assert total[0] == 2.0 * (2.0 * (10.0 + 6.0) + 7.0)
