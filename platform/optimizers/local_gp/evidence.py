"""Hyperparameters chosen by evidence: noise, lengthscales and the share of structure.

Evidence is the log marginal likelihood of the transformed returns, maximised over the output
variance (`fit`).
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

import numpy as np

from rolecast.core.types import Float
from rolecast.platform.optimizers.local_gp.constants import SEARCH_CONSTANTS
from rolecast.platform.surrogate.dense import Matrix
from rolecast.platform.surrogate.gp import fit

Label = TypeVar("Label")

KERNEL_STRUCTURES: Final = ("common", "pairs", "cliques")
"""Kernels compared by evidence: one term over all dimensions (`Matern`), all pairs (`AllPairs`),
and a sum over cliques (`CliqueSum`)."""


def evidence_of(covariance: Matrix, targets: Float, shape: Float, noises: Sequence[float]) -> float:
    """Return the maximum log evidence of a covariance [N, N] over noise levels of a shape [N]."""
    return max(fit(covariance, targets, noise * shape).log_evidence for noise in noises)


def best_scale(
    matrix: Callable[[float], Matrix], targets: Float, shape: Float, noises: Sequence[float]
) -> float:
    """Return the one of `lengthscale_multiples` with the greatest penalised evidence.

    Args:
        matrix: covariance [N, N] as a function of the multiple.
        targets: [N], transformed returns.
        shape: [N], relative noise variances.
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
        shape: [N], relative noise variances.
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
