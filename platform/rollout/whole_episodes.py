"""Plays whole episodes in compiled code, for simulators that can; each on the first free thread.

Between steps there is no Python, and so nothing that threads wait for. A thread plays one episode
at a time: who has short ones takes more of them.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import Lock
from typing import Any, Final

import numpy as np

from rolecast.core.kernel_address import kernel_address
from rolecast.core.lane_arrays import lane_array
from rolecast.core.types import Float
from rolecast.envs.rewards.task import RewardTask, has_twins, unwrapped
from rolecast.envs.spec import TaskSpec
from rolecast.platform.rollout.played import Episodes, Played, joined, over_agents
from rolecast.platform.rollout.sizes import COMPILED_LANES
from rolecast.policies.protocol import PolicyKernels

STEPS_TOGETHER: Final = 100
"""Steps of a compiled call; between calls Ctrl-C and errors of other threads are heeded."""


class _Actor:
    """A policy in one block of lanes, of which the first one acts."""

    def __init__(self, lanes: PolicyKernels, parameters: int, spec: TaskSpec) -> None:
        self.weights = lane_array(1, parameters)
        self.seen = lane_array(1, spec.agents, spec.observation_size)
        self.acted = lane_array(1, spec.agents, spec.action_size)
        self.calls = lanes.calls(self.weights, self.seen, self.acted)


def _actors(episodes: Episodes, count: int) -> list[_Actor]:
    """Return actors of a policy, one a thread; none if it is not a single compiled kernel.

    Raises:
        ConfigError: the policy is for another task.
    """
    policy, spec = episodes.policy, episodes.task.spec
    actors = []
    for _ in range(count):
        lanes = policy.lanes()
        if not isinstance(lanes, PolicyKernels):
            return []
        actor = _Actor(lanes, policy.space.size, spec)
        lanes.act(actor.weights, actor.seen, actor.acted)  # which refuses other sizes
        if len(actor.calls) != 1:
            return []
        actors.append(actor)
    return actors


def play_whole(episodes: Episodes) -> Played | None:
    """Play episodes of a simulator; None: it cannot, or the policy is no single compiled kernel."""
    if not has_twins(episodes.task):
        return None
    environment: Any = unwrapped(episodes.task)
    players = environment.twins()
    actors = _actors(episodes, len(players))
    if not actors:
        return None
    return joined([_deal(part, players, actors) for part in episodes.parts(COMPILED_LANES)])


def _deal(episodes: Episodes, players: Sequence[Any], actors: Sequence[_Actor]) -> Played:
    """Play episodes on as many threads as there are players."""
    book = _Book(episodes)
    if len(players) == 1:
        _play(book, players[0], actors[0])
        return book.played()
    with ThreadPoolExecutor(len(players)) as pool:
        try:
            pairs = zip(players, actors, strict=True)
            playing = [pool.submit(_play, book, *pair) for pair in pairs]
            for ended in as_completed(playing):
                ended.result()
        finally:
            book.over = True  # whoever plays on after an error or Ctrl-C ends with this call
    return book.played()


def _play(book: "_Book", task: Any, actor: "_Actor") -> None:
    """Play episodes until none waits."""
    asked, spec = book.asked, task.spec
    ((function, arguments),) = actor.calls
    kernel = kernel_address(function, arguments), arguments
    sums = np.zeros((0 if asked.summed is None else 2, spec.agents, spec.observation_size))
    while not book.over and (episode := book.take()) is not None:
        task.reset(asked.seeds[episode : episode + 1])
        actor.weights[0] = asked.weights[asked.candidate[episode], :, None]
        sums[:] = 0.0
        totals, log, ended = np.zeros(2), [], False
        while not ended and not book.over:
            steps = np.empty((STEPS_TOGETHER, 2))
            taken, ended, metrics = task.play_on(
                kernel, (actor.seen, actor.acted), asked.summed or 0.0, sums, steps, totals
            )
            log.append(steps[:taken])
        if ended:
            book.enter(episode, np.concatenate(log), totals[0], metrics, sums)


class _Book:
    """L episodes that wait for a thread, and what those gave that have ended."""

    def __init__(self, asked: Episodes) -> None:
        self.asked, self.over = asked, False
        count = asked.seeds.size
        self._waiting, self._lock = iter(range(count)), Lock()
        self._log: list[Float] = [np.zeros((0, 2))] * count
        self._returns, self._metrics = np.zeros(count), dict[str, Float]()
        self._sums = np.zeros((count, 3, asked.task.spec.observation_size))

    def take(self) -> int | None:
        """Return the next episode; None if none waits."""
        with self._lock:
            return next(self._waiting, None)

    def enter(
        self, episode: int, log: Float, earned: float, metrics: Mapping[str, float], sums: Float
    ) -> None:
        """Write what an episode gave.

        Args:
            episode: its row.
            log: [T, 2], its rewards, and the parts of them for a healthy body.
            earned: sum of its rewards.
            metrics: summed over its steps.
            sums: [2, n, do], sums of its observations and of their squares, if asked for.
        """
        self._log[episode], self._returns[episode] = log, earned
        with self._lock:
            for name, value in metrics.items():
                self._metrics.setdefault(name, np.zeros(self._returns.size))[episode] = value
        if len(sums):
            counts = np.array([len(log) * sums.shape[1]])
            self._sums[episode] = over_agents(sums[:, None], counts)[0]

    def played(self) -> Played:
        """Return what all episodes gave."""
        task, returns = self.asked.task, self._returns
        lengths = np.array([len(log) for log in self._log])
        observed = returns
        if isinstance(task, RewardTask):
            observed = task.paid_returns(self.asked.seeds, self._log)
        summary = None if self.asked.summed is None else self._sums
        return Played(returns, observed, lengths, self._metrics, [], summary)
