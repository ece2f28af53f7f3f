"""Parameterisation of policies: centre and half ranges of the weights, and the output gain.

Differs: the paper (section 4.5) searches a plain cube of weights. Three zero-centred layers have a
saddle at its centre, and the search stays on a plateau. By default the centre is a near-linear
team. The hidden and output layers of every small net have an orthogonal centre. HOM has the
identity pattern, because random orthogonal centres fail on some seeds. Biases are small, and the
action is tanh(gain * output) with a fixed gain. The form of the paper is the preset "table3".
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite, sqrt
from types import MappingProxyType
from typing import Any, Final, Literal

import numpy as np

from rolecast.core.errors import ConfigError, unknown_name
from rolecast.core.types import Float
from rolecast.core.validation import OPEN_FRACTION
from rolecast.envs.spec import OBSERVATION_CLIP, TaskSpec
from rolecast.envs.symmetry import SignedPlaces, Symmetry
from rolecast.policies.space import Block, ParameterSpace
from rolecast.policies.symmetry import (
    NetSymmetry,
    SymmetrySource,
    TiedSubspace,
    Ties,
    check_symmetry_source,
    moved_matrix,
    orbits,
    recorded_source,
)

NORMALISE_CHOICES: Final = ("none", "running")
PARAMETERISATIONS: Final = ("centred", "table3")
CENTRE_WEIGHTS: Final = ("orthogonal", "symmetric", "identity", "zero")

CENTRED_RANGES: Final[Mapping[str, float]] = MappingProxyType(
    {"first": 2.5, "hidden": 0.75, "bias": 0.25, "message": 0.3}
)
"""Half ranges of the default cube: first layers, hidden and output layers, biases, and a factor of
the message net."""

LINEAR_RANGES: Final[Mapping[str, float]] = MappingProxyType(
    {"first": 1.0, "hidden": 1.0, "bias": 1.0, "message": 1.0}
)
"""Half ranges of a linear policy: weights and biases in [-1, 1], as its search was measured with
normalised observations."""

FIXED_CENTRE_TOLERANCE: Final = 1e-9
"""Greatest change of a weight of a centre by symmetries that leave it fixed."""

LEAST_SINGULAR_VALUE: Final = 1e-6
"""Least singular value of a tied centre, relative to the largest, that is not rounding."""

TABLE3_RANGES: Final[Mapping[str, float]] = MappingProxyType(
    {"first": 3.0, "hidden": 3.0, "bias": 3.0, "message": 1.0}
)
"""Half ranges of the paper's plain cube, weights in [-3, 3]; the paper states no bound."""


@dataclass(frozen=True, kw_only=True)
class Parameterisation:
    """Resolved parameterisation of one policy."""

    centre: str
    """Centre of the weights, one of CENTRE_WEIGHTS."""

    ranges: Mapping[str, float]
    """Half ranges, with the keys of CENTRED_RANGES."""

    output_gain: float
    """Fixed factor before the last tanh, not a parameter of the search."""


