"""Where every random number of a search comes from: the root seed, a purpose, and indices.

Never a worker, a clock or an order of arrival; so the same search comes out whoever computes it.
"""

from enum import IntEnum
from typing import Final

import numpy as np

from rolecast.core.types import Seeds

_SEED_FAMILY: Final = 0x726F6C65
"""Keeps these streams apart from `SeedSequence(seed)` in a user's own code."""


class Purpose(IntEnum):
    """What a stream of seeds is for; no two purposes share a seed."""

    SEARCH = 0
    """Episodes that the search learns from."""

    HELD_OUT = 1
    """Development set: episodes that no search has seen, but by which its designers choose. It
    depends on no root seed, so that runs are comparable."""

    POLICY = 2
    """The policy's random centre."""

    OPTIMIZER = 3
    """The optimiser's draws."""

    SCRIPT = 4
    """Random choices of scripted policies."""

    SEALED = 5
    """Episodes of result tables alone. No search, evaluation, ablation or choice of a default
    meets them, so that no design fits them; see `rolecast.platform.rollout.held_out`."""

    CERTIFICATE = 6
    """Episodes of `rolecast certify` alone, so that no choice before it has met them."""

    COIN = 7
    """Coins of the agents of a distributed bandit; the index is the epoch."""

    RANDOM_PLAY = 8
    """Random play in which symmetries of a task are looked for."""


def episode_seeds(root: int, purpose: Purpose, index: int, episodes: int) -> Seeds:
    """Return the seeds [episodes] of the index-th evaluation of a purpose.

    The first E of them are the same however many are asked for.
    """
    sequence = np.random.SeedSequence((_SEED_FAMILY, root), spawn_key=(int(purpose), index))
    return np.asarray(sequence.generate_state(episodes, dtype=np.uint64), dtype=np.uint64)


def derived_seed(root: int, purpose: Purpose) -> int:
    """Return one seed below 2^63 for a component."""
    return int(episode_seeds(root, purpose, 0, 1)[0] >> np.uint64(1))
