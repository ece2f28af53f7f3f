"""Asynchronous kernel UCB, after Li et al. (2023): no agent waits for another.

Agents act in turn. One that has learned enough sends statistics of its new data, and the server
sends those of all data to every agent that would learn enough from them.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rolecast.baselines.bandits.dictionary import Dictionary, log_determinant
from rolecast.baselines.bandits.posterior import CandidatePosterior, sparse_posterior
from rolecast.baselines.bandits.settings import CandidatePrior, UcbSettings
from rolecast.core.types import Float
from rolecast.platform.optimizers.duets.coins import Coins
from rolecast.platform.search.bandit.ledger import Ledger
from rolecast.platform.search.bandit.method import BanditMethod, BanditProblem


@dataclass(frozen=True, kw_only=True)
class AsyncKernelUcbConfig(UcbSettings):
    """Asynchronous kernel UCB (after Li et al., 2023): statistics travel where they tell enough."""

    threshold: float = 2.0
    """D, above 0, the growth of log det(I + K / lambda) that starts a message. An agent sends when
    that of its own data grew by more than D since it last sent. The server sends to it when that of
    the server's data is more than D above the agent's."""

    inducing_factor: float = 10.0
    """q, above 0: a point enters the dictionary with probability q s~^2 / lambda."""

    def build(self, problem: BanditProblem) -> BanditMethod:
        """Return server and agents."""
        return AsyncKernelUcb(problem, self)


class AsyncAgent:
    """One agent: what it was sent, its data since it last sent, and its posterior of both."""

    def __init__(self, received: CandidatePosterior) -> None:
        self.fresh: list[tuple[int, float]] = []
        self.dictionary_size = 0
        self.known = np.zeros((0, 0))
        self.receive(received)

    def receive(self, received: CandidatePosterior) -> None:
        """Go on from a posterior of all that was sent."""
        self.received = received
        self.posterior, self.gain = received.forks(1)[0], 0.0
        for place, value in self.fresh:
            self._learn(place, value)

    def add(self, place: int, value: float) -> None:
        """Add a value of its own."""
        self.fresh.append((place, value))
        self._learn(place, value)

    def _learn(self, place: int, value: float) -> None:
        # log det(I + K / lambda) grows by log(1 + s^2 / lambda) with each point
        self.gain += np.log1p(self.posterior.add(place, value) / self.posterior.noise)


class AsyncKernelUcb:
    """Server with the statistics of all data that were sent, and agents that act in turn."""

    def __init__(self, problem: BanditProblem, settings: AsyncKernelUcbConfig) -> None:
        self._prior, self._settings = CandidatePrior(problem, settings), settings
        self._seed, self._count = problem.seed, problem.agents
        self._dictionary = Dictionary(self._prior.kernel, self._prior.points)
        self._gram, self._vector = np.zeros((0, 0)), np.zeros(0)
        nothing = self._prior.posterior()
        self._shared: CandidatePosterior | None = nothing
        self._agents = [AsyncAgent(nothing) for _ in range(self._count)]
        self._firsts = self._prior.first_places(self._count)
        self._records: list[dict[str, Any]] = []
        self._turn, self._place = 0, int(self._firsts[0])
        self.ledger = Ledger()

    def ask(self) -> Float:
        """Return the query of the agent whose turn it is, [1, 1, d]."""
        return np.asarray(self._prior.points[self._place][None, None])

    def tell(self, values: Float) -> None:
        """Add its value [1, 1]; it sends, and others are sent to, where there is enough to tell."""
        number = self._turn % self._count
        agent = self._agents[number]
        agent.add(self._place, float(values[0, 0]))
        if agent.gain > self._settings.threshold:
            self._send(number)
        self._turn += 1
        following = self._turn % self._count
        if self._turn < self._count:
            self._place = int(self._firsts[following])
        else:
            upper = self._agents[following].posterior.upper(self._settings.beta)
            self._place = int(upper.argmax())

    def _send(self, number: int) -> None:
        """Take new dictionary points and statistics from an agent; tell those that lack enough."""
        agent, width = self._agents[number], self._prior.points.shape[1]
        places = np.array([place for place, _ in agent.fresh])
        values = np.array([value for _, value in agent.fresh])
        chosen = self._chosen(agent, places)
        had = self._dictionary.places
        unknown = np.setdiff1d(chosen, had[: agent.dictionary_size])
        self._dictionary.add(np.setdiff1d(chosen, had))
        features = self._dictionary.features[places]
        gram, size = features.T @ features, self._dictionary.size
        self._gram = padded(self._gram, size) + gram
        self._vector = np.append(self._vector, np.zeros(size - len(had))) + features.T @ values
        agent.known, self._shared = padded(agent.known, size) + gram, None
        uplink = len(unknown) * width + statistics_reals(size)
        downlink = (len(had) - agent.dictionary_size) * width
        agent.fresh, agent.gain, agent.dictionary_size = [], 0.0, size
        receivers, numbers = self._tell_agents()
        self._count_exchange(number, receivers, uplink, downlink + numbers)

    def _chosen(self, agent: AsyncAgent, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return those of an agent's new places that its coin takes into the dictionary."""
        variance = np.maximum(agent.received.variance, 0.0)
        coins = Coins(self._seed, len(self._records) + 1, np.array([self._count]))
        rows = np.arange(len(places))
        thrown = coins.uniforms(rows * 0, rows, np.zeros(1, dtype=np.int64), 1)[:, 0, 0]
        scale = self._settings.inducing_factor / self._settings.noise_variance
        kept = places[thrown < scale * variance[places]]
        if not len(kept) and not self._dictionary.size:
            kept = places[:1]
        return np.unique(kept)

    def _tell_agents(self) -> tuple[list[int], int]:
        """Send all statistics to agents that lack enough; return these and the numbers sent."""
        noise, size = self._settings.noise_variance, self._dictionary.size
        informed, receivers, numbers = log_determinant(self._gram, noise), [], 0
        for number, agent in enumerate(self._agents):
            if informed - log_determinant(agent.known, noise) > self._settings.threshold:
                missing = size - agent.dictionary_size
                numbers += missing * self._prior.points.shape[1] + statistics_reals(size)
                agent.dictionary_size, agent.known = size, self._gram.copy()
                agent.receive(self._posterior())
                receivers.append(number)
        return receivers, numbers

    def _posterior(self) -> CandidatePosterior:
        """Return the posterior of all data that were sent, with what the features lack added.

        So an agent's own data count as they are, also where no dictionary point is near.
        """
        if self._shared is None:
            self._shared = self._sparse_posterior()
        return self._shared

    def _sparse_posterior(self) -> CandidatePosterior:
        features, noise = self._dictionary.features, self._settings.noise_variance
        sparse = sparse_posterior(features, self._gram, self._vector, noise)

        @cache
        def row(place: int) -> Float:
            lacking = self._prior.row(place) - features @ features[place]
            return np.asarray(sparse.covariance_row(place) + lacking)

        variance = np.maximum(sparse.variance, 0.0) + self._dictionary.lacking
        return CandidatePosterior(row, sparse.mean, variance, noise)

    def _count_exchange(self, sender: int, receivers: list[int], up: int, down: int) -> None:
        """Count numbers of single agents, each 1/N of an agent's."""
        uplink, downlink = up / self._count, down / self._count
        self.ledger = self.ledger.plus(uplink=uplink, downlink=downlink)
        self._records.append(
            {
                "round": self._turn // self._count + 1,
                "sender": sender,
                "receivers": len(receivers),
                "dictionary": self._dictionary.size,
                "uplink": uplink,
                "downlink": downlink,
            }
        )

    @property
    def incumbent(self) -> Float:
        """Candidate of the greatest mean of all that was sent; of any agent's while nothing was."""
        own = [agent.posterior for agent in self._agents]
        return self._prior.maximiser([self._posterior()] if self._records else own)

    def records(self) -> list[dict[str, Any]]:
        """Return what happened whenever an agent sent."""
        return list(self._records)


def padded(gram: Float, size: int) -> Float:
    """Return a Gram matrix in features of a dictionary that has grown to a size."""
    return np.pad(gram, (0, size - len(gram)))


def statistics_reals(size: int) -> int:
    """Return how many numbers are a symmetric Gram matrix and a vector."""
    return size * (size + 1) // 2 + size
