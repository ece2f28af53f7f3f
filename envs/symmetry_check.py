"""Test of declared symmetries: episodes of random policies and of their images.

A policy a = tanh(W o) and its image A tanh(W S^-1 o) are run on fresh episodes. Under a symmetry,
observations of the first, moved by S, have the distribution of those of the second. Compared are
the mean and mean square of each entry, and the return.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from rolecast.core.types import Float
from rolecast.envs.spec import BatchedTask
from rolecast.envs.symmetry import Symmetry, apply_places, index_and_sign

CHECK_EPISODES: Final = 200
"""Episodes of each policy and of its image."""

CHECK_STEPS: Final = 100
"""Maximum steps of these episodes."""

CHECK_POLICIES: Final = 2
"""Random policies."""

GREATEST_DEVIATION: Final = 6.0
"""Standard errors by which a mean may differ.

A normal mean exceeds it once in 5e8 comparisons; 66 are made for 16 entries."""


@dataclass(frozen=True, kw_only=True)
class SymmetryDeviation:
    """Greatest deviation of a symmetry from equal distributions."""

    standard_errors: float
    """Difference of two means, in standard errors."""

    where: str
    """Name of the mean, such as "observation entry 3"."""


Actor = Callable[[Float], Float]
"""Actions [B, n, da] of observations [B, n, do]."""


def symmetry_deviations(
    task: BatchedTask, symmetries: Iterable[Symmetry]
) -> Iterator[SymmetryDeviation]:
    """Yield the greatest deviation of each symmetry; at most 6 standard errors where it holds.

    The same episodes of the policies themselves serve all symmetries.

    Args:
        task: whose running episodes are replaced.
        symmetries: of sizes of the task.
    """
    spec = task.spec
    rng = np.random.default_rng(0)
    size = spec.observation_size
    names = [f"observation entry {k}" for k in range(size)]
    names = [f"mean of {name}" for name in names] + [f"mean square of {name}" for name in names]
    matrices = 1.5 * rng.standard_normal((CHECK_POLICIES, spec.action_size, size))
    played = [_means(task, _linear(each), 2 * number) for number, each in enumerate(matrices)]
    for symmetry in symmetries:
        places, signs = index_and_sign(symmetry.observation)
        worst = SymmetryDeviation(standard_errors=0.0, where="no mean")
        for number, matrix in enumerate(matrices):
            first = played[number].copy()
            first[:, :size] = first[:, :size][:, places] * signs
            first[:, size : 2 * size] = first[:, size : 2 * size][:, places]
            second = _means(task, _linear(_moved(matrix, symmetry)), 2 * number + 1)
            error = np.sqrt((first.var(0, ddof=1) + second.var(0, ddof=1)) / CHECK_EPISODES)
            apart = np.abs(first.mean(0) - second.mean(0))
            # Equal constants have no error; means that differ without one have no doubt.
            deviation = np.where(apart > 1e-9, apart / np.maximum(error, 1e-12), 0.0)
            at = int(deviation.argmax())
            if deviation[at] > worst.standard_errors:
                worst = SymmetryDeviation(
                    standard_errors=float(deviation[at]), where=[*names, "return"][at]
                )
        yield worst


def _moved(matrix: Float, symmetry: Symmetry) -> Float:
    """Return A W S^-1 for a matrix W [da, do]."""
    rows = apply_places(symmetry.action, matrix.T).T
    return apply_places(symmetry.observation, rows)


def _linear(matrix: Float) -> Actor:
    """Return the policy tanh(W o)."""
    return lambda observations: np.asarray(np.tanh(observations @ matrix.T))


def _means(task: BatchedTask, act: Actor, block: int) -> Float:
    """Return means of entries, of their squares, and returns [E, 2 do + 1] of fresh episodes."""
    seeds = np.arange(CHECK_EPISODES, dtype=np.uint64) + np.uint64(1_000_003 * (block + 1))
    observations = task.reset(seeds)
    live = np.ones(CHECK_EPISODES, dtype=bool)
    totals = np.zeros((CHECK_EPISODES, 2 * observations.shape[2] + 1))
    steps = np.zeros(CHECK_EPISODES)
    for _ in range(min(task.spec.horizon, CHECK_STEPS)):
        rows = np.concatenate([observations.mean(1), np.square(observations).mean(1)], axis=1)
        totals[:, :-1] += np.where(live[:, None], rows, 0.0)
        steps += live
        observations, reward, done, _ = task.step(act(observations))
        totals[:, -1] += np.where(live, reward, 0.0)
        live &= ~done
        if not live.any():
            break
    totals[:, :-1] /= steps[:, None]
    return totals