@dataclass(frozen=True, kw_only=True)
class PolicySettings:
    """Settings of every policy of this project. None is the value of the preset."""

    observation_clip: float = OBSERVATION_CLIP
    """Bound of the observations, above 0: they are first clipped to [-bound, bound]."""

    normalise: Literal["none", "running"] = "none"
    """Normalisation of the clipped observations: "running" subtracts the mean and divides by the
    standard deviation. Both are of the observations before the current batch. They are folded into
    the weights, so that a trained policy has no normalisation of its own."""

    normalise_share: float = 1.0
    """Share of the budget, in (0, 1], whose observations `normalise` counts; then it stays."""

    parameterisation: Literal["centred", "table3"] = "centred"
    """Preset of the three settings below: "centred", or "table3", the paper's plain cube."""

    centre: Literal["orthogonal", "symmetric", "identity", "zero"] | None = None
    """Centre of the hidden and output weights. "orthogonal": random orthogonal hidden layers and
    orthonormal output rows times sqrt(2), drawn from the seed. "symmetric": the same, but such that
    the symmetries of the task leave it fixed. "identity": the identity pattern. "zero": 0, as
    first layers and biases always have. Preset "centred": "identity" for HOM; for an MLP
    "symmetric" where the task has symmetries, else "orthogonal". None counts for a linear one."""

    ranges: Mapping[str, float] | None = None
    """Half ranges by kind: "first", "hidden" and "bias", and the factor "message". Others keep the
    value of the preset."""

    output_gain: float | None = None
    """Fixed factor before the last tanh. Preset "centred": 10, but 1 for an MLP or a linear policy
    of one agent. Where actions are discrete it is 1, as tanh makes large numbers equal."""

    tied_weights: bool = False
    """Whether weights are tied that the symmetries of the task exchange: one number is searched for
    each orbit. False: all weights are searched, and a search may find the ties by evidence."""

    symmetries: SymmetrySource = "declared"
    """Symmetries that weights may follow. "declared": those of the task. "found": a search looks
    for some in random play, which its budget pays. Or a list of them, as `dataclasses.asdict` of
    `Symmetry` gives; an empty one for none."""

    def __post_init__(self) -> None:
        name = type(self).__name__
        check_symmetry_source(f"{name}.symmetries", self.symmetries)
        if not isinstance(self.tied_weights, bool):
            raise ConfigError(f"{name}.tied_weights", self.tied_weights, "true or false")
        require_positive(f"{name}.observation_clip", self.observation_clip)
        require_choice(f"{name}.normalise", self.normalise, NORMALISE_CHOICES)
        if not OPEN_FRACTION.allows(self.normalise_share):
            raise ConfigError(
                f"{name}.normalise_share", self.normalise_share, OPEN_FRACTION.expected
            )
        require_choice(f"{name}.parameterisation", self.parameterisation, PARAMETERISATIONS)
        if self.centre is not None:
            require_choice(f"{name}.centre", self.centre, CENTRE_WEIGHTS)
        if self.output_gain is not None:
            require_positive(f"{name}.output_gain", self.output_gain)
        if self.ranges is not None:
            if not isinstance(self.ranges, Mapping):
                raise ConfigError(f"{name}.ranges", self.ranges, "a mapping of kind to half range")
            for kind, value in self.ranges.items():
                if kind not in CENTRED_RANGES:
                    raise unknown_name(f"{name}.ranges kind", kind, CENTRED_RANGES)
                require_positive(f"{name}.ranges[{kind!r}]", value)

    def informed(self, task: TaskSpec) -> TaskSpec:
        """Return the task with the symmetries that weights may follow.

        Raises:
            ConfigError: they are yet to be found, or of other sizes than the task.
        """
        if self.symmetries == "declared":
            return task
        if isinstance(self.symmetries, str):
            name = f"{type(self).__name__}.symmetries"
            raise ConfigError(name, self.symmetries, "'declared' or a list outside of a search")
        return replace(task, symmetries=tuple(map(Symmetry.from_json, self.symmetries)))

    def resolve(
        self,
        task: TaskSpec,
        default_gain: float,
        default_centre: str,
        default_ranges: Mapping[str, float] = CENTRED_RANGES,
    ) -> Parameterisation:
        """Return the settings with the preset filled in; defaults are those of "centred"."""
        plain = self.parameterisation == "table3"
        preset = TABLE3_RANGES if plain else default_ranges
        gain = self.output_gain or (1.0 if plain or task.discrete_actions else default_gain)
        return Parameterisation(
            centre=self.centre or ("zero" if plain else default_centre),
            ranges=dict(preset) | {kind: float(x) for kind, x in (self.ranges or {}).items()},
            output_gain=float(gain),
        )

    def recorded(self, settings: Parameterisation, seed: int) -> dict[str, Any]:
        """Return these settings, resolved, as JSON values of the options of a policy."""
        return {
            "observation_clip": float(self.observation_clip),
            "normalise": self.normalise,
            "normalise_share": float(self.normalise_share),
            "parameterisation": self.parameterisation,
            "centre": settings.centre,
            "ranges": dict(settings.ranges),
            "output_gain": settings.output_gain,
            "tied_weights": self.tied_weights,
            "symmetries": recorded_source(self.symmetries),
            "seed": seed,
        }

    def space(
        self,
        blocks: Iterable[Block],
        moves: Iterable[SignedPlaces],
    ) -> ParameterSpace:
        """Return the parameter space of blocks whose weights move under the task's symmetries.

        It has ties only if the symmetries leave its centre fixed.

        Raises:
            ConfigError: weights are to be tied, but have no ties.
        """
        found, free = list(moves), ParameterSpace(tuple(blocks))
        ties = orbits(found) if found else None
        if ties is not None:
            apart = free.centre - TiedSubspace(ties).projected(free.centre)
            ties = ties if np.abs(apart).max() < FIXED_CENTRE_TOLERANCE else None
        if self.tied_weights and ties is None:
            name = f"{type(self).__name__}.tied_weights"
            expected = "false for a task without symmetries that leave the centre fixed"
            raise ConfigError(name, True, expected)
        return replace(free, ties=ties, tied=self.tied_weights)


