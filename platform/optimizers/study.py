"""Optimisation of a black box by hand: candidates asked for and told one command at a time.

A study is a folder. It keeps the optimiser's state between commands, so that the black box may be
anything: another language, a laboratory, a person.
"""

import math
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, Final, Self

import numpy as np

from rolecast.core.encoding import from_bytes, to_bytes
from rolecast.core.errors import ConfigError, RequestError
from rolecast.core.files import make_folder, parsed, read_json, write_bytes, write_json
from rolecast.core.locks import lock_folder
from rolecast.core.memory import require_room
from rolecast.core.types import Float
from rolecast.core.validation import LARGEST_RETURN
from rolecast.platform.optimizers.observations import asked_points
from rolecast.platform.optimizers.protocol import KeepsPending, Optimizer, Paced
from rolecast.platform.optimizers.registry import make_optimizer, with_evaluations
from rolecast.platform.optimizers.results import TOLD_FAILED, Result

STUDY_SCHEMA: Final = 1
"""Version of the folder's layout."""

STUDY_PATIENCE_S: Final = 30.0
"""Longest wait for another process: runs that end at one moment are told one after the other."""

REQUEST_FILE: Final = "study.json"
STATE_FILE: Final = "study.safetensors"

ASKED_CANDIDATE_BYTES: Final = 440
ASKED_INPUT_BYTES: Final = 72
"""Memory of one new candidate, and of each of its inputs, at the peak of `Study.ask`; measured."""


