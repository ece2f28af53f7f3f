"""What batches and values of a run must be: the last guard before damaged figures are believed.

Files have seals; these rules refuse what a seal cannot, such as a folder that was put together from
two runs, one that a release before seals wrote, or a JSON file that a person has changed.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from rolecast.core.disk import Disk
from rolecast.core.errors import RequestError
from rolecast.core.files import in_shell, read_json
from rolecast.platform.search.planning.budget import Spent
from rolecast.platform.search.records.history import Batch

MOST_ENV_STEPS: Final = 2**53
"""Env steps that a float64 still counts exactly."""

RUN_PARTS: Final[Mapping[str, Mapping[str, type]]] = MappingProxyType(
    {"search": {"task": str}, "task": {"id": str}, "policy": {"name": str, "options": dict}}
)
"""Parts of run.json that every reader relies on, and the kinds of their fields."""

SUMMARY_NUMBERS: Final = (
    "env_steps",
    "policy_evaluations",
    "best_return",
    "test_return",
    "test_stderr",
    "test_episodes",
    "wall_time_s",
    "workers",
)
"""Fields of summary.json that are finite numbers, or null."""


def sound_batches(batches: Iterable[Batch], path: Path) -> Iterator[Batch]:
    """Yield batches that were read, each once, and refuse those that no search has written.

    Args:
        batches: in their order; one may come again.
        path: folder of the run, for the error.
    Raises:
        RequestError: names a batch and what is wrong in it.
    """
    last: Batch | None = None
    for batch in batches:
        if last is None or batch.index > last.index:
            _require_sound(batch, path, after=last)
            last = batch
            yield batch


def _require_sound(batch: Batch, path: Path, *, after: Batch | None) -> None:
    """Refuse a batch that no search has written; `after` the one before it, if any."""
    index = 0 if after is None else after.index + 1
    if batch.index != index:
        raise RequestError(f"{path} is damaged: batch {index} is missing")
    known = Spent() if after is None else after.spent_after
    dimension = (after or batch).candidates.shape[-1]
    try:
        wrong = _fault(batch, dimension, known.evaluations, known.env_steps)
    except (TypeError, ValueError, AttributeError, IndexError) as error:
        wrong = f"a field of another kind ({error})"
    if wrong is not None:
        raise RequestError(f"{path} is damaged: batch {index} has {wrong}")


def _fault(batch: Batch, dimension: int, evaluations: int, env_steps: int) -> str | None:
    """Return what is wrong in a batch that follows so many evaluations and steps; None if sound."""
    count = len(batch.candidates)
    returns, observed = batch.episode_returns, batch.observed_returns
    numbers = batch.episodes_of  # of any order in a search that tells results as they come
    steps = batch.env_steps - np.append(env_steps, batch.env_steps[:-1])
    rules: tuple[tuple[str, Any], ...] = (
        ("no candidates of the run's dimension", batch.candidates.shape == (count, dimension)),
        ("no candidates", count > 0 and dimension > 0),
        ("candidates outside of the unit cube", _in_unit_cube(batch.candidates)),
        ("an incumbent of another dimension", batch.incumbent.shape == (dimension,)),
        ("an incumbent outside of the unit cube", _in_unit_cube(batch.incumbent)),
        ("another number of returns", returns.shape == observed.shape and len(returns) == count),
        ("no returns", returns.ndim == 2 and returns.size > 0),
        ("returns that are not finite", _finite(returns) and _finite(observed)),
        (f"first {batch.first!r}, not {evaluations}", batch.first == evaluations),
        ("nodes of another shape", all(x.shape == returns.shape for x in batch.nodes.values())),
        ("nodes that are not finite", all(_finite(x) for x in batch.nodes.values())),
        ("another number of env_steps", batch.env_steps.shape == (count,)),
        ("env_steps that do not grow", bool((steps >= returns.shape[-1]).all())),
        ("env_steps beyond counting", 0 < int(batch.env_steps[-1]) < MOST_ENV_STEPS),
        ("episodes_of no candidate", numbers.shape == (count,) and _counted(numbers)),
        (f"spent {batch.spent!r}", 0.0 <= batch.spent <= 1.0),
        (f"wall_time_s {batch.wall_time_s!r}", 0.0 <= batch.wall_time_s <= np.inf),
    )
    return next((said for said, holds in rules if not holds), None)


def _finite(values: Any) -> bool:
    return bool(np.isfinite(values).all())


def _in_unit_cube(values: Any) -> bool:
    """Return whether all numbers are in [0, 1]; NaN is not."""
    return values.size == 0 or bool(values.min() >= 0.0 and values.max() <= 1.0)


def _counted(numbers: Any) -> bool:
    return numbers.size == 0 or bool(numbers.min() >= 0 and numbers.max() < MOST_ENV_STEPS)


def require_structure(structure: dict[str, Any], dimension: int | None, path: Path) -> None:
    """Refuse a structure whose cliques or edges are not those of so many parameters.

    Raises:
        RequestError: names the field.
    """
    most = MOST_ENV_STEPS if dimension is None else dimension
    for name in ("cliques", "edges"):
        parts = structure.get(name, [])
        fine = isinstance(parts, list) and all(
            isinstance(part, list)
            and all(type(each) is int and 0 <= each < most for each in part)
            and (name == "cliques" or len(part) == 2)
            for part in parts
        )
        if not fine:
            raise RequestError(
                f"{path} is damaged: {name} are not lists of parameters below {most}"
            )


def require_run_parts(run: Mapping[str, Any], path: Path) -> None:
    """Refuse a run.json that lacks a field, or has one of another kind.

    Raises:
        RequestError: names the field.
    """
    for part, kinds in RUN_PARTS.items():
        described = run.get(part)
        for name, kind in kinds.items():
            if not isinstance(described, dict) or not isinstance(described.get(name), kind):
                raise RequestError(f"{path} is damaged: {part} has no {name}")


@contextmanager
def made_again_by_resume(path: Path) -> Iterator[None]:
    """Tell of a damaged file that a run can do without how to have it again."""
    try:
        yield
    except RequestError as error:
        remedy = f"without it, rolecast resume {in_shell(path.parent)} makes it again"
        raise RequestError(f"{error}; {remedy}") from error


def checked_summary(path: Path, disk: Disk) -> dict[str, Any]:
    """Return a summary.json.

    Raises:
        RequestError: it is damaged, or has something else than a number where one is expected.
    """
    with made_again_by_resume(path):
        summary = read_json(path, disk=disk)
        for name in SUMMARY_NUMBERS:
            value = summary.get(name)
            if value is not None and (type(value) not in {int, float} or not math.isfinite(value)):
                raise RequestError(f"{path} is damaged: {name} is no finite number")
        return summary
