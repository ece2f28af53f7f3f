"""Settings of the local search, all but how it is built: what its parts may know of them."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Final

from rolecast.core.errors import ConfigError
from rolecast.core.validation import (
    COUNT,
    COUNT_OR_ZERO,
    FLAG,
    NOT_NEGATIVE,
    POSITIVE,
    UNIT,
    Rule,
    Rules,
    check,
    one_of,
    or_none,
)
from rolecast.platform.optimizers.local_gp.acquisition import ACQUISITIONS
from rolecast.platform.optimizers.local_gp.defaults import (
    LENGTHSCALES,
    NARROWINGS,
    POLICIES,
    Reach,
    black_boxes,
)
from rolecast.platform.optimizers.structure.settings import FinderSettings
from rolecast.platform.surrogate.dense import check_device
from rolecast.platform.surrogate.outcome_transform import LEVELLING

RULES: Final[Rules] = {
    **dict.fromkeys(("radius", "final_radius", "step"), or_none(POSITIVE)),
    "narrowing": or_none(one_of(*NARROWINGS)),
    "signal_to_noise": or_none(NOT_NEGATIVE),
    "heed_start": or_none(FLAG),
    "lengthscale": or_none(one_of(*LENGTHSCALES)),
    "acquisition": one_of("cloud", *ACQUISITIONS),
    "beta": NOT_NEGATIVE,
    **dict.fromkeys(("averaged", "relevance_cloud", "stderr_weight"), UNIT),
    "relevance_power": or_none(UNIT),
    **dict.fromkeys(("choices", "window", "relevance_start", "relevance_end"), COUNT),
    "levelling": LEVELLING,
    "groups": or_none(
        Rule(
            lambda value: isinstance(value, list | tuple) and all(map(COUNT_OR_ZERO.allows, value)),
            "integers >= 0",
        )
    ),
    "evaluations": or_none(COUNT),
}
"""What the settings of a local search may be, but for the device."""


@dataclass(frozen=True, kw_only=True)
class LocalGpSettings:
    """A Gaussian process over a cloud around a moving centre.

    Differs: the paper searches the whole cube. In some 350 dimensions, with returns that are
    mostly noise, that finds nothing (docs/optimizers.md), so the process looks at a cloud of
    radius `radius` round a centre which climbs its posterior mean.

    How far it looks depends on what is searched: a policy's weights, or a black box (`Reach`).
    """

    radius: float | None = None
    """Root mean square distance of a candidate from the centre at first; the cube has side 1. None:
    0.2 for a policy's weights, as wide as the cube, sqrt(D / 12), for a black box."""

    final_radius: float | None = None
    """The least radius, unless noise allows less. None: a fifth of the first; for a black box a
    hundredth by "schedule", a thousandth by "progress"."""

    narrowing: str | None = None
    """When the cloud narrows: geometrically over the budget ("schedule"), or while the centre's
    moves cancel ("progress"), widening again while they add up. None: "schedule" for a policy's
    weights and for a black box whose budget is known (`evaluations`), else "progress"."""

    signal_to_noise: float | None = None
    """Variance of candidates' returns that is not noise, in units of that which is, above which the
    cloud narrows, by up to a factor of 4; it widens again below. Beyond 30 times as much noise
    limits nothing, and fewer episodes are taken (`fewer_episodes`). 0: neither. None: 1 for a
    policy's weights, 0 for a black box."""

    heed_start: bool | None = None
    """Whether the middle of the cube is evaluated too, and a search that has nothing as good in its
    cloud goes back there with one half as wide, up to 4 times. None: true for a policy's weights,
    false for a black box."""

    lengthscale: str | None = None
    """Of the process: the radius of the "cloud", or a multiple of it chosen by "evidence". None:
    "cloud" for a policy's weights, "evidence" for a black box."""

    step: float | None = None
    """Longest move of the centre in one batch, as a share of the radius. None: 0.3 for a policy's
    weights, 0.4 for a black box."""

    acquisition: str = "cloud"
    """Which points of the cloud are evaluated: as many as are drawn ("cloud"), or of more those of
    the greatest upper confidence bound ("ucb"), expected improvement ("log_ei") or draws of the
    process ("thompson")."""

    choices: int = 8
    """Points of the cloud for each one that such an acquisition chooses."""

    beta: float = 0.2
    """Factor of beta_t = beta d log(2 t) in the upper confidence bound, t evaluations, d the size
    of the largest clique or 1."""

    averaged: float = 0.1
    """Share of all batches so far, the latest ones, whose centres are averaged into the incumbent:
    the centre itself walks at random about a summit."""

    window: int = 480
    """Latest evaluations that the process sees."""

    levelling: str | None = None
    """How returns are made comparable: "signed_sqrt", "rank" or "none". A search of a policy's
    weights fills it with "signed_sqrt"; None is "none"."""

    stderr_weight: float = 0.25
    """How far an evaluation's own standard error sets its noise: 0 all alike, 1 wholly. A standard
    error from 8 episodes is itself uncertain by a quarter, so it is trusted in part."""

    groups: tuple[int, ...] | None = None
    """Group of each dimension for the relevance. A search fills it with the policy's
    `input_groups`; None says that a black box is searched, where each is its own."""

    relevance_power: float | None = None
    """How strongly relevance stretches the metric at first; 0 turns it off. None: 0.5 for a
    policy's weights, 0 for a black box."""

    relevance_cloud: float = 0.5
    """How strongly relevance shapes the cloud, as a share of how it stretches the metric."""

    relevance_start: int = 300
    """Evaluations before relevance is trusted."""

    relevance_end: int = 3200
    """Evaluations at which it has faded out, linearly."""

    evaluations: int | None = None
    """Budget of a black box, in evaluations, over which its cloud narrows unless it does so by
    "progress"; None: not known. Of a policy's weights, least length of the schedule, None: 4,000. A
    larger budget stretches it; a smaller one narrows the cloud less far: one that narrows before
    the centre has climbed stands still."""

    device: str = "cpu"
    """Where covariances are computed and factored: "cpu", "cuda" or "cuda:1". For windows of
    thousands of evaluations, or tens of thousands of cliques; below that the CPU is as quick."""

    def __post_init__(self) -> None:
        owner = type(self).__name__
        check_device(f"{owner}.device", self.device)
        check(owner, vars(self), RULES)
        if self.radius and self.final_radius and self.final_radius > self.radius:
            raise ConfigError(f"{owner}.final_radius", self.final_radius, "above 0, <= radius")

    def reach(self, dimension: int) -> Reach:
        """Return how far the search looks: what is set, and what suits a policy or black box.

        Raises:
            ConfigError: the final radius is greater than the first.
        """
        usual = POLICIES
        if self.groups is None:
            planned = self.evaluations is not None
            narrowing = self.narrowing or ("schedule" if planned else "progress")
            usual = black_boxes(dimension, narrowing)
        names = (field.name for field in fields(Reach))
        chosen = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        if "final_radius" not in chosen and "radius" in chosen:
            chosen["final_radius"] = chosen["radius"] * usual.final_radius / usual.radius
        found = replace(usual, **chosen)
        if found.final_radius > found.radius:
            field = f"{type(self).__name__}.final_radius"
            raise ConfigError(field, found.final_radius, f"<= radius, which is {found.radius:g}")
        return found

    def surrogate_cliques(self) -> Sequence[Sequence[int]] | None:
        """Return the cliques of the surrogate's second term; None for none."""
        return None

    def finder_settings(self) -> FinderSettings | None:
        """Return how cliques are looked for in the evaluations; None: they are not."""
        return None
