"""A kernel called by its address does what it does when called by name."""

from typing import Any

import numpy as np
import pytest

from rolecast.core.compiled import compiled, compiled_exactly
from rolecast.core.kernel_address import call_kernel, kernel_address
from rolecast.core.types import Float


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


def test_a_kernel_is_called_with_the_arguments_of_its_address() -> None:
    total = np.zeros(3)
    arguments = (5.0, 2.0), np.arange(3.0), total
    call_twice(kernel_address(add_scaled, arguments), arguments)
    np.testing.assert_array_equal(total, [0.0, 4.0, 8.0])


def test_what_a_kernel_raises_comes_through() -> None:
    good = (np.ones(2),)
    address = kernel_address(refuse_negative, good)
    call_twice(address, good)
    with pytest.raises(ValueError, match="negative"):
        call_twice(address, (-np.ones(2),))
