"""Metric of the local search: relevance of each dimension for the latest returns."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from rolecast.core.errors import ConfigError
from rolecast.core.types import Float
from rolecast.platform.optimizers.local_gp.constants import SEARCH_CONSTANTS
from rolecast.platform.optimizers.local_gp.settings import LocalGpSettings
from rolecast.platform.optimizers.observations import Observations
from rolecast.platform.surrogate.outcome_transform import transform_returns
from rolecast.platform.surrogate.relevance import group_variances, relevance


class Metric:
    """Relevance of D dimensions, fitted at each refit; its exponent falls with evaluations."""

    def __init__(self, config: LocalGpSettings, power: float, *, dimension: int) -> None:
        """Start with relevance 1 for all dimensions.

        Args:
            config: groups, and the evaluations at which relevance starts and ends.
            power: exponent of relevance at the start; 0: off.
            dimension: D.

        Raises:
            ConfigError: the number of groups is not `dimension`.
        """
        self._config, self._power = config, power
        self._groups = _groups(config, dimension)
        self._variances = np.ones(int(self._groups.max()) + 1)
        self._relevance = np.ones(dimension)

    @property
    def relevance(self) -> Float:
        """Relevance [D] of each dimension, of mean 1."""
        return self._relevance

    @property
    def stretch(self) -> Float:
        """Factors [D] from the cube to the coordinates of the process: sqrt(relevance)."""
        return np.sqrt(self._relevance)

    def update(self, data: Observations, radius: float) -> None:
        """Fit the relevance to the latest evaluations; inputs are in units of the radius.

        Evaluations round all recent centres count alike. The rise of returns from centre to centre
        is thus credited to the dimensions in which the centre moved. Differences of pairs alone do
        not hold it, and lose by it (docs/notebook/2026-11-local-search.md).
        """
        config, count = self._config, len(data)
        power = self._power * max(0.0, 1.0 - count / config.relevance_end)
        if power == 0.0 or count < config.relevance_start:
            self._relevance = np.ones(data.dimension)
            return
        recent = slice(max(0, count - SEARCH_CONSTANTS.relevance_window), None)
        targets, _ = transform_returns(data.returns[recent], config.outcome_transform)
        design = data.candidates[recent] / (radius / np.sqrt(data.dimension))
        self._variances = group_variances(
            design - design.mean(0), targets, self._groups, self._variances
        )
        self._relevance = relevance(
            self._variances, self._groups, power, SEARCH_CONSTANTS.relevance_bounds
        )

    def state_dict(self) -> dict[str, Any]:
        """Return the prior variances of the groups, and the relevance."""
        return {"variances": self._variances.copy(), "relevance": self._relevance.copy()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._variances = np.array(state["variances"], dtype=np.float64)
        self._relevance = np.array(state["relevance"], dtype=np.float64)


def _groups(config: LocalGpSettings, dimension: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the relevance group of each dimension."""
    if config.groups is None:
        return np.arange(dimension)
    if len(config.groups) != dimension:
        field = f"{type(config).__name__}.groups"
        raise ConfigError(field, f"{len(config.groups)} groups", f"one for each of {dimension}")
    return np.asarray(config.groups, dtype=np.int64)
