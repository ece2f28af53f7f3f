"""Array types and the width of a compiled block: the words in which all rooms give shapes."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Float32 = NDArray[np.float32]
Seeds = NDArray[np.uint64]

LANE_COUNT: Final = 16
"""W, episodes side by side in one block of a compiled kernel; constant, so that loops vectorise."""
