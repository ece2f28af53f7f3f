"""Codecs of spaces: numbers in [-1, 1] to actions, and observations to numbers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from rolecast.core.errors import RequestError
from rolecast.core.types import Float

FREE_WIDTH: Final = 2.0
"""Width of what a policy reaches in a dimension without bounds: its own [-1, 1]."""

LEAST_LIMIT_BYTES: Final = 4
"""Size of an integer from which on the limits of its type are no bounds; a byte's are."""


@dataclass(frozen=True, kw_only=True)
class ActionCodec:
    """Action codec: from the numbers of a policy to an action of one space."""

    size: int
    """Number of numbers of an action."""

    decode: Callable[[Float], Any]
    """Map from [size] in [-1, 1] to an element of the space."""

    discrete: bool
    """Whether only the order or the signs of the numbers count."""


@dataclass(frozen=True, kw_only=True)
class ObservationCodec:
    """Observation codec: from an observation of one space to numbers."""

    size: int
    """Number of numbers of an observation."""

    encode: Callable[[Any], Float]
    """Map from an element of the space to [size]."""


def action_codec(space: spaces.Space[Any]) -> ActionCodec:
    """Return the map from [-1, 1]^size to an action space.

    A bounded Box is filled affinely; an unbounded one gets the numbers unchanged. A bound at a
    limit of its type is none, except for integers of less than 32 bits. Discrete and
    MultiDiscrete take the largest of one number per choice (ties to the lowest), MultiBinary the
    sign. Tuple and Dict take the numbers of their parts one after the other.

    Raises:
        RequestError: the space is of another kind, or a Tuple or Dict without parts.
    """
    if isinstance(space, spaces.Box):
        return _box(space)
    if isinstance(space, spaces.Discrete):
        start, kind = int(space.start), np.dtype(space.dtype).type
        return ActionCodec(
            size=int(space.n),
            decode=lambda numbers: kind(start + int(numbers.argmax())),
            discrete=True,
        )
    if isinstance(space, spaces.MultiDiscrete):
        return _multi_discrete(space)
    if isinstance(space, spaces.MultiBinary):
        shape = space.shape
        return ActionCodec(
            size=int(np.prod(shape)),
            decode=lambda numbers: (numbers > 0.0).astype(np.int8).reshape(shape),
            discrete=True,
        )
    if isinstance(space, spaces.Tuple | spaces.Dict) and not space.spaces:
        raise RequestError(f"action space {space} cannot be acted in; expected at least one part")
    if isinstance(space, spaces.Tuple):
        return _composite(list(space.spaces), tuple)
    if isinstance(space, spaces.Dict):
        names = list(space.spaces)
        return _composite(
            [space.spaces[name] for name in names],
            lambda parts: dict(zip(names, parts, strict=True)),
        )
    raise RequestError(f"action space {space} cannot be acted in; expected Box, Discrete, ...")


def observation_codec(space: spaces.Space[Any]) -> ObservationCodec:
    """Return the map from an observation space to numbers, by Gymnasium's `flatten`.

    Discrete parts become one-hot, images one long row. `encode` raises ValueError for a choice that
    a Discrete or MultiDiscrete part does not have.

    Raises:
        RequestError: elements of the space have no fixed number of numbers.
    """
    if not space.is_np_flattenable:
        raise RequestError(
            f"observation space {space} cannot be flattened; expected one of fixed size"
        )
    if isinstance(space, spaces.Box):
        return ObservationCodec(
            size=int(np.prod(space.shape)),
            encode=lambda value: np.asarray(value, dtype=np.float64).ravel(),
        )

    def encode(value: Any) -> Float:
        _require_choices(space, value)
        return np.asarray(spaces.flatten(space, value), dtype=np.float64)

    return ObservationCodec(size=spaces.flatdim(space), encode=encode)


