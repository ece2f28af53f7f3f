"""Prediction rule of the local search: width of the cloud in the symmetric subspace.

Once symmetries are accepted the cloud lies in k of D dimensions. At the same radius each of them is
sqrt(D / k) as wide as before, and returns are less linear there. A narrower cloud suits them if its
differences can still be told from noise. That is seen by what the process predicted of the latest
pairs before it was told of them.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rolecast.platform.optimizers.local_gp.constants import SEARCH_CONSTANTS
from rolecast.platform.optimizers.local_gp.metric import Metric
from rolecast.platform.optimizers.local_gp.settings import LocalGpSettings
from rolecast.platform.optimizers.local_gp.symmetry import pairs
from rolecast.platform.optimizers.observations import Observations
from rolecast.platform.surrogate.gp import Posterior
from rolecast.platform.surrogate.outcome_transform import transform_returns


class PredictionRule:
    """Width factor by the correlation of predicted and observed differences of pairs."""

    def __init__(self, config: LocalGpSettings) -> None:
        """Start with width 1 and correlation 0.

        Args:
            config: window and transform of the returns.
        """
        self._config = config
        self._width, self._correlation = 1.0, 0.0

    def width(self, free_share: float) -> float:
        """Return the factor of the radius, from sqrt(k / D) to 1.

        Args:
            free_share: k / D; at the least width a dimension is as wide as without symmetries.
        """
        return max(self._width, float(free_share**0.5))

    def update(
        self,
        prior: Posterior,
        metric: Metric,
        data: Observations,
        groups: NDArray[np.int64],
        known: int,
    ) -> None:
        """Update by the differences within the latest pairs.

        Args:
            prior: posterior before they were told.
            metric: map from the cube to the coordinates of the posterior.
            data: all N evaluations.
            groups: [N], evaluations of one number are a pair, in any order.
            known: evaluations before the latest ones.
        """
        first, second = pairs(groups[known:])
        if not len(first):
            return
        means = prior.mean(metric.seen(data.candidates[known:]))
        recent = slice(-max(self._config.window, len(means)), None)
        targets, _ = transform_returns(data.returns, self._config.outcome_transform, rows=recent)
        latest = targets[-len(means) :]
        predicted, observed = means[first] - means[second], latest[first] - latest[second]
        norms = float(np.linalg.norm(predicted) * np.linalg.norm(observed))
        found = float(predicted @ observed) / norms if norms > 0.0 else 0.0
        weight = min(1.0, len(first) / SEARCH_CONSTANTS.full_prediction_pairs)
        self._correlation += (
            weight * SEARCH_CONSTANTS.correlation_weight * (found - self._correlation)
        )
        # log w += min(1, P / 24) 0.3 clip(1 - c / 0.2, -1, 1)
        wider = np.clip(1.0 - self._correlation / SEARCH_CONSTANTS.wanted_correlation, -1.0, 1.0)
        change = float(np.exp(weight * SEARCH_CONSTANTS.prediction_width_rate * wider))
        self._width = float(np.clip(self._width * change, metric.free_share**0.5, 1.0))

    def explain(self) -> dict[str, float]:
        """Return the averaged correlation."""
        return {"prediction_correlation": self._correlation}

    def state_dict(self) -> dict[str, Any]:
        """Return the width and the averaged correlation."""
        return {"width": self._width, "correlation": self._correlation}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._width, self._correlation = float(state["width"]), float(state["correlation"])
