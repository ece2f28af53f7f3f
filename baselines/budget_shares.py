"""How much of a trial's budget may pass before a learner learns, or stops exploring.

Authors chose their settings for runs of a million steps; a shorter trial with the same would learn
nothing, or explore to its end.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

LARGEST_BUDGET_SHARES: Final[Mapping[str, float]] = MappingProxyType(
    {
        "random_steps": 0.1,
        "num_steps_sampled_before_learning_starts": 0.1,
        "epsilon_steps": 0.5,
    }
)
"""Settings that count env steps at the start, and the largest share of a trial's budget of each."""


def within_shares(settings: Mapping[str, Any], env_steps: int) -> dict[str, Any]:
    """Return settings of which none takes more than its share of a budget; others stay."""
    return {
        name: min(value, max(int(LARGEST_BUDGET_SHARES[name] * env_steps), 1))
        if name in LARGEST_BUDGET_SHARES
        else value
        for name, value in settings.items()
    }
