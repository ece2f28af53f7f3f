"""Hyperparameters chosen by evidence: noise, lengthscales and the share of structure.

Evidence is the log marginal likelihood of the transformed returns, maximised over the output
variance (`fit`).
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from rolecast.core.types import Float
from rolecast.platform.optimizers.local_gp.constants import SEARCH_CONSTANTS
from rolecast.platform.surrogate.dense import Matrix
from rolecast.platform.surrogate.gp import fit

Label = TypeVar("Label")

KERNEL_STRUCTURES: Final = ("common", "pairs", "cliques")
"""Kernels compared by evidence: one term over all dimensions (`Matern`), all pairs (`AllPairs`),
and a sum over cliques (`CliqueSum`)."""


def evidence_of(covariance: Matrix, targets: Float, shape: Float, noises: Sequence[float]) -> float:
    """Return the maximum log evidence of a covariance [N, N] over levels of a noise shape.

    The shape has relative variances [N], or is their covariance matrix [N, N].
    """
    return max(fit(covariance, targets, noise * shape).log_evidence for noise in noises)


def best_scale(
    matrix: Callable[[float], Matrix], targets: Float, shape: Float, noises: Sequence[float]
) -> float:
    """Return the one of `lengthscale_multiples` with the greatest penalised evidence.

    Args:
        matrix: covariance [N, N] as a function of the multiple.
        targets: [N], transformed returns.
        shape: relative noise variances [N], or their covariance matrix [N, N].
        noises: levels that multiply the shape.
    """
    found = {
        scale: evidence_of(matrix(scale), targets, shape, noises)
        - SEARCH_CONSTANTS.lengthscale_penalty * np.log2(scale) ** 2
        for scale in SEARCH_CONSTANTS.lengthscale_multiples
    }
    return max(found, key=lambda scale: found[scale])


def best_share(
    covariance: Matrix,
    structured: Iterable[tuple[Label, Matrix]],
    targets: Float,
    shape: Float,
    noises: Sequence[float],
    shares: Sequence[float],
) -> tuple[float, Label | None, Matrix | None]:
    """Return the share s of greatest evidence, with label and covariance of its structured term.

    Mixtures are (1 - s) K_common + s K_structured. Label and covariance are None for s = 0.

    Args:
        covariance: [N, N] of the common term.
        structured: labels of the terms, and their covariances [N, N].
        targets: [N], transformed returns.
        shape: relative noise variances [N], or their covariance matrix [N, N].
        noises: levels that multiply the shape.
        shares: above 0; they are compared with s = 0 plus `structure_penalty`.
    """
    best = evidence_of(covariance, targets, shape, noises) + SEARCH_CONSTANTS.structure_penalty
    chosen: tuple[float, Label | None, Matrix | None] = 0.0, None, None
    for label, matrix in structured:
        for share in shares:
            mixed = covariance + share * (matrix - covariance)
            found = evidence_of(mixed, targets, shape, noises)
            if found > best:
                best, chosen = found, (share, label, matrix)
    return chosen


def noise_shape(deviations: Float, weight: float) -> Float:
    """Return the relative noise variance [N] of each evaluation: (se_i / median)^(2 weight).

    The squared ratio is limited to [0.05, 20]. An error that is unknown or 0 counts as the median.
    """
    known = np.isfinite(deviations) & (deviations > 0.0)
    if not known.any():
        return np.ones(len(deviations))
    typical = float(np.median(deviations[known]))
    ratio = np.where(known, deviations, typical) / typical
    return np.asarray(np.clip(ratio**2, 0.05, 20.0) ** weight)


def noise_matrix(variances: Float, groups: NDArray[np.int64], correlation: float) -> Float:
    """Return the noise matrix W [N, N] of evaluations, of which some share their episodes.

    W_ij = rho sqrt(w_i w_j) for i != j of one group, W_ii = w_i: candidates that meet the same
    episodes have a common error.

    Args:
        variances: relative noise variances w [N].
        groups: [N], evaluations of one number share their episodes.
        correlation: rho, in [0, 1).

    Returns:
        `variances` themselves where rho is 0 or no two evaluations share episodes.
    """
    if correlation == 0.0 or len(np.unique(groups)) == len(groups):
        return variances
    roots = np.sqrt(variances)
    together = groups[:, None] == groups[None]
    matrix = correlation * together * np.outer(roots, roots)
    matrix[np.diag_indices_from(matrix)] = variances
    return np.asarray(matrix)


def best_correlation(
    covariance: Matrix,
    targets: Float,
    variances: Float,
    groups: NDArray[np.int64],
    noises: Sequence[float],
) -> float:
    """Return the correlation of errors on the same episodes with the greatest evidence.

    Args:
        covariance: [N, N] of the function.
        targets: [N], transformed returns.
        variances: [N], relative noise variances.
        groups: [N], evaluations of one number share their episodes; without any: 0.
        noises: levels that multiply the noise matrix.
    """
    if len(np.unique(groups)) == len(groups):
        return 0.0

    def evidence(correlation: float) -> float:
        shape = noise_matrix(variances, groups, correlation)
        return evidence_of(covariance, targets, shape, noises)

    return max(SEARCH_CONSTANTS.error_correlations, key=evidence)
