"""Array types and widths of parallel episodes: the words in which all rooms give shapes."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Float32 = NDArray[np.float32]
Seeds = NDArray[np.uint64]

LANE_COUNT: Final = 16
"""W, episodes side by side in one block of a compiled kernel; constant, so that loops vectorise."""

COMPILED_LANES: Final = 1024
"""Episodes that a compiled task holds at once: enough to hide calls, small enough for caches."""

BATCHED_LANES: Final = 16
"""Episodes that any other task holds at once; a user's environments are one object each."""

KernelCall = tuple[Callable[..., None], tuple[Any, ...]]
"""A compiled kernel and its arguments."""

KernelCalls = tuple[KernelCall, ...]
"""What is called, one after the other: here, or on CUDA with the arrays moved there."""

STEP_ARGUMENT: Final = None
"""Among the arguments of a kernel, stands for the number of steps taken before."""

CompiledKernel = tuple[int, tuple[Any, ...]]
"""Address of a kernel's machine code, and its arguments (`rolecast.core.kernel_address`)."""