@dataclass(frozen=True, kw_only=True)
class Variable:
    """One input of the black box."""

    name: str
    """Name in candidates."""

    low: float
    """Least value."""

    high: float
    """Greatest value, above the least."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.high - self.low) and self.low < self.high):
            raise ConfigError(
                f"variable {self.name!r}",
                (self.low, self.high),
                "finite bounds, low < high, with a finite distance",
            )

    def at(self, place: float) -> float:
        """Return the value at a place in [0, 1], within the bounds whatever rounding does."""
        value = self.low + (self.high - self.low) * place
        return min(max(value, self.low), self.high)


@dataclass(frozen=True, kw_only=True)
class StudyRequest:
    """What a study optimises, and by what."""

    variables: tuple[Variable, ...]
    """Inputs of the black box."""

    optimizer: str = "dss_gp_ucb"
    """Name of the optimiser."""

    settings: Mapping[str, Any]
    """Settings of the optimiser."""

    seed: int = 0
    """Seed of all random choices."""

    minimize: bool = False
    """Whether small values are good; else great ones."""

    budget: int | None = None
    """Evaluations planned, for optimisers with a schedule; None for no plan."""

    def __post_init__(self) -> None:
        names = [variable.name for variable in self.variables]
        if not names or len(set(names)) < len(names):
            raise ConfigError("variables", names, "one or more names, each once")
        if self.budget is not None and self.budget < 1:
            raise ConfigError("budget", self.budget, "an integer >= 1")


class Study:
    """Folder with a request, the optimiser's state, and all candidates with what was told."""

    def __init__(self, folder: Path, request: StudyRequest) -> None:
        self.folder, self.request = folder, request
        self._optimizer: Optimizer = make_optimizer(
            request.optimizer,
            dimension=len(request.variables),
            seed=request.seed,
            **request.settings,
        )
        self._points: list[list[float]] = []
        self._told: dict[int, Result] = {}
        self._failed: set[int] = set()
        self._lock: IO[bytes] | None = None

    @classmethod
    def create(cls, folder: Path, request: StudyRequest) -> Self:
        """Make a new study.

        Raises:
            RequestError: the folder exists, or the optimiser or a setting does not.
        """
        settings = with_evaluations(request.optimizer, request.settings, request.budget)
        request = replace(request, settings=settings)
        study = cls(folder, request)
        try:
            make_folder(folder, new=True)
        except FileExistsError:
            raise RequestError(f"{folder} exists; expected a path that does not") from None
        except OSError as error:
            raise RequestError(f"{folder} cannot be made: {error.strerror}") from error
        try:
            study._take()
            study._save()
            variables = [vars(variable) for variable in request.variables]
            stored = {**vars(request), "variables": variables}
            write_json(folder / REQUEST_FILE, {"schema": STUDY_SCHEMA, "request": stored})
        except BaseException:
            study.close()
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return study

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Read a study, and keep other processes from it until this one ends.

        Raises:
            RequestError: there is none, it is damaged, or another process has it.
        """
        path = folder / REQUEST_FILE
        if not path.is_file():
            raise RequestError(f"{folder} holds no study; expected a folder of rolecast ask")
        stored = read_json(path)
        if stored.get("schema") != STUDY_SCHEMA:
            raise RequestError(f"{path} has schema {stored.get('schema')}; expected {STUDY_SCHEMA}")
        study = cls(folder, parsed(path, lambda: _stored_request(stored["request"])))
        study._take()
        try:
            study._read()
        except BaseException:
            study.close()
            raise
        return study

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let other processes have the study."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    @property
    def pending(self) -> list[int]:
        """Ids of candidates that were neither told nor failed."""
        ended = self._told.keys() | self._failed
        return [number for number in range(len(self._points)) if number not in ended]

    @property
    def failed(self) -> list[int]:
        """Ids of candidates whose evaluation failed."""
        return sorted(self._failed)

    @property
    def evaluations(self) -> int:
        """Number of candidates that were told."""
        return len(self._told)

    def ask(self, count: int) -> list[dict[str, Any]]:
        """Return new candidates: id, and values by name.

        Raises:
            RequestError: the count is below 1, or more than memory holds.
        """
        require_count(count, len(self.request.variables))
        if self.request.budget is not None and isinstance(self._optimizer, Paced):
            self._optimizer.pace(min(1.0, self.evaluations / self.request.budget))
        first, shape = len(self._points), (count, len(self.request.variables))
        self._points += asked_points(self._optimizer.ask(count), shape).tolist()
        self._save()
        return [
            {"id": number, "values": self._by_name(np.array(self._points[number]))}
            for number in range(first, len(self._points))
        ]

    def tell(self, results: Mapping[int, Result | None]) -> None:
        """Add what the black box gave.

        A candidate that failed is not told to the optimiser, and no longer counts as pending once
        no other is. Its value may still be told, if another evaluation does not fail.

        Args:
            results: by id of a candidate: value, and its standard error or None; or None in place
                of both where the evaluation failed.

        Raises:
            RequestError: an id is unknown or told already, or a number is not finite.
        """
        for number, result in results.items():
            if not 0 <= number < len(self._points):
                raise ConfigError("candidate", number, f"an id below {len(self._points)}")
            if number in self._told:
                raise RequestError(f"candidate {number} is told already; expected another id")
            _check_result(number, result)
        values = {number: result for number, result in results.items() if result is not None}
        known = {number: each for number, each in values.items() if each[1] is not None}
        unknown = {number: each for number, each in values.items() if each[1] is None}
        for part in filter(None, (known, unknown)):
            self._tell_optimizer(part)
        self._told.update(values)
        failed = results.keys() - values.keys()
        self._failed = (self._failed | failed) - values.keys()
        if self._failed and not self.pending and isinstance(self._optimizer, KeepsPending):
            self._optimizer.forget_pending()
        self._save()

    def best(self) -> dict[str, Any]:
        """Return the incumbent, by posterior mean where the optimiser has one: values by name.

        Raises:
            RequestError: nothing was told yet.
        """
        return self._by_name(self._optimizer.best())

    def _take(self) -> None:
        """Keep other processes from the study."""
        self._lock = lock_folder(self.folder, patience_s=STUDY_PATIENCE_S)

    def _save(self) -> None:
        """Write points, what was told and the optimiser's state in one file and one step.

        A kill between two files would leave optimiser and study with different points.
        """
        told = sorted(self._told)
        state = {
            "points": np.array(self._points).reshape(-1, len(self.request.variables)),
            "told": np.array(told, dtype=np.int64),
            "values": np.array([self._told[number][0] for number in told]),
            "stderrs": [self._told[number][1] for number in told],
            "failed": np.array(self.failed, dtype=np.int64),
            "optimizer": self._optimizer.state_dict(),
        }
        write_bytes(self.folder / STATE_FILE, to_bytes(state))

    def _read(self) -> None:
        """Read what `_save` wrote."""
        try:
            state = from_bytes((self.folder / STATE_FILE).read_bytes())
            self._points = state["points"].tolist()
            pairs = zip(state["values"].tolist(), state["stderrs"], strict=True)
            self._told = dict(zip(state["told"].tolist(), pairs, strict=True))
            self._failed = {*np.asarray(state.get("failed", [])).tolist()}  # older ones have none
            self._optimizer.load_state_dict(state["optimizer"])
        except (OSError, ValueError, KeyError) as error:
            raise RequestError(f"{self.folder} is damaged: {error}") from error

    def _tell_optimizer(self, values: Mapping[int, Result]) -> None:
        sign = -1.0 if self.request.minimize else 1.0
        points = np.array([self._points[number] for number in values])
        returns = sign * np.array([value for value, _ in values.values()])
        errors = [error for _, error in values.values()]
        stderrs = None if None in errors else np.array(errors, dtype=np.float64)
        self._optimizer.tell(points, returns, stderrs)

    def _by_name(self, point: Float) -> dict[str, float]:
        """Return a point of the unit cube in the units of the variables."""
        return {
            variable.name: variable.at(float(place))
            for variable, place in zip(self.request.variables, point, strict=True)
        }


def require_count(count: int, inputs: int) -> None:
    """Refuse a number of candidates below 1, and one that memory does not hold."""
    if count < 1:
        raise ConfigError("count", count, "an integer >= 1")
    require_room(
        "count", count, count * (ASKED_CANDIDATE_BYTES + inputs * ASKED_INPUT_BYTES), "fewer"
    )


def _check_result(number: int, result: Result | None) -> None:
    """Refuse a value or a standard error that no optimiser takes.

    Raises:
        ConfigError: names the candidate.
    """
    if result is None:
        return
    value, error = result
    if not abs(value) <= LARGEST_RETURN:
        raise ConfigError(
            f"value of candidate {number}",
            value,
            f"a finite number of at most {LARGEST_RETURN:g} in size, or {number}={TOLD_FAILED} "
            "where the evaluation failed",
        )
    if error is not None and not 0.0 <= error <= LARGEST_RETURN:
        expected = f"a number >= 0, at most {LARGEST_RETURN:g}"
        raise ConfigError(f"standard error of candidate {number}", error, expected)


def _stored_request(given: Mapping[str, Any]) -> StudyRequest:
    """Return the request that a study was made with."""
    variables = tuple(Variable(**each) for each in given["variables"])
    return StudyRequest(**{**given, "variables": variables})
