"""Settings of the local search, without the construction of the optimiser."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Final

from rolecast.core.errors import ConfigError
from rolecast.core.validation import (
    BOOLEAN_VALUE,
    COUNT_OR_ZERO,
    NOT_NEGATIVE,
    POSITIVE_INTEGER,
    POSITIVE_NUMBER,
    UNIT_INTERVAL,
    Rule,
    Rules,
    check,
    number_in,
    one_of,
    or_none,
)
from rolecast.platform.optimizers.local_gp.acquisition import ACQUISITION_NAMES
from rolecast.platform.optimizers.local_gp.symmetry import SYMMETRY_USES
from rolecast.platform.optimizers.local_gp.trust_region import (
    LENGTHSCALE_RULES,
    NARROWING_RULES,
    POLICY_DEFAULTS,
    SearchDefaults,
    black_box_defaults,
)
from rolecast.platform.optimizers.structure.settings import FinderSettings
from rolecast.platform.surrogate.dense import check_device
from rolecast.platform.surrogate.outcome_transform import OUTCOME_TRANSFORM_RULE

PLANNED_SIZES: Final = 2

LARGEST_LENGTH: Final = 1e6
"""Greatest radius, in sides of the cube, and greatest step, in radii."""

SETTING_RULES: Final[Rules] = {
    # Points nearer to one another have no kernel matrix of full rank, by rounding. Beyond a million
    # sides of the cube, squares overflow.
    "radius": or_none(number_in(1e-4, LARGEST_LENGTH)),
    "final_radius": or_none(number_in(1e-6, LARGEST_LENGTH)),
    "step": or_none(
        Rule(
            lambda value: POSITIVE_NUMBER.allows(value) and value <= LARGEST_LENGTH,
            f"a number in (0, {LARGEST_LENGTH:g}]",
        )
    ),
    "narrowing": or_none(one_of(*NARROWING_RULES)),
    "signal_to_noise": or_none(NOT_NEGATIVE),
    **dict.fromkeys(("restart_at_centre", "mirrored_pairs"), or_none(BOOLEAN_VALUE)),
    "lengthscale": or_none(one_of(*LENGTHSCALE_RULES)),
    "acquisition": one_of("cloud", *ACQUISITION_NAMES),
    "beta": NOT_NEGATIVE,
    **dict.fromkeys(("averaged", "relevance_cloud", "stderr_weight"), UNIT_INTERVAL),
    "relevance_power": or_none(UNIT_INTERVAL),
    "symmetry": one_of(*SYMMETRY_USES),
    **dict.fromkeys(("choices", "window", "relevance_start", "relevance_end"), POSITIVE_INTEGER),
    "outcome_transform": OUTCOME_TRANSFORM_RULE,
    "groups": or_none(
        Rule(
            lambda value: isinstance(value, list | tuple) and all(map(COUNT_OR_ZERO.allows, value)),
            "integers >= 0",
        )
    ),
    **dict.fromkeys(("evaluations", "starts"), or_none(POSITIVE_INTEGER)),
    "batch_plan": or_none(
        Rule(
            lambda value: (
                isinstance(value, list | tuple)
                and len(value) == PLANNED_SIZES
                and all(map(POSITIVE_INTEGER.allows, value))
            ),
            "two integers >= 1",
        )
    ),
    "ties": or_none(
        Rule(
            lambda value: (
                isinstance(value, list | tuple)
                and all(type(orbit) is int for orbit in value)
                and any(value)
            ),
            "signed integers, not all of them 0",
        )
    ),
}
"""Allowed values of the settings of a local search, without the device."""


@dataclass(frozen=True, kw_only=True)
class LocalGpSettings:
    """Local Bayesian optimisation: a Gaussian process in a trust region round a moving centre.

    Differs: the paper searches the whole cube, which finds nothing in some 350 dimensions with
    mostly noise (docs/optimizers.md). Here candidates are drawn within `radius` of a centre, which
    climbs the posterior mean.

    Defaults of None depend on the search: a policy's weights or a black box (`SearchDefaults`).
    """

    radius: float | None = None
    """Initial radius of the trust region, from 1e-4 to 1e6, in sides of the cube. It is the root
    mean square distance of a candidate from the centre. None: 0.2 for a policy's weights; for a
    black box sqrt(D / 12), the spread of the cube."""

    final_radius: float | None = None
    """Final radius of the trust region, from 1e-6 to `radius`. Noise and symmetries may reduce it
    further (`signal_to_noise`, `symmetry`). None: 1/5 of `radius`; for a black box 1/100 with
    "schedule" and 1/1000 with "progress"."""

    narrowing: str | None = None
    """Radius schedule: "schedule" shrinks it geometrically over the budget. "progress" shrinks
    it while moves of the centre cancel, and widens it while they add up. None: "schedule" for a
    policy's weights and for a black box with `evaluations`, else "progress"."""

    signal_to_noise: float | None = None
    """Signal-to-noise ratio of the returns above which the trust region narrows, at least 0;
    variance over variance. The radius shrinks by up to a factor of 4, and grows again below the
    ratio. At 30 times the ratio the radius is not limited; at 60 times fewer episodes are taken
    (`fewer_episodes`). 0: off. None: 1 for a policy's weights, 0 for a black box."""

    restart_at_centre: bool | None = None
    """Restart at the centre of the cube: the centre is evaluated too. The search restarts there, up
    to 4 times, with half the radius. It does so if two evaluations of the centre have a mean above
    0, and above all latest candidates. None: true for a policy's weights, false for a black box.
    Old name: `heed_start`."""

    mirrored_pairs: bool | None = None
    """Mirrored pairs: candidates c + d and c - d round the centre c, both on the same episodes.
    Their difference then has little noise. Used by the acquisition "cloud". None: true for a
    policy's weights, false for a black box."""

    lengthscale: str | None = None
    """Lengthscale of the kernel: "cloud", the radius of the trust region; or "evidence", its
    multiple with the greatest marginal likelihood. None: "cloud" for a policy's weights, "evidence"
    for a black box."""

    step: float | None = None
    """Maximum step of the centre in one batch, above 0, at most 1e6, in radii. `symmetry` does
    not reduce it. None: 0.3 for a policy's weights, 0.4 for a black box."""

    acquisition: str = "cloud"
    """Acquisition function of a batch: "cloud" evaluates all points drawn. "ucb" (upper
    confidence bound), "log_ei" (expected improvement) and "thompson" (posterior draws) choose
    among `choices` times as many."""

    choices: int = 8
    """Points drawn for each candidate that the acquisition function chooses, at least 1. Not
    used by "cloud"."""

    beta: float = 0.2
    """Exploration factor of "ucb", at least 0: beta_t = beta d log(2 t). Here t counts
    evaluations and d is the size of the largest clique, or 1."""

    averaged: float = 0.1
    """Fraction of batches, the latest ones, whose centres are averaged into the incumbent, in
    [0, 1]. The average removes the random walk of the centre about an optimum."""

    window: int = 480
    """Maximum evaluations in the Gaussian process, the latest ones, at least 1. Time grows as
    its cube."""

    outcome_transform: str | None = None
    """Transform of the returns before the fit: "signed_sqrt", "rank", "none" or "automatic".
    "automatic" is "none" once a return below 0 was told, "signed_sqrt" until then.
    None: "automatic" for a policy's weights, "none" for a black box. Old name: `levelling`."""

    stderr_weight: float = 0.25
    """Weight of the standard errors in the noise model, in [0, 1]. 0: all evaluations are
    equally noisy; 1: noise variance is proportional to the squared standard error. Squares
    count from 0.05 to 20 times the squared median, and an error of 0 as the median. From 8
    episodes a standard error is itself uncertain by a quarter."""

    groups: tuple[int, ...] | None = None
    """Relevance group of each dimension, D integers from 0 to D - 1. A search of a policy fills in
    its `input_groups`. None marks a black box, with one group per dimension."""

    ties: tuple[int, ...] | None = None
    """Signed orbits of the D dimensions under declared symmetries, from 1 to D; 0: held at the
    centre. Dimensions of one orbit are equal, with sign, in the symmetric subspace. A search of a
    policy fills in those of the task. None: no symmetries."""

    symmetry: str = "evidence"
    """Use of `ties`: "evidence" accepts them once the returns speak for them, and refuses wrong
    ones. "assumed": from the start. "ignored": never. With k of D dimensions free, the radius
    may fall by sqrt(k / D). It falls while the process predicts the differences of pairs."""

    relevance_power: float | None = None
    """Exponent of relevance in the metric at the start, in [0, 1]; 0: off. None: 0.5 for a
    policy's weights, 0 for a black box."""

    relevance_cloud: float = 0.5
    """Exponent of relevance in the shape of the trust region, in [0, 1], relative to
    `relevance_power`."""

    relevance_start: int = 300
    """Evaluations before relevance is used, at least 1."""

    relevance_end: int = 3200
    """Evaluations at which the exponent of relevance has fallen linearly to 0, at least 1."""

    evaluations: int | None = None
    """Evaluation budget, at least 1. Black box: the radius shrinks over it unless `narrowing` is
    "progress"; None: unknown. Policy: minimum length of the schedule, None: 4,000; a larger
    budget stretches it, a smaller one ends it early."""

    starts: int | None = None
    """Number of independent starts, at least 1. They share the first half of the budget, and the
    better half of them goes on until one is left. None: 1, or 4 for a `linear` policy of one agent
    with env steps for 25 episodes a weight. With more than one, `restart_at_centre` is off. A
    budget that nobody states, as of `make_optimizer` without `evaluations`, counts as 4,000."""

    batch_plan: tuple[int, int] | None = None
    """Proposed episodes of a candidate and candidates of a batch, each at least 1. None: by the
    budget, or as the policy hints. The settings `episodes` and `batch_size` of a search come first.
    """

    device: str = "cpu"
    """Device of the covariance matrices: "cpu", "cuda" or "cuda:1". A GPU pays for windows of
    thousands of evaluations, or tens of thousands of cliques."""

    def __post_init__(self) -> None:
        owner = type(self).__name__
        check_device(f"{owner}.device", self.device)
        check(owner, vars(self), SETTING_RULES)
        if self.radius and self.final_radius and self.final_radius > self.radius:
            raise ConfigError(f"{owner}.final_radius", self.final_radius, "above 0, <= radius")

    def search_defaults(self, dimension: int) -> SearchDefaults:
        """Return the settings with None replaced by defaults for a policy or a black box.

        Raises:
            ConfigError: the final radius is greater than the initial one.
        """
        usual = POLICY_DEFAULTS
        if self.groups is None:
            planned = self.evaluations is not None
            narrowing = self.narrowing or ("schedule" if planned else "progress")
            usual = black_box_defaults(dimension, narrowing)
        names = (field.name for field in fields(SearchDefaults))
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
        """Return the settings of the structure finder in evaluations; None: off."""
        return None
