"""Which episodes a policy is judged on, said once for Python and the command line.

There are two held-out sets. Evaluations, searches, comparisons and all choices of a design use the
development set. The sealed set is for the tables of `rolecast bench` alone: a design that was
chosen on some episodes looks better on them than on others.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from rolecast.core.errors import ConfigError
from rolecast.core.memory import EPISODE_BYTES, require_room
from rolecast.core.seeds import Purpose, episode_seeds
from rolecast.core.types import Seeds
from rolecast.core.validation import make_plain

DEVELOPMENT_SET: Final = "development"
SEALED_SET: Final = "sealed"
"""Named by the result tables alone."""

_SET_PURPOSES: Final[Mapping[str, Purpose]] = MappingProxyType(
    {DEVELOPMENT_SET: Purpose.HELD_OUT, SEALED_SET: Purpose.SEALED}
)

HELD_OUT_SETS: Final = tuple(_SET_PURPOSES)
"""Names of the held-out sets."""

SEARCH_HELD_OUT_SEED: Final = 0
"""Set on which searches and comparisons score their own results; `HeldOut` names another."""


ABLATION_EPISODES: Final = 4000
"""Default episodes of an ablation: a standard error of some 1.3 in predator-prey."""


def held_out_seeds(name: str, seed: int, episodes: int) -> Seeds:
    """Return the seeds [episodes] of a held-out set; the first E are the same for any number.

    Args:
        name: one of `HELD_OUT_SETS`.
        seed: which part of the set.
        episodes: E.
    """
    return episode_seeds(0, _SET_PURPOSES[name], seed, episodes)


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """A set of episodes whose seeds no search uses, the same for every policy."""

    episodes: int = 1000
    """Episodes to average; for a user's environment that is slow, fewer will do."""

    seed: int = 1
    """Which set; the first E episodes of a set are the same however many are asked for."""

    def __post_init__(self) -> None:
        make_plain(self)
        if type(self.episodes) is not int or self.episodes < 1:
            raise ConfigError("evaluate.episodes", self.episodes, "an integer >= 1")
        require_room("evaluate.episodes", self.episodes, EPISODE_BYTES * self.episodes, "fewer")
        if type(self.seed) is not int or self.seed < 0:
            raise ConfigError("evaluate.seed", self.seed, "an integer >= 0")
