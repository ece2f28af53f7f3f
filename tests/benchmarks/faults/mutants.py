"""Mutants of the code, which schedules of faults must find."""

import inspect
import sys
import textwrap
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import pytest

from rolecast.benchmarks.faults.outcome import Outcome


class Mutant(NamedTuple):
    """One change of the source of one function."""

    owner: Any
    function: str
    old: str
    new: str = "pass"
    first: int = 0
    """Seed of the first schedule that is run: those before are known to pass."""


def mutate(monkeypatch: pytest.MonkeyPatch, mutant: Mutant) -> None:
    """Replace a function by its own source with the change, wherever it is imported."""
    original: Callable[..., Any] = getattr(mutant.owner, mutant.function)
    source = textwrap.dedent(inspect.getsource(original))
    assert source.count(mutant.old) == 1, source
    scope = vars(sys.modules[original.__module__])
    made: dict[str, Any] = {}
    exec(source.replace(mutant.old, mutant.new), scope, made)
    monkeypatch.setattr(mutant.owner, mutant.function, made[mutant.function])
    for name, module in list(sys.modules.items()):
        if name.startswith("rolecast.") and vars(module).get(mutant.function) is original:
            monkeypatch.setattr(module, mutant.function, made[mutant.function])


def require_found(
    mutant: Mutant, seeds: Iterable[int], run_schedule: Callable[[int], Outcome]
) -> None:
    """Require a schedule that fails by the mutant, and not by the code as it is."""
    with pytest.MonkeyPatch.context() as patch:
        mutate(patch, mutant)
        found = next((seed for seed in seeds if run_schedule(seed).failure), None)
    assert found is not None, mutant
    failure = run_schedule(found).failure
    assert failure is None, failure
