"""Numeric constants of the local search, which no setting changes."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, kw_only=True)
class LocalSearchConstants:
    """Rates, thresholds and grids of the local search; chosen on predator-prey and test functions.

    Radii are distances in the unit cube, variances shares of the kernel's output variance.
    """

    # Radius of the trust region
    move_weight: float = 0.3
    """Weight of the latest move in the exponential average of moves."""

    neutral_move_length: float = 0.7
    """Length of the average at which the radius stays, in longest moves.

    Moves of full length in one direction reach 1, random ones 0.42."""

    radius_rate: float = 0.4
    """Change of the radius's logarithm for each unit by which the average exceeds the neutral."""

    radius_change_bounds: tuple[float, float] = (0.5, 1.3)
    """Least and greatest factor of the radius from one batch to the next."""

    # Moves of the centre
    schedule_evaluations: int = 4000
    """Evaluations over which the radius shrinks at least, where no setting says so."""

    ascent_steps: int = 8
    """Gradient steps on the posterior mean in one move of the centre."""

    first_move_evaluations: int = 64
    """Evaluations before the first move, if none is set; at least two batches."""

    cloud_cutoff: float = 3.0
    """Distance in radii beyond which a candidate does not count as drawn from the cloud."""

    # Signal and noise of a batch
    noise_width_rate: float = 0.25
    """Share of the logarithmic error of the signal-to-noise ratio that one full batch corrects.

    An error of a factor e changes the width's logarithm by half of it."""

    full_noise_batch: int = 60
    """Evaluations of a full batch; a smaller batch corrects less, in proportion."""

    signal_ratio_offset: float = 0.05
    """Signal-to-noise ratio added to every estimate: smaller ones cannot be told from 0."""

    signal_ratio_limit: float = 1e6
    """Greatest signal-to-noise ratio that is reported, also where there is no noise."""

    least_noise_width: float = 0.25
    """Least factor by which noise narrows the cloud."""

    quiet_ratio: float = 30.0
    """Signal-to-noise ratio, in units of the one wanted, above which noise limits nothing.

    At twice this ratio half the episodes suffice."""

    least_episode_share: float = 1.0 / 16.0
    """Least share of the planned episodes of a candidate."""

    least_episodes: int = 2
    """Least number of episodes of a candidate: one alone shows no noise."""

    # Restart at the centre of the cube
    restart_interval: float = 0.05
    """Share of the budget between two comparisons of the cloud with the start."""

    restart_evaluations: int = 12
    """Number n of latest evaluations in a comparison, or the latest batch if that is larger.

    A start as good as the cloud leads all n of them by chance once in n + 1."""

    restart_shrinkage: float = 0.5
    """Factor of the cloud's width at a restart."""

    least_restart_width: float = 1.0 / 16.0
    """Least factor of the width: at a summit the start leads any cloud."""

    # Refits of the surrogate
    choice_interval: int = 4
    """Batches between two choices of structure share and lengthscales."""

    noise_neighbours: int = 3
    """Noise variances among which a refit chooses: the last one and its neighbours on the grid."""

    first_noise_variance: float = 0.2
    """Noise variance before the first choice."""

    refit_radius_change: float = 1.2
    """Factor of the radius that makes a refit due, as lengthscales follow the radius."""

    # Hyperparameters chosen by evidence
    noise_variances: tuple[float, ...] = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
    """Grid of noise variances."""

    small_noise_variances: tuple[float, ...] = (1e-4, 1e-3, 5e-3)
    """Extension of the grid for functions without noise."""

    large_noise_variances: tuple[float, ...] = (3.2, 6.4, 12.8)
    """Extension of the grid for the choice of structure, which would else pass for noise."""

    lengthscale_multiples: tuple[float, ...] = (0.35, 0.5, 1.0, 2.0, 4.0, 8.0)
    """Grid of lengthscales, in multiples of the radius."""

    lengthscale_penalty: float = 0.25
    """Log evidence subtracted per squared doubling of the lengthscale from the radius."""

    structure_shares: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)
    """Grid of the structured term's share of the output variance."""

    structure_penalty: float = 10.0
    """Log evidence by which structure must beat the common term alone.

    Where returns are mostly noise, two shares differ by a few by chance."""

    # Relevance of dimensions
    relevance_window: int = 2400
    """Latest evaluations to which the relevance of dimensions is fitted."""

    relevance_bounds: tuple[float, float] = (0.1, 20.0)
    """Least and greatest relevance of a dimension."""

    # Acquisition
    variance_floor: float = 1e-12
    """Least posterior variance of a candidate."""


SEARCH_CONSTANTS: Final = LocalSearchConstants()
"""Constants of every local search."""
