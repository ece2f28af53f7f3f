"""Numeric constants of the local search, apart from its settings."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, kw_only=True)
class LocalSearchConstants:
    """Rates, thresholds and grids of the local search; chosen on predator-prey and test functions.

    Radii are distances in the unit cube. Variances are shares of the kernel's output variance.
    """

    # Radius of the trust region
    move_weight: float = 0.3
    """Weight of the latest move in the exponential average of moves."""

    neutral_move_length: float = 0.7
    """Length of the averaged move at which the radius stays, in maximum steps.

    Moves of full length in one direction reach 1, random ones 0.42."""

    radius_rate: float = 0.4
    """Change of the log radius per relative excess of the averaged move over the neutral length."""

    radius_change_bounds: tuple[float, float] = (0.5, 1.3)
    """Least and greatest factor of the radius from one batch to the next."""

    # Moves of the centre
    schedule_evaluations: int = 4000
    """Minimum evaluations of the radius schedule, where `evaluations` is None."""

    ascent_steps: int = 8
    """Gradient steps on the posterior mean in one move of the centre."""

    first_move_evaluations: int = 64
    """Evaluations before the first move, where no batch was asked for; else two batches."""

    last_batch_share: float = 0.4
    """Share of the budget spent on the first of two batches, from which on the second moves the
    centre however small it is."""

    cloud_cutoff: float = 3.0
    """Distance in radii beyond which a candidate is not counted as drawn from the cloud."""

    # Signal and noise of a batch
    noise_width_rate: float = 0.25
    """Share of the width error that one full batch corrects.

    The error is half the log of the wanted over the estimated signal-to-noise ratio."""

    full_noise_batch: int = 60
    """Evaluations of a full batch; a smaller batch corrects proportionally less."""

    signal_ratio_offset: float = 0.05
    """Signal-to-noise ratio added to every estimate; smaller ratios are not distinct from 0."""

    signal_ratio_limit: float = 1e6
    """Maximum signal-to-noise ratio reported, also for returns without noise."""

    least_noise_width: float = 0.25
    """Minimum factor of the radius due to noise."""

    quiet_ratio: float = 30.0
    """Signal-to-noise ratio over the wanted one, above which noise does not limit the radius.

    From twice this ratio the episodes of a candidate are halved."""

    least_episode_share: float = 1.0 / 16.0
    """Minimum share of the planned episodes of a candidate."""

    least_episodes: int = 2
    """Minimum episodes of a candidate; a standard error needs two."""

    # Restart at the centre of the cube
    restart_interval: float = 0.05
    """Share of the budget between two comparisons of the latest candidates with the start."""

    restart_evaluations: int = 12
    """Number n of latest evaluations in a comparison, or the latest batch if that is larger.

    A start of equal quality exceeds all n of them with probability 1 / (n + 1)."""

    restart_confirmations: int = 2
    """Evaluations of the start before the first restart, as one alone may be luck.

    The mean of all its evaluations is compared, before later restarts too."""

    restart_shrinkage: float = 0.5
    """Factor of the radius at a restart."""

    least_restart_width: float = 1.0 / 16.0
    """Minimum factor of the radius after restarts, of which a near-optimal start causes many."""

    # Several starts
    halving_share: float = 0.5
    """Share of the budget at which one start is left."""

    ranked_evaluations: int = 32
    """Latest evaluations of a start whose mean return ranks it."""

    # Refits of the surrogate
    choice_interval: int = 4
    """Batches between two choices of structure share and lengthscales."""

    noise_neighbours: int = 3
    """Noise variances compared in a refit: the last one and its neighbours on the grid."""

    first_noise_variance: float = 0.2
    """Noise variance before the first choice."""

    refit_radius_change: float = 1.2
    """Factor of the radius that makes a refit due; lengthscales are multiples of the radius."""

    # Hyperparameters chosen by evidence
    noise_variances: tuple[float, ...] = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
    """Grid of noise variances."""

    small_noise_variances: tuple[float, ...] = (1e-4, 1e-3, 5e-3)
    """Extension of the grid for functions without noise."""

    large_noise_variances: tuple[float, ...] = (3.2, 6.4, 12.8)
    """Extension of the noise grid for the choice of structure, which large noise would distort."""

    error_correlations: tuple[float, ...] = (0.0, 0.3, 0.5, 0.7, 0.85)
    """Grid of the correlation of two candidates' errors on the same episodes."""

    lengthscale_multiples: tuple[float, ...] = (0.35, 0.5, 1.0, 2.0, 4.0, 8.0)
    """Grid of lengthscales, in multiples of the radius."""

    lengthscale_penalty: float = 0.25
    """Log evidence subtracted, times the squared log2 of lengthscale over radius."""

    structure_shares: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)
    """Grid of the structured term's share of the output variance."""

    structure_penalty: float = 10.0
    """Log evidence by which structure must exceed the common term alone.

    With mostly noise, two shares differ by a few units by chance."""

    # Symmetric subspace
    asymmetric_variance: float = 0.02
    """Variance of a direction of the cloud outside the accepted subspace, relative to inside."""

    acceptance_margin: float = 1.0
    """Log evidence for the symmetric prior, over the isotropic one, that accepts symmetries."""

    refusal_margin: float = 3.0
    """Log evidence against the symmetric prior that refuses symmetries.

    A declaration is rarely wrong, so that refusing takes more evidence than accepting."""

    wanted_correlation: float = 0.2
    """Correlation of predicted and observed differences of pairs at which the width stays."""

    correlation_weight: float = 0.25
    """Weight of the latest batch in the exponential average of that correlation."""

    prediction_width_rate: float = 0.3
    """Greatest change of the log width in one batch."""

    full_prediction_pairs: int = 24
    """Pairs of a full batch; a smaller one changes average and width proportionally less."""

    symmetry_window: int = 960
    """Maximum evaluations, the latest ones, in that evidence."""

    linear_noises: tuple[float, ...] = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2)
    """Grid of the noise variance of a difference, relative to its signal variance."""

    least_eigenvalue: float = 1e-10
    """Least eigenvalue of a linear model, relative to the largest, that is not rounding."""

    # Relevance of dimensions
    relevance_window: int = 2400
    """Maximum evaluations, the latest ones, in the fit of relevance."""

    relevance_bounds: tuple[float, float] = (0.1, 20.0)
    """Minimum and maximum relevance of a dimension."""

    # Acquisition
    variance_floor: float = 1e-12
    """Minimum posterior variance of a candidate."""


SEARCH_CONSTANTS: Final = LocalSearchConstants()
"""Constants of every local search."""
