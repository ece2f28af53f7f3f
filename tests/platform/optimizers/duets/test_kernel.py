"""Kernels equal their formulas, and an entry has the same bits in any matrix."""

import numpy as np
import pytest

from rolecast.core.errors import ConfigError
from rolecast.platform.optimizers.duets.kernel import KERNEL_FORMS, StationaryKernel
from rolecast.platform.surrogate.kernels import Matern


@pytest.mark.parametrize("form", KERNEL_FORMS)
def test_an_entry_has_the_same_bits_in_any_company(form: str) -> None:
    kernel, rng = StationaryKernel(form, 0.4), np.random.default_rng(0)
    A, B = rng.random((37, 3)), rng.random((11, 3))
    whole = kernel.matrix(A, B)
    for row in (0, 5, 36):
        np.testing.assert_array_equal(kernel.matrix(A[row : row + 1], B)[0], whole[row])
        np.testing.assert_array_equal(kernel.matrix(A[row:], B[3:4])[:, 0], whole[row:, 3])
    np.testing.assert_array_equal(np.diag(kernel.matrix(A, A)), 1.0)


def test_kernels_equal_their_formulas() -> None:
    rng = np.random.default_rng(1)
    A, B = rng.random((9, 2)), rng.random((8, 2))
    distances = np.linalg.norm(A[:, None] - B, axis=-1) / 0.3
    found = {form: StationaryKernel(form, 0.3).matrix(A, B) for form in KERNEL_FORMS}
    np.testing.assert_allclose(found["squared_exponential"], np.exp(-(distances**2) / 2))
    np.testing.assert_allclose(found["matern12"], np.exp(-distances))
    root = 3**0.5 * distances
    np.testing.assert_allclose(found["matern32"], (1 + root) * np.exp(-root))
    np.testing.assert_allclose(found["matern52"], Matern(0.3).matrix(A, B), rtol=1e-10)


def test_a_kernel_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ConfigError, match="form is 'linear'; expected 'squared_exponential' or"):
        StationaryKernel("linear")
    with pytest.raises(ConfigError, match=r"lengthscale is 0\.0; expected a number in \[1e-100, "):
        StationaryKernel(lengthscale=0.0)
