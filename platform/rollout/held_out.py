"""Which episodes a policy is judged on, said once for Python and the command line."""

from dataclasses import dataclass
from typing import Final

from rolecast.core.errors import ConfigError

SEARCH_HELD_OUT_SEED: Final = 0
"""Set on which searches and comparisons score their own results; `HeldOut` names another."""


ABLATION_EPISODES: Final = 4000
"""Default episodes of an ablation: a standard error of some 1.3 in predator-prey."""


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """A set of episodes whose seeds no search uses, the same for every policy."""

    episodes: int = 1000
    """Episodes to average; for a user's environment that is slow, fewer will do."""

    seed: int = 1
    """Which set; the first E episodes of a set are the same however many are asked for."""

    def __post_init__(self) -> None:
        if type(self.episodes) is not int or self.episodes < 1:
            raise ConfigError("evaluate.episodes", self.episodes, "an integer >= 1")
        if type(self.seed) is not int or self.seed < 0:
            raise ConfigError("evaluate.seed", self.seed, "an integer >= 0")