def _require_choices(space: spaces.Space[Any], value: Any) -> None:
    """Refuse a choice out of range, which `flatten` takes for another one or drops.

    So is a number in a Box of integers that is none, which it would cut.

    Raises:
        ValueError: names the choice and its space.
    """
    if isinstance(space, spaces.Discrete | spaces.MultiDiscrete):
        counts: Any = space.n if isinstance(space, spaces.Discrete) else space.nvec
        chosen = np.asarray(value) - space.start
        if not ((chosen >= 0) & (chosen < counts)).all():
            raise ValueError(f"{value} is not in {space}")
    elif isinstance(space, spaces.Box) and np.dtype(space.dtype).kind in "iub":
        if not np.array_equal(np.asarray(value).astype(space.dtype), value):
            raise ValueError(f"{value} is not in {space}")
    elif isinstance(space, spaces.Tuple):
        for part, own in zip(space.spaces, value, strict=True):
            _require_choices(part, own)
    elif isinstance(space, spaces.Dict):
        for name, part in space.spaces.items():
            _require_choices(part, value[name])


def _box(space: spaces.Box) -> ActionCodec:
    low, high = (np.asarray(bound, dtype=np.float64).ravel() for bound in (space.low, space.high))
    # Bounded on one side alone: as wide as what has no bounds, and within the space.
    above, below = _bounded(space)
    start = np.where(above, low, np.where(below, high - FREE_WIDTH, -0.5 * FREE_WIDTH))
    to = np.where(below, high, start + FREE_WIDTH)
    centre, scale = 0.5 * start + 0.5 * to, 0.5 * to - 0.5 * start  # a sum may be infinite
    shape, dtype = space.shape, np.dtype(space.dtype)

    def decode(numbers: Float) -> Any:
        return np.clip(centre + scale * numbers, low, high).astype(dtype).reshape(shape)

    def decode_whole(numbers: Float) -> Any:
        value = np.clip(np.rint(centre + scale * numbers), *_castable(dtype))
        # In integers, since float64 does not have each bound of 64 bits.
        return np.clip(value.astype(dtype).reshape(shape), space.low, space.high)

    def decode_bool(numbers: Float) -> Any:
        value = np.clip(np.rint(centre + scale * numbers), low, high)
        return value.astype(dtype).reshape(shape)

    decoders = {"i": decode_whole, "u": decode_whole, "b": decode_bool}
    return ActionCodec(size=low.size, decode=decoders.get(dtype.kind, decode), discrete=False)


def _bounded(space: spaces.Box) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return where a box is bounded below and above, both flat.

    Gymnasium puts the limits of an integer type in place of infinity.
    """
    dtype = np.dtype(space.dtype)
    above, below = space.bounded_below, space.bounded_above
    if dtype.kind == "f":
        limit = np.finfo(dtype).max
        above, below = above & (space.low > -limit), below & (space.high < limit)
    elif dtype.kind in "iu" and dtype.itemsize >= LEAST_LIMIT_BYTES:
        limits = np.iinfo(dtype)
        above = above & ((space.low > limits.min) | (dtype.kind == "u"))
        below = below & (space.high < limits.max)
    return above.ravel(), below.ravel()


def _castable(dtype: np.dtype[Any]) -> tuple[float, float]:
    """Return the lowest and the highest float that can be cast to an integer type."""
    limits = np.iinfo(dtype)
    highest = float(limits.max)
    castable = highest if highest <= limits.max else float(np.nextafter(highest, 0.0))
    return float(limits.min), castable


def _multi_discrete(space: spaces.MultiDiscrete) -> ActionCodec:
    counts = np.asarray(space.nvec).ravel()
    starts, shape, dtype = np.asarray(space.start).ravel(), space.shape, space.dtype
    ends = np.cumsum(counts)

    def decode(numbers: Float) -> Any:
        choices = [int(part.argmax()) for part in np.split(numbers, ends[:-1])]
        return (starts + choices).astype(dtype).reshape(shape)

    return ActionCodec(size=int(ends[-1]), decode=decode, discrete=True)


def _composite(parts: list[spaces.Space[Any]], join: Callable[[list[Any]], Any]) -> ActionCodec:
    codecs = [action_codec(part) for part in parts]
    ends = np.cumsum([codec.size for codec in codecs])

    def decode(numbers: Float) -> Any:
        pieces = np.split(numbers, ends[:-1])
        return join([codec.decode(piece) for codec, piece in zip(codecs, pieces, strict=True)])

    discrete = all(codec.discrete for codec in codecs)
    return ActionCodec(size=int(ends[-1]), decode=decode, discrete=discrete)
