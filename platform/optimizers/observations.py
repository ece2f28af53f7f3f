"""Evaluations told to an optimiser: candidates, returns and their standard errors."""

import reprlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rolecast.core.errors import ConfigError, RequestError, RunError
from rolecast.core.types import Float
from rolecast.core.validation import LARGEST_RETURN


class Observations:
    """Evaluations in order of arrival: N of them, in D dimensions; storage grows by doubling."""

    def __init__(self, dimension: int) -> None:
        if dimension < 1:
            raise ConfigError("optimizer.dimension", dimension, "an integer >= 1")
        self.dimension = dimension
        self._rows = np.empty((64, dimension + 2))
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def candidates(self) -> Float:
        """Candidates [N, D] in the unit cube."""
        return self._rows[: self._count, 2:]

    @property
    def returns(self) -> Float:
        """Returns [N]."""
        return self._rows[: self._count, 0]

    @property
    def stderrs(self) -> Float:
        """Standard errors [N] of the returns, NaN where unknown."""
        return self._rows[: self._count, 1]

    def add(self, candidates: Float, returns: Float, stderrs: Float | None) -> None:
        """Append q evaluations.

        Raises:
            RequestError: a shape is wrong, a point outside the cube, a value no finite number.
        """
        candidates = real_numbers("candidates", candidates)
        returns = real_numbers("returns", returns)
        if candidates.ndim != 2 or candidates.shape[1] != self.dimension:
            raise ConfigError("tell.candidates", candidates.shape, f"shape [q, {self.dimension}]")
        if not ((candidates >= 0.0) & (candidates <= 1.0)).all():
            raise RequestError("tell.candidates has points outside [0, 1] or NaN; expected none")
        unknown = np.full(len(candidates), np.nan)
        errors = unknown if stderrs is None else real_numbers("stderrs", stderrs)
        for field, values in (("returns", returns), ("stderrs", errors)):
            if values.shape != (len(candidates),):
                raise ConfigError(f"tell.{field}", values.shape, f"shape [{len(candidates)}]")
        if not (np.abs(returns) <= LARGEST_RETURN).all():
            bad = int(np.flatnonzero(~(np.abs(returns) <= LARGEST_RETURN))[0])
            raise RequestError(
                f"tell.returns[{bad}] is {returns[bad]}; expected a finite number of at most "
                f"{LARGEST_RETURN:g} in size, and a failed candidate left untold"
            )
        if (errors < 0).any() or (errors > LARGEST_RETURN).any():
            raise RequestError(
                "tell.stderrs has a negative or infinite value, or one above "
                f"{LARGEST_RETURN:g}; expected >= 0, or NaN where unknown"
            )
        need = self._count + len(candidates)
        if need > len(self._rows):
            grown = np.empty((max(need, 2 * len(self._rows)), self.dimension + 2))
            grown[: self._count] = self._rows[: self._count]
            self._rows = grown
        fresh = self._rows[self._count : need]
        fresh[:, 0], fresh[:, 1], fresh[:, 2:] = returns, errors, candidates
        self._count = need

    def drop(self, count: int) -> None:
        """Forget all but the first `count` evaluations."""
        self._count = min(self._count, count)

    def state_dict(self) -> dict[str, NDArray[np.float64]]:
        """Return a copy of all rows."""
        return {"rows": self._rows[: self._count].copy()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Replace all rows."""
        self._rows = np.array(state["rows"], dtype=np.float64)
        self._count = len(self._rows)


def real_numbers(field: str, values: object) -> Float:
    """Return what was told as an array of float64; None among the values becomes NaN.

    Raises:
        RequestError: there is text or a complex number among them, or they are ragged.
    """
    try:
        given = np.asarray(values)
        kind = given.dtype.kind
        if kind not in "biufO" or (kind == "O" and any(isinstance(at, str) for at in given.flat)):
            raise TypeError("text, complex numbers or dates")  # noqa: TRY301
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, RuntimeError, OverflowError) as wrong:
        shown = " ".join(reprlib.repr(values).split())
        raise RequestError(f"tell.{field} is {shown}; expected an array of real numbers") from wrong


def asked_points(candidates: object, shape: tuple[int, int]) -> Float:
    """Return the candidates [q, D] that an optimiser asks for, perhaps one of a plug-in.

    Raises:
        RunError: they have another shape, or leave the unit cube.
    """
    try:
        points = np.array(candidates, dtype=np.float64)
    except (TypeError, ValueError) as error:
        said = f"the optimiser asks for what is no array of numbers; expected shape {shape}"
        raise RunError(said) from error
    if points.shape != shape:
        raise RunError(f"the optimiser asks for points of shape {points.shape}; expected {shape}")
    inside = (points >= 0.0) & (points <= 1.0)
    if not inside.all():
        wrong = points[~inside][0]
        raise RunError(f"the optimiser asks for a coordinate {wrong:g}; expected all in [0, 1]")
    return points


def require_batch(q: int) -> int:
    """Return q as Python's own integer.

    Raises:
        ConfigError: it is not an integer >= 1.
    """
    if not isinstance(q, int | np.integer) or isinstance(q, bool) or q < 1:
        raise ConfigError("ask.q", q, "an integer >= 1")
    return int(q)


def still_pending(pending: Float, told: Float) -> Float:
    """Return the rows of pending points [P, D] that are not among told ones [q, D]."""
    known = {row.tobytes() for row in np.asarray(told, dtype=np.float64)}
    waiting = [row.tobytes() not in known for row in pending]
    return np.asarray(pending[np.array(waiting, dtype=bool)])


def pair_rows(count: int) -> NDArray[np.int64]:
    """Return the first row [q] of each candidate's pair, in batches of pairs: 0, 0, 2, 2, 4, ..."""
    rows = np.arange(count)
    return rows - rows % 2


def in_pairs(first: Float, second: Float, count: int) -> Float:
    """Return rows [count, D] that alternate between two matrices of at least count / 2 rows."""
    rows = np.stack([first, second], axis=1).reshape(-1, first.shape[1])
    return np.asarray(rows[:count])


def generator_state(rng: np.random.Generator) -> dict[str, Any]:
    """Return a generator's state as JSON values; its integers exceed 64 bits, so as text."""
    state = rng.bit_generator.state
    return {
        "state": str(state["state"]["state"]),
        "inc": str(state["state"]["inc"]),
        "has_uint32": state["has_uint32"],
        "uinteger": state["uinteger"],
    }


def restored_generator(state: Mapping[str, Any]) -> np.random.Generator:
    """Return the generator of a state that `generator_state` gave."""
    rng = np.random.default_rng()
    rng.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": int(state["state"]), "inc": int(state["inc"])},
        "has_uint32": int(state["has_uint32"]),
        "uinteger": int(state["uinteger"]),
    }
    return rng
