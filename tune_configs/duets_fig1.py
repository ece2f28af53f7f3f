"""Figure 1 of the DUETS paper: regret and communication of seven methods on four functions.

`rolecast bench duets --part figure` runs it. The constants are the paper's; beta is chosen for each
method and function by the lowest mean regret at the end, and all of its values are reported.
"""

from typing import Final

FIGURE_FUNCTIONS: Final = ("h1", "h2", "branin", "hartmann4")
"""Columns of the figure."""

FIGURE_METHODS: Final = (
    "duets",
    "diskernelucb",
    "approxdiskernelucb",
    "nkernelucb",
    "asynckernelucb",
    "centralised",
    "elimination",
)
"""Curves."""

PAPER_METHODS: Final = FIGURE_METHODS[:4]
"""Those that the paper's figure has."""

FIGURE_BETAS: Final = (0.2, 0.5, 1.0, 2.0, 5.0)
"""The same for every method."""

FIGURE_AGENTS: Final = 10
"""N."""

FIGURE_ROUNDS: Final = 50
"""T."""
