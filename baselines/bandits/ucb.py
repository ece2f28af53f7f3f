"""Rivals with exact posteriors: N-KernelUCB, central GP-UCB and DisKernelUCB."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rolecast.baselines.bandits.settings import CandidatePrior, UcbSettings
from rolecast.baselines.bandits.sharing import SharingUcb
from rolecast.core.types import Float
from rolecast.platform.search.bandit.ledger import Ledger
from rolecast.platform.search.bandit.method import BanditMethod, BanditProblem


@dataclass(frozen=True, kw_only=True)
class NKernelUcbConfig(UcbSettings):
    """Each agent runs GP-UCB on its own data; nothing is sent."""

    def build(self, problem: BanditProblem) -> BanditMethod:
        """Return the agents."""
        return NKernelUcb(problem, self)


@dataclass(frozen=True, kw_only=True)
class CentralUcbConfig(UcbSettings):
    """One GP-UCB with N T queries in sequence: no delay, all data sent."""

    def build(self, problem: BanditProblem) -> BanditMethod:
        """Return the one searcher."""
        return CentralUcb(problem, self)


@dataclass(frozen=True, kw_only=True)
class DisKernelUcbConfig(UcbSettings):
    """DisKernelUCB (Li et al., 2022): raw data are shared when an agent has learned enough."""

    threshold: float = 10.0
    """D, above 0: all share when new points times their log-determinant ratio exceed it."""

    def build(self, problem: BanditProblem) -> BanditMethod:
        """Return server and agents."""
        return DisKernelUcb(problem, self)


class NKernelUcb:
    """N agents that do not know of each other."""

    ledger = Ledger()

    def __init__(self, problem: BanditProblem, settings: UcbSettings) -> None:
        self._prior, self._beta = CandidatePrior(problem, settings), settings.beta
        self._agents = [self._prior.posterior() for _ in range(problem.agents)]
        self._places = self._prior.first_places(problem.agents)

    def ask(self) -> Float:
        """Return each agent's query, [N, 1, d]."""
        return np.asarray(self._prior.points[self._places][:, None])

    def tell(self, values: Float) -> None:
        """Add each agent's value [N, 1] to its own data."""
        for agent, place, value in zip(self._agents, self._places, values[:, 0], strict=True):
            agent.add(int(place), float(value))
        self._places = np.array([int(agent.upper(self._beta).argmax()) for agent in self._agents])

    @property
    def incumbent(self) -> Float:
        """Candidate of the greatest mean of any agent."""
        return self._prior.maximiser(self._agents)

    def records(self) -> list[dict[str, Any]]:
        """Return nothing: there is no exchange."""
        return []


class CentralUcb:
    """One searcher, which every query and value passes."""

    def __init__(self, problem: BanditProblem, settings: UcbSettings) -> None:
        self._prior, self._beta = CandidatePrior(problem, settings), settings.beta
        self._posterior = self._prior.posterior()
        self._agents, self._queries = problem.agents, 0
        self._place = int(self._prior.first_places(1)[0])

    def ask(self) -> Float:
        """Return the next query, [1, 1, d]."""
        return np.asarray(self._prior.points[self._place][None, None])

    def tell(self, values: Float) -> None:
        """Add its value [1, 1]."""
        self._posterior.add(self._place, float(values[0, 0]))
        self._queries += 1
        self._place = int(self._posterior.upper(self._beta).argmax())

    @property
    def ledger(self) -> Ledger:
        """A query goes to one agent and a value comes from it, so both are 1/N of an agent's."""
        each = self._queries / self._agents
        return Ledger(uplink=each, downlink=each * self._prior.points.shape[1])

    @property
    def incumbent(self) -> Float:
        """Candidate of the greatest mean."""
        return self._prior.maximiser([self._posterior])

    def records(self) -> list[dict[str, Any]]:
        """Return nothing: an exchange a query would be a table of all queries."""
        return []


class DisKernelUcb(SharingUcb):
    """Raw points and values are shared."""

    def __init__(self, problem: BanditProblem, settings: DisKernelUcbConfig) -> None:
        super().__init__(problem, settings)
        self._settings = settings
        self._fresh: list[list[tuple[int, float]]] = [[] for _ in range(self._count)]

    def tell(self, values: Float) -> None:
        """Add the values [N, 1]; share all where an agent has learned enough."""
        self._round += 1
        for number, (place, value) in enumerate(zip(self._places, values[:, 0], strict=True)):
            before = self._agents[number].add(int(place), float(value))
            self._fresh[number].append((int(place), float(value)))
            # log det(I + K/lambda) grows by log(1 + s^2/lambda) with each point
            self._gain[number] += np.log1p(before / self._settings.noise_variance)
        news = np.array([len(each) for each in self._fresh])
        if (news * self._gain > self._settings.threshold).any():
            self._share(int(news.sum()))
        beta = self._settings.beta
        self._places = np.array([int(agent.upper(beta).argmax()) for agent in self._agents])

    def _share(self, news: int) -> None:
        """Send all new points and values up, and their union down."""
        told = [pair for each in self._fresh for pair in each]
        places, values = zip(*told, strict=True)
        self._shared.add_all(np.array(places), np.array(values))
        self._fresh = [[] for _ in range(self._count)]
        width = self._prior.points.shape[1] + 1
        self._exchanged(news * width / self._count, float(news * width), points=news)
