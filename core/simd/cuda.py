"""Compiled kernels on CUDA, by numba-cuda: each lane is a thread, and no source is written twice.

Importing this module is what tells numba-cuda of the vector types. It needs numba-cuda.
"""

from typing import Any, Final

import numba
from numba import cuda
from numba.cuda import extending

from rolecast.core.lane_arrays import workspace
from rolecast.core.simd.types import VectorType

WORKSPACE_ROWS: Final = 512
"""Rows of a kernel's workspace; a thread has its own, of which the compiler must know the size."""


@extending.register_model(VectorType)
class LaneModel(extending.core_models.PrimitiveModel):  # type: ignore[misc]  # it has no types
    """Keeps what is a vector on a CPU as the element of one lane."""

    def __init__(self, manager: Any, frontend_type: Any) -> None:
        super().__init__(manager, frontend_type, frontend_type.vector.element)


@extending.overload(workspace, inline="always")  # type: ignore[untyped-decorator]  # as above
def _workspace(count: Any) -> Any:
    def allocated(count: Any) -> Any:
        return cuda.local.array(WORKSPACE_ROWS, numba.float32)

    return allocated
