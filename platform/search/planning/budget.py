"""What a search may still spend. The worst case counts, so that a budget is not exceeded.

Without a horizon no worst case is known: the longest episodes so far count. So a budget in steps
is exceeded at most by the evaluations under way when episodes turned out longer than any before.
"""

from dataclasses import dataclass, replace
from math import ceil
from typing import Final, Literal, Self

import numpy as np
from numpy.typing import NDArray

from rolecast.core.errors import ConfigError, RequestError

LEAST_CONFIRMATION: Final = 2
"""Evaluations that the confirmation has at least, in a budget large enough for a search too."""

CONFIRMED_CANDIDATES: Final = 4
"""Evaluations that it has at least, as far as a tenth of the budget allows: the incumbent's and
three rivals'."""

CONFIRMED_EPISODES: Final = 24
"""Episodes that it has at least, as far as a tenth of the budget allows: six for each of those
candidates."""


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What a search has used."""

    env_steps: int = 0
    """Steps of all its episodes."""

    evaluations: int = 0
    """Its evaluations, those of the confirmation included."""

    longest: int = 0
    """Steps of an episode, on average over the evaluation with the longest, rounded up."""

    def after(self, env_steps: NDArray[np.int64], episodes: int) -> Self:
        """Return what is used with evaluations of so many steps [q] and episodes each."""
        return type(self)(
            env_steps=self.env_steps + int(env_steps.sum()),
            evaluations=self.evaluations + len(env_steps),
            longest=max(self.longest, -(-int(env_steps.max()) // episodes)),
        )


@dataclass(frozen=True, kw_only=True)
class Budget:
    """A limit in env steps or in evaluations, a part of which the confirmation keeps."""

    unit: Literal["env_steps", "evaluations"]
    """What is counted."""

    total: int
    """The limit."""

    episodes: int
    """E, episodes of one evaluation at most."""

    episode_steps: int
    """Maximum env steps of an episode: the horizon. Without one, the length of the longest episode
    so far, that of random play at first."""

    confirm_share: float
    """Share of the total kept for the confirmation, in [0, 0.5]."""

    random_play_steps: int = 0
    """Env steps of random play before the first evaluation; a budget in env steps pays them."""

    def __post_init__(self) -> None:
        if self.total - self._before < self.cost(Spent()):
            raise ConfigError(
                f"SearchConfig.{self.unit}",
                self.total,
                f"at least {self._before + self.cost(Spent())}, one evaluation of this task",
            )

    @property
    def _before(self) -> int:
        """What was used before the first evaluation, in the budget's unit."""
        return self.random_play_steps if self.unit == "env_steps" else 0

    def env_steps(self, spent: Spent) -> int:
        """Return the env steps so far, those of random play included."""
        return self.random_play_steps + spent.env_steps

    def evaluation_steps(self, spent: Spent) -> int:
        """Return the env steps of one evaluation at most, as far as is known."""
        return self.episodes * max(self.episode_steps, spent.longest)

    def cost(self, spent: Spent) -> int:
        """Return what one evaluation may cost at most, in the budget's unit."""
        return self.evaluation_steps(spent) if self.unit == "env_steps" else 1

    def affordable(self, spent: Spent) -> int:
        """Return the evaluations that fit in the whole budget at their highest cost."""
        return (self.total - self._before) // self.cost(spent)

    def confirmations(self, spent: Spent) -> int:
        """Return the evaluations kept for the confirmation; at most a third of what fits."""
        if self.confirm_share == 0.0:
            return 0
        affordable = self.affordable(spent)
        few = max(CONFIRMED_CANDIDATES, ceil(CONFIRMED_EPISODES / self.episodes))
        few = min(few, affordable // 10)
        wanted = max(LEAST_CONFIRMATION, few, ceil(self.confirm_share * affordable))
        return min(wanted, affordable // 3)

    def used(self, spent: Spent) -> int:
        """Return what is used, in the budget's unit."""
        return self._before + (spent.env_steps if self.unit == "env_steps" else spent.evaluations)

    def share(self, spent: Spent) -> float:
        """Return the share of the budget that is used, in [0, 1]."""
        return min(1.0, self.used(spent) / self.total)

    def search_fits(self, spent: Spent) -> int:
        """Return how many evaluations still fit beside the confirmation."""
        return max(0, self._fits(spent) - self.confirmations(spent))

    def require_further(self, spent: Spent) -> None:
        """Refuse a budget in which a search that was confirmed evaluates nothing more.

        Raises:
            RequestError: names the least total that lets it.
        """
        least = self
        while not least.search_fits(spent):
            least = replace(least, total=least.total + least.cost(spent))
        if least.total > self.total:
            raise RequestError(
                f"{self.unit} is {self.total}; expected at least {least.total}, with which one "
                "evaluation more fits beside the confirmation"
            )

    def confirmation_fits(self, spent: Spent) -> int:
        """Return the evaluations of the confirmation; fewer than were kept where less is left."""
        return min(self.confirmations(spent), self._fits(spent))

    def _fits(self, spent: Spent) -> int:
        """Return how many evaluations fit in what is left."""
        return max(0, self.total - self.used(spent)) // self.cost(spent)
