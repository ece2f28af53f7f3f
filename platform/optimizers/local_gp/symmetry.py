"""Evidence for a symmetric subspace, from differences within mirrored pairs.

Both candidates of a pair meet the same episodes. Their difference y(c + d) - y(c - d) = 2 g d + e
shows the gradient g with little noise. The marginal likelihood compares two priors: symmetric,
g ~ N(0, v P), where P projects on the symmetric subspace, and isotropic, g ~ N(0, v I). Wrong ties
leave most of the gradient outside (docs/notebook/2026-11-symmetry.md).

Source: Bayesian linear regression, Bishop (2006), section 3.5. Differs: v is profiled.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from rolecast.core.types import Float
from rolecast.platform.optimizers.local_gp.constants import SEARCH_CONSTANTS
from rolecast.policies.symmetry import TiedSubspace

SYMMETRY_USES: Final = ("evidence", "assumed", "ignored")
"""Values of the setting `symmetry`."""


def evidence_against(
    candidates: Float,
    targets: Float,
    groups: NDArray[np.int64],
    subspace: TiedSubspace,
) -> float:
    """Return log evidence of the isotropic prior less that of the symmetric one.

    Args:
        candidates: [N, D], in the cube.
        targets: [N], transformed returns.
        groups: [N], evaluations of one number share their episodes. Without pairs all
            evaluations are compared with their mean.
        subspace: the symmetric subspace.
    Returns:
        Above 0 where the data speak against the symmetries.
    """
    first, second = pairs(groups)
    if len(first):
        moves = candidates[first] - candidates[second]
        values = targets[first] - targets[second]
    else:
        moves, values = candidates - candidates.mean(0), targets - targets.mean()
    inside = moves @ subspace.basis
    return linear_evidence(moves, values) - linear_evidence(inside, values)


def pairs(groups: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the places [P] of the first and of the second evaluation of each pair.

    Args:
        groups: [N], evaluations of one number are a pair, in any order.
    """
    order = np.argsort(groups, kind="stable")
    place = np.flatnonzero(groups[order[1:]] == groups[order[:-1]])
    return order[place], order[place + 1]


def linear_evidence(inputs: Float, values: Float) -> float:
    """Return the maximum log evidence of y = X w + e over variances of w and e, up to a constant.

    log p = -N/2 log(y^T C^-1 y / N) - 1/2 log |C|, C = X X^T / t + s I, t = tr(X X^T) / N, over a
    grid of s; the scale of C is profiled.

    Args:
        inputs: [N, K].
        values: [N], not all 0.
    """
    count, size = inputs.shape
    energy = float(values @ values)
    if energy == 0.0:
        return 0.0
    spread = float(np.square(inputs).sum()) / count
    if spread == 0.0:
        return float(-0.5 * count * np.log(energy / count))
    # Eigenvalues of X X^T from the smaller of X X^T and X^T X; the others are 0.
    small = inputs.T @ inputs if size < count else inputs @ inputs.T
    eigenvalues, vectors = np.linalg.eigh(small / spread)
    kept = eigenvalues > SEARCH_CONSTANTS.least_eigenvalue * eigenvalues[-1]
    eigenvalues, vectors = eigenvalues[kept], vectors[:, kept]
    moments = vectors.T @ (inputs.T @ values if size < count else values)
    if size < count:
        moments = moments / np.sqrt(eigenvalues * spread)
    rest = max(energy - float(moments @ moments), 0.0)
    noises = np.array(SEARCH_CONSTANTS.linear_noises)[:, None]
    whole = eigenvalues + noises
    misfit = (np.square(moments) / whole).sum(1) + rest / noises[:, 0]
    determinant = np.log(whole).sum(1) + (count - len(eigenvalues)) * np.log(noises[:, 0])
    return float((-0.5 * count * np.log(misfit / count) - 0.5 * determinant).max())
