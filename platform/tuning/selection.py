"""Choice among an experiment's trials by the values of their fields, to run it piece by piece."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import fields
from typing import Final

from rolecast.core.errors import RequestError, require_known
from rolecast.platform.tuning.experiment import TrialPlan
from rolecast.platform.tuning.rewards import reward_name

PLAN_FIELDS: Final = tuple(each.name for each in fields(TrialPlan))
"""What a condition can name."""

Selection = Callable[[TrialPlan], bool] | Collection[str]
"""A function that says whether to run a trial, or conditions as `selected` takes them."""


def selected(plans: Sequence[TrialPlan], only: Selection | None) -> list[TrialPlan]:
    """Return the trials to run, in their order.

    Args:
        plans: of the experiment.
        only: a function; or conditions, as in "method=facmac" or "reward=sparse=25". Values of one
            field are alternatives; what several fields say holds together. None takes all.
    Raises:
        RequestError: a condition names no field, no value that a trial has, or none is left.
    Example:
        >>> plan = TrialPlan(
        ...     trial="a", task="t", reward="sparse=5", method="ppo", policy="", seed=1
        ... )
        >>> len(selected([plan], ["reward=sparse=5", "seed=1"]))
        1
    """
    if only is None:
        return list(plans)
    if isinstance(only, str):
        only = [only]
    if callable(only):
        holds, said = only, "the given function"
    else:
        holds, said = _condition(plans, only), ", ".join(only)
    chosen = [plan for plan in plans if holds(plan)]
    if not chosen:
        raise RequestError(f"only is {said}; expected what holds of a planned trial")
    return chosen


def _condition(plans: Sequence[TrialPlan], only: Iterable[str]) -> Callable[[TrialPlan], bool]:
    """Return whether all conditions hold of a trial."""
    wanted = _values(plans, only)
    return lambda plan: all(str(getattr(plan, name)) in values for name, values in wanted.items())


def _values(plans: Sequence[TrialPlan], conditions: Iterable[str]) -> dict[str, set[str]]:
    """Return the values wanted of each field that is named."""
    wanted: dict[str, set[str]] = {}
    for condition in conditions:
        name, _, value = condition.partition("=")
        require_known("field of a trial", [name], PLAN_FIELDS)
        value = reward_name(value) if name == "reward" else value
        known = {str(getattr(plan, name)) for plan in plans}
        require_known(f"{name} of the experiment", [value], known)
        wanted.setdefault(name, set()).add(value)
    return wanted
