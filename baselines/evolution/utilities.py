"""Returns made comparable by their ranks, so that neither their scale nor an outlier decides."""

import numpy as np
from scipy.stats import rankdata

from rolecast.core.types import Float
from rolecast.platform.optimizers.recombination import recombination_weights


def centered_ranks(returns: Float) -> Float:
    """Return ranks [n] of returns [n], evenly spaced from -0.5 (worst) to 0.5 (best).

    Source: Salimans et al. (2017), the shaping of their published code. Differs: equal returns
    share the mean of their ranks, so that a plateau (sparse reward) gives no direction by accident.
    """
    ranks = np.asarray(rankdata(returns, method="average"), dtype=np.float64)
    return (ranks - 1.0) / (len(returns) - 1.0) - 0.5


def nes_utilities(returns: Float) -> Float:
    """Return the utilities [n] of natural evolution strategies for returns [n]; their sum is 0.

    Source: Wierstra et al. (2014), section 3.1.
    """
    return recombination_weights(returns) - 1.0 / len(returns)