def require_positive(name: str, value: object) -> None:
    """Raise ConfigError unless value is a finite number above 0."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (number and isfinite(value) and value > 0):  # type: ignore[arg-type, operator]
        raise ConfigError(name, value, "a finite number > 0")


def require_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Raise ConfigError unless value is one of the choices."""
    if value not in choices:
        raise ConfigError(name, value, f"one of {', '.join(map(repr, choices))}")


@dataclass(frozen=True, kw_only=True)
class Net:
    """Shape of one small MLP: tanh hidden layers, linear outputs. Without hidden layers: linear."""

    name: str
    """Name of the net: "role", "edge", "message", "update", "mlp" or "linear"."""

    inputs: tuple[str, ...]
    """Name of each input column."""

    hidden: tuple[int, ...]
    """Widths of the hidden layers; none for a linear map."""

    outputs: int
    """Number of outputs."""

    @property
    def widths(self) -> tuple[int, ...]:
        """Inputs, hidden widths, outputs."""
        return (len(self.inputs), *self.hidden, self.outputs)

    @property
    def size(self) -> int:
        """Number of weights and biases."""
        return sum((a + 1) * b for a, b in zip(self.widths[:-1], self.widths[1:], strict=True))


def net_blocks(
    net: Net,
    settings: Parameterisation,
    rng: np.random.Generator,
    symmetries: Sequence[NetSymmetry] = (),
) -> list[Block]:
    """Return the blocks of one net: per layer a weight (out, in), then its bias (out,).

    Args:
        net: shape of the net.
        settings: centre and ranges.
        rng: generator of random centres.
        symmetries: of the net; its centre is left fixed by them.
    """
    blocks = []
    factor = settings.ranges["message"] if net.name == "message" else 1.0
    columns = net.inputs
    last = len(net.widths) - 2
    for layer, (fan_in, fan_out) in enumerate(zip(net.widths[:-1], net.widths[1:], strict=True)):
        centre = np.zeros((fan_out, fan_in))
        if layer > 0:
            centre = _centre(settings.centre, fan_out, fan_in, layer == last, rng)
            if settings.centre == "symmetric" and symmetries:
                moves = [moved_matrix(*symmetry.layers[layer]) for symmetry in symmetries]
                centre = _fixed_centre(centre, orbits(moves))
        kind = "first" if layer == 0 else "hidden"
        blocks.append(
            Block(
                net=net.name,
                layer=layer,
                kind="weight",
                centre=centre,
                half_range=settings.ranges[kind] * factor,
                columns=columns,
            )
        )
        blocks.append(
            Block(
                net=net.name,
                layer=layer,
                kind="bias",
                centre=np.zeros(fan_out),
                half_range=settings.ranges["bias"] * factor,
            )
        )
        columns = tuple(f"hidden[{unit}]" for unit in range(fan_out))
    return blocks


def _centre(kind: str, outputs: int, inputs: int, last: bool, rng: np.random.Generator) -> Float:
    """Return the centre [outputs, inputs] of a hidden (or, if last, output) layer's weights."""
    if kind == "zero":
        return np.zeros((outputs, inputs))
    if kind in ("orthogonal", "symmetric"):
        return semi_orthogonal(outputs, inputs, rng) * (sqrt(2.0) if last else 1.0)
    if not last:
        return np.eye(outputs, inputs)
    pattern = np.zeros((outputs, inputs))
    pattern[np.arange(inputs) % outputs, np.arange(inputs)] = 1.0
    return pattern


def _fixed_centre(centre: Float, ties: Ties) -> Float:
    """Return an orthogonal centre [outputs, inputs] with these ties, near a given one.

    It is projected and made orthogonal again: the polar factor of a tied matrix has its ties.
    """
    subspace = TiedSubspace(ties)
    fixed = subspace.projected(centre.ravel()).reshape(centre.shape)
    left, values, right = np.linalg.svd(fixed, full_matrices=False)
    kept = values > LEAST_SINGULAR_VALUE * values.max()
    factor = left[:, kept] @ right[kept] * np.linalg.norm(centre, ord=2)
    return subspace.projected(factor.ravel()).reshape(centre.shape)


def semi_orthogonal(rows: int, columns: int, rng: np.random.Generator) -> Float:
    """Return a uniform random matrix [rows, columns], orthonormal along its shorter side."""
    long, short = max(rows, columns), min(rows, columns)
    q, r = np.linalg.qr(rng.standard_normal((long, short)))
    q = q * np.where(np.diagonal(r) < 0, -1.0, 1.0)
    return np.asarray(q if rows >= columns else q.T)
