"""Numeric constants of the global searches, apart from their settings."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, kw_only=True)
class GlobalSearchConstants:
    """Grids, counts and thresholds of the paper's search and of the search clique by clique.

    Variances are shares of the kernel's output variance.
    """

    # The paper's model and search
    lengthscale_multiples: tuple[float, ...] = (0.125, 0.25, 0.5, 1.0, 2.0)
    """Grid of lengthscales, in multiples of sqrt(D).

    For a clique of m dimensions in those of sqrt(m), for pairs in those of 1."""

    noise_variances: tuple[float, ...] = (1e-4, 1e-3, 1e-2, 0.1, 0.4, 1.6)
    """Grid of noise variances r, as shares of the output variance."""

    large_noise_variances: tuple[float, ...] = (6.4, 25.6)
    """Extension of the grid where noise is known.

    Evidence alone would often choose it too early."""

    first_noise_variance: float = 0.4
    """Noise variance r before the first refit."""

    least_noise_weight: float = 0.05
    """Lower bound of an evaluation's noise variance, as a share of the median one."""

    perturbed_dimensions: int = 20
    """Dimensions drawn anew together where the kernel is no sum."""

    refined_candidates: int = 2
    """Candidates improved by L-BFGS-B in each batch."""

    # Model of a sum over given cliques
    clique_lengthscales: tuple[float, ...] = (0.1, 0.15, 0.2, 0.3, 0.45, 0.7, 1.0, 1.5, 2.2)
    """Grid of lengthscales of a term of m dimensions, in multiples of sqrt(m)."""

    clique_noise_variances: tuple[float, ...] = (
        1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.3, 1.0,
    )  # fmt: skip
    """Grid of noise variances, as shares of the output variance."""

    first_choice: tuple[int, int] = (4, 5)
    """Places in both grids before the first evaluation."""

    constant_variance: float = 4.0
    """Prior variance of the function's mean, as a share of the output variance."""

    prior_waves: int = 128
    """Random Fourier features of a term in a draw from the prior (Rahimi and Recht 2007)."""

    refit_fits: int = 3
    """Matrices alive at once while choices are compared."""

    # Search clique by clique
    clique_points: int = 1500
    """Maximum evaluations in the process."""

    bold_share: float = 1.5
    """Share of the posterior deviation in the boldest tenth of draws.

    Above 1, a search does not stay at a local optimum of which its process is too sure. Other
    shares are uniform from 0."""

    bold_draws: float = 0.1
    """Fraction of draws that are bold."""

    incumbent_starts: int = 8
    """Climbs on the posterior mean whose best end is the incumbent; half of them are annealed."""

    first_points: int = 20
    """Evaluations, at Sobol points, before candidates are drawn from the posterior."""

    # Ascent on a sum of products
    grid_values: int = 25
    """Values of a dimension that are compared; a parabola refines the best of them at the end."""

    annealing_sweeps: int = 10
    """Sweeps over all dimensions in which values are drawn, at falling temperatures."""

    greedy_sweeps: int = 2
    """Later sweeps in which each dimension takes its best value."""

    first_temperature: float = 0.5
    """Temperature of the first annealing sweep, in deviations of one term."""

    last_temperature: float = 0.02
    """Temperature of the last annealing sweep, in the same unit."""


GLOBAL_CONSTANTS: Final = GlobalSearchConstants()
"""Constants of every global search."""
