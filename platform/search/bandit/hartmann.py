"""Numbers of Hartmann's function of six dimensions; the one of four has its first four columns.

Source: Dixon and Szegö (1978), Towards Global Optimisation 2.
"""

from typing import Final

import numpy as np

HARTMANN_WEIGHTS: Final = np.array([1.0, 1.2, 3.0, 3.2])
"""[4], weight of each term."""

HARTMANN_SCALES: Final = np.array(
    [
        [10.0, 3.0, 17.0, 3.5, 1.7, 8.0],
        [0.05, 10.0, 17.0, 0.1, 8.0, 14.0],
        [3.0, 3.5, 1.7, 10.0, 17.0, 8.0],
        [17.0, 8.0, 0.05, 10.0, 0.1, 14.0],
    ]
)
"""[4, 6], factor of each squared distance from a term's centre."""

HARTMANN_CENTRES: Final = 1e-4 * np.array(
    [
        [1312.0, 1696.0, 5569.0, 124.0, 8283.0, 5886.0],
        [2329.0, 4135.0, 8307.0, 3736.0, 1004.0, 9991.0],
        [2348.0, 1451.0, 3522.0, 2883.0, 3047.0, 6650.0],
        [4047.0, 8828.0, 8732.0, 5743.0, 1091.0, 381.0],
    ]
)
"""[4, 6], centres of the terms."""
