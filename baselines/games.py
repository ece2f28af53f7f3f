"""Games of two agents whose best play is known, on which learners of teams are told apart.

`python:rolecast.baselines.games:venture` and `...:ridge` are their task ids.
"""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from rolecast.core.errors import stepped_outside
from rolecast.core.types import Float, Seeds
from rolecast.envs.actions import checked_actions
from rolecast.envs.spec import TaskSpec

BEST_STAKE_ACTIONS: Float = np.array([0.2, -0.2])
"""Actions of the two agents that make the most of a stake in `venture`."""

Payoff = Callable[[int, Float, Float], tuple[Float, Float]]
"""From step, stakes [B] and actions [B, 2] to rewards [B] and the next stakes [B]."""


class Game:
    """Two agents with one action each, over B parallel plays of a few steps; nothing is random.

    Each agent observes four numbers: its own index as one-hot (2), the share of steps done in [0,
    1), and the stake. The last step terminates.
    """

    terminated: NDArray[np.bool_]
    """[B], of plays that are done."""

    def __init__(self, task_id: str, steps: int, payoff: Payoff, summary: str) -> None:
        """Make a game.

        Args:
            task_id: whole id.
            steps: of a play.
            payoff: its rules.
            summary: one line for listings.
        """
        self._payoff = payoff
        self._spec = TaskSpec(
            id=task_id,
            agents=2,
            observation_size=4,
            action_size=1,
            horizon=steps,
            summary=summary,
        )
        self.close()

    @property
    def spec(self) -> TaskSpec:
        """Sizes of the task."""
        return self._spec

    def reset(self, seeds: Seeds) -> Float:
        """Begin B plays; return observations [B, n, do]."""
        self._stake = np.zeros(np.asarray(seeds).size)
        self.terminated = np.zeros(self._stake.size, dtype=np.bool_)
        self._step = 0
        return self._observe()

    def step(self, actions: Float) -> tuple[Float, Float, NDArray[np.bool_], Mapping[str, Float]]:
        """Advance all plays by one step; see `BatchedTask.step`.

        Raises:
            RequestError: no play has begun, or actions have a wrong shape or are not finite.
        """
        batch = self._stake.size
        if not batch:
            raise stepped_outside(self._spec.id)
        actions = checked_actions(self._spec, actions, batch, self._step)[:, :, 0]
        reward = np.zeros(batch)
        if self._step < self._spec.horizon:
            reward, self._stake = self._payoff(self._step, self._stake, actions)
            self._step += 1
        self.terminated = np.full(batch, self._step >= self._spec.horizon)
        return self._observe(), reward, self.terminated.copy(), {}

    def close(self) -> None:
        """Forget the running plays."""
        self._stake = np.zeros(0)
        self.terminated = np.zeros(0, dtype=np.bool_)
        self._step = 0

    def _observe(self) -> Float:
        """Return observations [B, n, do]."""
        batch = self._stake.size
        names = np.broadcast_to(np.eye(2), (batch, 2, 2))
        passed = np.full((batch, 2, 1), self._step / self._spec.horizon)
        stake = np.broadcast_to(self._stake[:, None, None], (batch, 2, 1))
        return np.concatenate([names, passed, stake], axis=2)


def venture() -> Game:
    """Return a game of trust: who stakes must know what the partner can do by now.

    In the first step the first agent's action x stakes s = (1 + x) / 2. In the second both act; the
    reward is s (1 - 7 |a - BEST_STAKE_ACTIONS|^2) - 2 s (1 - s)^3. Best: stake all, and earn 1. A
    stake of 0 earns 0. A stake below a fifth costs more than it earns, so small steps do not lead
    away from 0.

    With a partner that acts at random, a stake loses 1.61 s on average, own actions being optimal.
    An independent learner values a stake by partners' past actions, so it stops before the partner
    has learnt. A value under the partner's present policy is positive.
    """
    return Game(
        "python:rolecast.baselines.games:venture",
        2,
        _venture,
        "one agent stakes, then both must act right; best return 1, without trust 0",
    )


def ridge() -> Game:
    """Return a game of one step with a narrow ridge that only joint steps climb.

    The reward is (x + y) / 2 - 4 (x - y)^2; best: x = y = 1, which earns 1. From any other point
    of the ridge a step of one agent alone soon falls off it.

    Source: after the continuous matrix game of FACMAC, Peng et al. (2021). Differs: smooth, so
    that nothing depends on luck in finding a ridge of width 0.01.
    """
    return Game(
        "python:rolecast.baselines.games:ridge",
        1,
        _ridge,
        "both agents must rise together; best return 1",
    )


def _venture(step: int, stake: Float, actions: Float) -> tuple[Float, Float]:
    if step == 0:
        return np.zeros(len(stake)), (1.0 + actions[:, 0]) / 2.0
    quality = 1.0 - 7.0 * np.square(actions - BEST_STAKE_ACTIONS).sum(axis=1)
    return stake * quality - 2.0 * stake * (1.0 - stake) ** 3, stake


def _ridge(_: int, stake: Float, actions: Float) -> tuple[Float, Float]:
    x, y = actions.T
    return (x + y) / 2.0 - 4.0 * np.square(x - y), stake
