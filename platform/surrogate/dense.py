"""Dense linear algebra on the device of a matrix: NumPy and SciPy in memory, torch on a GPU.

Arrays of size N (points, targets) stay in memory. Matrices of size N^2 stay on the device of the
kernel.
"""

import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from rolecast.core.errors import ConfigError
from rolecast.core.memory import available_memory
from rolecast.core.types import Float

if TYPE_CHECKING:
    import torch

Matrix = Any
"""NumPy array, or tensor on a device, in float64."""

DEVICE_PATTERN: Final = re.compile(r"cpu|cuda(:\d+)?")


def check_device(field: str, name: str) -> None:
    """Refuse a text that is not the name of a device.

    Raises:
        ConfigError: it is neither "cpu" nor "cuda" nor "cuda:" and a number.
    """
    if not (isinstance(name, str) and DEVICE_PATTERN.fullmatch(name)):
        raise ConfigError(field, name, "cpu, cuda, or cuda:1 and so on")


def find_device(field: str, name: str) -> "torch.device | None":
    """Return the device of a name; None for the CPU.

    Raises:
        ConfigError: torch does not find the device.
    """
    check_device(field, name)
    if name == "cpu":
        return None
    import torch

    # torch.device keeps a number in one byte with sign: cuda:999 would be cuda:-25.
    seen, number = torch.cuda.device_count(), int(name.partition(":")[2] or 0)
    if number >= seen:
        raise ConfigError(field, name, f"cpu, or one of the CUDA devices torch sees here: {seen}")
    return torch.device(name)


def free_memory(device: "torch.device | None") -> int:
    """Return the bytes free for matrices on a device."""
    if device is None or device.type == "cpu":
        return available_memory()
    import torch

    # Memory that torch has reserved but does not use is free for this process.
    unused = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return torch.cuda.mem_get_info(device)[0] + unused


def to_host(values: Matrix) -> Float:
    """Return values of any shape as an array."""
    return values if isinstance(values, np.ndarray) else np.asarray(values.cpu().numpy())


def product(matrix: Matrix, vector: Float) -> Float:
    """Return the product [N] of a matrix [N, M] and a vector [M]."""
    return to_host(matrix @ _beside(matrix, vector))


def factor(covariance: Matrix, noise: Float) -> Matrix:
    """Return the lower Cholesky factor L of K plus noise.

    Args:
        covariance: K [N, N].
        noise: variances [N], or covariance matrix [N, N].
    """
    if isinstance(covariance, np.ndarray):
        # Transposed to column order, so that LAPACK makes no further copy.
        noisy = covariance.T.copy(order="K")
        if noise.ndim == 1:
            noisy[np.diag_indices_from(noisy)] += noise
        else:
            noisy += noise
        found, _ = cho_factor(noisy, lower=True, check_finite=False, overwrite_a=True)
        return found
    import torch

    noisy = covariance.clone()
    (noisy.diagonal() if noise.ndim == 1 else noisy).add_(_beside(covariance, noise))
    return torch.linalg.cholesky(noisy)


def bordered(known: Matrix, rows: Matrix, corner: Matrix) -> Matrix:
    """Return the factor [[L, 0], [rows, corner]] of L [N, N], rows [K, N] and corner [K, K]."""
    count = len(known)
    shape = (count + len(rows),) * 2
    in_memory = isinstance(known, np.ndarray)
    found = np.zeros(shape, order="F") if in_memory else known.new_zeros(shape)
    found[:count, :count] = known
    found[count:, :count] = rows
    found[count:, count:] = corner
    return found


def solve_lower(known: Matrix, right: Matrix) -> Matrix:
    """Return L^-1 right [N, M], for a lower factor L [N, N]."""
    if isinstance(known, np.ndarray):
        return solve_triangular(known, right, lower=True, check_finite=False)
    import torch

    return torch.linalg.solve_triangular(known, right, upper=False)


def solve(known: Matrix, right: Float) -> Float:
    """Return (L L^T)^-1 right [N], for a lower factor L [N, N]."""
    if isinstance(known, np.ndarray):
        return np.asarray(cho_solve((known, True), right, check_finite=False))
    import torch

    return to_host(torch.cholesky_solve(_beside(known, right)[:, None], known)[:, 0])


def log_root_determinant(known: Matrix) -> float:
    """Return half the log determinant of L L^T: sum_i log L_ii, for a lower factor L [N, N]."""
    return float(np.log(to_host(known.diagonal())).sum())


def column_squares(matrix: Matrix) -> Float:
    """Return the sums of squares [M] of the columns of a matrix [N, M]."""
    return to_host((matrix * matrix).sum(0))


def _beside(matrix: Matrix, values: Float) -> Matrix:
    """Return values on the device of the matrix."""
    if isinstance(matrix, np.ndarray):
        return values
    import torch

    return torch.as_tensor(values, dtype=matrix.dtype, device=matrix.device)
