"""Plays whole episodes in compiled code, for simulators that can; each on the first free thread.

Between steps there is no Python, and so nothing that threads wait for. A thread plays one episode
at a time: who has short ones takes more of them.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import Lock
from typing import Final

import numpy as np

from rolecast.core.kernel_address import has_own_kernels, kernel_address, works_on
from rolecast.core.lane_arrays import lane_array
from rolecast.core.types import CompiledKernel, Float
from rolecast.envs.rewards.task import RewardTask, compiled_simulator
from rolecast.envs.spec import CompiledSimulator, TaskSpec
from rolecast.platform.rollout.played import Episodes, Played, joined, over_agents
from rolecast.platform.rollout.sizes import KEPT_STEPS
from rolecast.policies.protocol import PolicyKernels

STEPS_TOGETHER: Final = 100
"""Steps of a compiled call; between calls Ctrl-C and errors of other threads are heeded."""

MOST_AGENTS: Final = 8
"""Agents up to which one thread plays whole episodes: a policy's kernel computes W lanes for one.
With `hom` that costs a third of the time for 10 agents, and nothing for 4."""


class _Actor:
    """A policy in one block of lanes, of which the first one acts."""

    def __init__(self, lanes: PolicyKernels, parameters: int, spec: TaskSpec) -> None:
        self.weights = lane_array(1, parameters)
        self.seen = lane_array(1, spec.agents, spec.observation_size)
        self.acted = lane_array(1, spec.agents, spec.action_size)
        self._calls = lanes.calls(self.weights, self.seen, self.acted)

    @property
    def kernel(self) -> CompiledKernel | None:
        """Address and arguments of the kernel.

        None if there are several, or it has no address, or does not act on these very arrays.
        """
        if len(self._calls) != 1:
            return None
        function, arguments = self._calls[0]
        if not works_on(self._calls, (self.weights, self.seen, self.acted)):
            return None
        address = kernel_address(function, arguments)
        return None if address is None else (address, arguments)


def play_whole(episodes: Episodes) -> Played | None:
    """Play episodes of a simulator; None: it cannot, or the policy is no single compiled kernel.

    Raises:
        ConfigError: the policy is for another task.
    """
    policy, spec = episodes.policy, episodes.task.spec
    simulator = compiled_simulator(episodes.task)
    lanes = None if simulator is None else policy.lanes()
    if simulator is None or not isinstance(lanes, PolicyKernels) or not has_own_kernels(lanes):
        return None
    players = simulator.twins()[: episodes.seeds.size]
    if len(players) == 1 and spec.agents > MOST_AGENTS:
        return None
    actors = [_Actor(lanes, policy.space.size, spec) for _ in players]
    lanes.act(actors[0].weights, actors[0].seen, actors[0].acted)  # which refuses other sizes
    crew = [
        (player, actor, kernel)
        for player, actor in zip(players, actors, strict=True)
        if (kernel := actor.kernel) is not None
    ]
    if not crew:
        return None
    size = max(1, KEPT_STEPS // spec.horizon)
    return joined([_deal(part, crew) for part in episodes.parts(size)])


def _deal(
    episodes: Episodes, crew: Sequence[tuple[CompiledSimulator, _Actor, CompiledKernel]]
) -> Played:
    """Play episodes on as many threads as there are simulators, each with an actor."""
    book = _Book(episodes)
    if len(crew) == 1:
        _play(book, *crew[0])
        return book.played()
    with ThreadPoolExecutor(len(crew)) as pool:
        try:
            playing = [pool.submit(_play, book, *each) for each in crew]
            for ended in as_completed(playing):
                ended.result()
        finally:
            book.over = True  # whoever plays on after an error or Ctrl-C ends with this call
    return book.played()


def _play(book: "_Book", player: CompiledSimulator, actor: _Actor, kernel: CompiledKernel) -> None:
    """Play episodes until none waits."""
    asked, spec = book.asked, book.asked.task.spec
    sums = np.zeros((0 if asked.summed is None else 2, spec.agents, spec.observation_size))
    while not book.over and (episode := book.take()) is not None:
        player.reset(asked.seeds[episode : episode + 1])
        actor.weights[0] = asked.weights[asked.candidate[episode], :, None]
        sums[:] = 0.0
        totals, log, ended = np.zeros(2), [], False
        while not ended and not book.over:
            steps = np.empty((STEPS_TOGETHER, 2))
            taken, ended, metrics = player.play_on(
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
