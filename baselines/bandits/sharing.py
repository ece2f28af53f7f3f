"""What rivals share that exchange: a server, agents that go on from it, and what was sent."""

from typing import Any

import numpy as np

from rolecast.baselines.bandits.posterior import CandidatePosterior
from rolecast.baselines.bandits.settings import CandidatePrior, UcbSettings
from rolecast.core.types import Float
from rolecast.platform.search.bandit.ledger import Ledger
from rolecast.platform.search.bandit.method import BanditProblem


class SharingUcb:
    """Server with all shared data, and agents that go on from it with their own."""

    def __init__(self, problem: BanditProblem, settings: UcbSettings) -> None:
        self._prior = CandidatePrior(problem, settings)
        self._shared = self._prior.posterior()
        self._count = problem.agents
        self._places = self._prior.first_places(self._count)
        self._records: list[dict[str, Any]] = []
        self._round = 0
        self.ledger = Ledger()
        self._begin()

    def _begin(self) -> None:
        """Let every agent go on from what is shared."""
        self._agents: list[CandidatePosterior] = self._shared.forks(self._count)
        self._gain = np.zeros(self._count)

    def ask(self) -> Float:
        """Return each agent's query, [N, 1, d]."""
        return np.asarray(self._prior.points[self._places][:, None])

    def _exchanged(self, uplink: float, downlink: float, **told: int) -> None:
        """Record an exchange, and begin from what is shared now.

        Args:
            uplink: real numbers that an agent sent, on average.
            downlink: those that the server broadcast.
            told: what they were of, for the record.
        """
        self.ledger = self.ledger.plus(uplink=uplink, downlink=downlink)
        sent = {"uplink": uplink, "downlink": downlink}
        self._records.append({"round": self._round, **told, **sent})
        self._begin()

    @property
    def incumbent(self) -> Float:
        """Candidate of the greatest shared mean; of any agent's while nothing is shared."""
        return self._prior.maximiser([self._shared] if self._records else self._agents)

    def records(self) -> list[dict[str, Any]]:
        """Return the exchanges."""
        return list(self._records)
