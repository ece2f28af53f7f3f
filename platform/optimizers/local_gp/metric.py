"""Metric of the local search: relevance of dimensions, and symmetries that evidence accepts.

The process sees a point x of the cube as S x, S = diag(sqrt(relevance)). Once symmetries are
accepted it sees P S x, P being the projection on the symmetric subspace. Relevance is then equal
within an orbit, so that S and P commute.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rolecast.core.errors import ConfigError
from rolecast.core.types import Float
from rolecast.platform.optimizers.local_gp.constants import SEARCH_CONSTANTS
from rolecast.platform.optimizers.local_gp.settings import LocalGpSettings
from rolecast.platform.optimizers.local_gp.symmetry import evidence_against
from rolecast.platform.optimizers.observations import Observations
from rolecast.platform.surrogate.outcome_transform import transform_returns
from rolecast.platform.surrogate.relevance import group_variances, relevance
from rolecast.policies.symmetry import TiedSubspace


class Metric:
    """Relevance of D dimensions, fitted at each refit; its exponent falls with evaluations."""

    def __init__(self, config: LocalGpSettings, power: float, *, dimension: int) -> None:
        """Start with relevance 1 for all dimensions.

        Args:
            config: groups, and the evaluations at which relevance starts and ends.
            power: exponent of relevance at the start; 0: off.
            dimension: D.

        Raises:
            ConfigError: groups or ties are not `dimension` many, or one of them is too large.
        """
        self._config, self._power = config, power
        groups = _one_each("groups", config, config.groups, dimension, most=dimension - 1)
        self._groups = np.arange(dimension) if groups is None else groups
        ties = _one_each("ties", config, config.ties, dimension, most=dimension)
        used = ties is not None and config.symmetry != "ignored"
        self._subspace = TiedSubspace(ties) if ties is not None and used else None
        self.symmetric = used and config.symmetry == "assumed"
        """Whether the symmetries are accepted."""
        self.evidence_against = 0.0
        """Log evidence against the symmetries at the last choice."""
        self._relevance = np.ones(dimension)
        self._first_inside = 1
        self._use_groups()

    def _use_groups(self) -> None:
        """Give relevance to groups or, once symmetries are accepted, to orbits; start at 1."""
        ties = self._config.ties
        self._present = np.abs(ties) if self.symmetric and ties is not None else self._groups
        self._variances = np.ones(int(self._present.max()) + 1)

    @property
    def relevance(self) -> Float:
        """Relevance [D] of each dimension, of mean 1."""
        return self._relevance

    @property
    def by_evidence(self) -> bool:
        """Whether evidence accepts or refuses symmetries."""
        return self._subspace is not None and self._config.symmetry == "evidence"

    @property
    def knows_symmetries(self) -> bool:
        """Whether symmetries are declared and used, accepted or not."""
        return self._subspace is not None

    @property
    def free_share(self) -> float:
        """Share k / D of the dimensions in which the cloud lies, 1 without accepted symmetries."""
        if self._subspace is None or not self.symmetric:
            return 1.0
        return self._subspace.dimension / len(self._relevance)

    def judge_symmetries(self, data: Observations, groups: NDArray[np.int64]) -> None:
        """Accept or refuse the symmetries, where evidence differs enough.

        Args:
            data: all evaluations.
            groups: [N], evaluations of one number share their episodes.
        """
        if self._subspace is None:
            return
        recent = slice(max(0, len(data) - SEARCH_CONSTANTS.symmetry_window), None)
        targets, _ = transform_returns(data.returns, self._config.outcome_transform, rows=recent)
        self.evidence_against = evidence_against(
            data.candidates[recent], targets, groups[recent], self._subspace
        )
        if self.symmetric:
            turns = self.evidence_against > SEARCH_CONSTANTS.refusal_margin
        else:
            turns = self.evidence_against < -SEARCH_CONSTANTS.acceptance_margin
        if turns:
            self.symmetric = not self.symmetric
            self._use_groups()

    def seen(self, points: Float) -> Float:
        """Return points [..., D] of the cube in the coordinates of the process."""
        return self._inside(points * np.sqrt(self._relevance))

    def pulled_back(self, gradient: Float) -> Float:
        """Return the gradient [D] by the cube of one by the coordinates of the process."""
        return np.sqrt(self._relevance) * self._inside(gradient)

    def symmetric_part(self, point: Float) -> Float:
        """Return a point [D] of the cube; once symmetries are accepted, its symmetric part.

        What lies outside the subspace was moved by noise alone.
        """
        if self._subspace is None or not self.symmetric:
            return point
        return 0.5 + self._subspace.projected(point - 0.5)

    def shaped(self, noise: Float, radius: float) -> Float:
        """Return normal draws [q, D] in the shape of the cloud, of root mean square `radius`.

        Until evidence decides, every second draw lies in the symmetric subspace; of single draws
        every second call's. If the symmetries hold, its differences of returns are larger, by
        sqrt(D / k). Once they are accepted, a small part stays outside, so that evidence can still
        turn.
        """
        shape = self._relevance ** (0.5 * self._config.relevance_cloud)
        shape *= radius / np.sqrt(len(shape)) / np.sqrt(np.square(shape).mean())
        drawn = np.asarray(shape * noise)
        if self._subspace is None or not (self.symmetric or self._undecided):
            return drawn
        basis = self._subspace.basis
        inside = self._subspace.part(drawn)
        # Mean squares of a draw as it is, and of its part in the subspace.
        whole, within = radius**2, float((np.square(shape)[:, None] * np.square(basis)).sum())
        if self._undecided:
            drawn[self._first_inside :: 2] = (
                np.sqrt(whole / within) * inside[self._first_inside :: 2]
            )
            if len(drawn) == 1:
                self._first_inside = 1 - self._first_inside
            return drawn
        outside = SEARCH_CONSTANTS.asymmetric_variance if self.by_evidence else 0.0
        mixed = inside + np.sqrt(outside) * (drawn - inside)
        return np.asarray(np.sqrt(whole / (within + outside * (whole - within))) * mixed)

    @property
    def _undecided(self) -> bool:
        """Whether evidence for or against the symmetries is still to come."""
        possible = self.evidence_against <= SEARCH_CONSTANTS.refusal_margin
        return self.by_evidence and possible and not self.symmetric

    def _inside(self, points: Float) -> Float:
        """Return the part of points [..., D] in the subspace, once symmetries are accepted."""
        if self._subspace is None or not self.symmetric:
            return points
        return self._subspace.part(points)

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
        targets, _ = transform_returns(data.returns, config.outcome_transform, rows=recent)
        design = data.candidates[recent] / (radius / np.sqrt(data.dimension))
        self._variances = self._fitted(design - design.mean(0), targets)
        self._relevance = relevance(
            self._variances, self._present, power, SEARCH_CONSTANTS.relevance_bounds
        )

    def _fitted(self, design: Float, targets: Float) -> Float:
        """Return the prior variances [G] of a linear fit to a design [N, D].

        In the symmetric subspace the fit has one weight for each of the k orbits, and costs as
        little. Weights that are always 0 there, number 0, get the least variance.
        """
        if self._subspace is None or not self.symmetric:
            return group_variances(design, targets, self._present, self._variances)
        inside = design @ self._subspace.basis
        orbits = np.arange(self._subspace.dimension)
        found = group_variances(inside, targets, orbits, self._variances[1:])
        return np.concatenate([found.min(keepdims=True), found])

    def explain(self) -> dict[str, float]:
        """Return the judgement of the symmetries, where evidence makes it."""
        if not self.by_evidence:
            return {}
        against = self.evidence_against
        return {"symmetric": float(self.symmetric), "evidence_against_symmetry": against}

    def state_dict(self) -> dict[str, Any]:
        """Return the prior variances of the groups, and the relevance."""
        return {
            "variances": self._variances.copy(),
            "relevance": self._relevance.copy(),
            "symmetric": self.symmetric,
            "evidence_against": self.evidence_against,
            "first_inside": self._first_inside,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self.symmetric = bool(state["symmetric"])
        self._use_groups()
        self._variances = np.array(state["variances"], dtype=np.float64)
        self._relevance = np.array(state["relevance"], dtype=np.float64)
        self.evidence_against = float(state["evidence_against"])
        self._first_inside = int(state.get("first_inside", 1))  # earlier states have none


def _one_each(
    name: str, config: LocalGpSettings, values: Sequence[int] | None, dimension: int, *, most: int
) -> NDArray[np.int64] | None:
    """Return integers [D] of a setting, or None.

    Raises:
        ConfigError: they are not one for each dimension, or one is above `most` in size.
    """
    if values is None:
        return None
    field = f"{type(config).__name__}.{name}"
    if len(values) != dimension:
        raise ConfigError(field, f"{len(values)} {name}", f"one for each of {dimension}")
    largest = max(values, key=abs)
    if abs(largest) > most:
        raise ConfigError(field, largest, f"at most {most} in size, with {dimension} dimensions")
    return np.asarray(values, dtype=np.int64)
