"""Moments of random play: what a task's symmetries leave as it is.

Actions are uniform, held for a few steps so that agents move. An agent's entries z are those of its
observation and of its action. Moments are averaged over the steps of an episode first; errors are
of episodes, which are independent.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rolecast.core.types import Float
from rolecast.envs.spec import BatchedTask

HELD_STEPS: Final = 4
"""Steps for which a random action is held."""

BLOCK_EPISODES: Final = 64
"""Episodes that are played side by side."""

LONGEST_EPISODE: Final = 50
"""Steps after which a random episode is left."""

LARGEST_PLAY: Final = 1024
"""Maximum episodes, for tasks whose random episodes end at once."""

LEAST_ERROR: Final = 1e-12
"""Standard error of a moment that is the same in all episodes."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Play:
    """Episodes of random play, T steps of E episodes at most."""

    entries: Float
    """Observation and action of each agent [T, E, n, m], m = do + da."""

    changes: Float
    """Changes of the entries in a step [T, E, n, m]; 0 for actions."""

    rewards: Float
    """Rewards of the team [T, E]."""

    weights: Float
    """Weight of a step in its episode [T, E], 0 after the end."""

    env_steps: int
    """Steps of all episodes."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Moments:
    """Means over episodes, with standard errors."""

    means: Float
    """Means of z, of its change, and of reward times z [3, m]."""

    mean_errors: Float
    """Their standard errors [3, m]."""

    products: Float
    """Means of z z', of z times the change of z', and of reward times z z' [3, m, m]."""

    product_errors: Float
    """Their standard errors [3, m, m]."""

    def significances(self) -> tuple[Float, Float]:
        """Return means [m] and products [m, m] in standard errors, the greatest of their kinds."""
        single = np.abs(self.means / self.mean_errors).max(0)
        pairs = np.abs(self.products / self.product_errors).max(0)
        return single, np.maximum(pairs, pairs.T)

    def misfit(self, places: NDArray[np.int64], signs: Float) -> float:
        """Return the greatest difference to the moments of moved entries, in standard errors.

        Args:
            places: [m], the entry from 0 that comes to each place.
            signs: [m], its sign.
        """
        moved = self.means[:, places] * signs
        errors = np.hypot(self.mean_errors, self.mean_errors[:, places])
        single = np.abs(self.means - moved) / errors
        moved = self.products[:, places][:, :, places] * np.outer(signs, signs)
        errors = np.hypot(self.product_errors, self.product_errors[:, places][:, :, places])
        pairs = np.abs(self.products - moved) / errors
        return float(max(single.max(), pairs.max()))


def play_at_random(task: BatchedTask, *, env_steps: int, seed: int) -> Play:
    """Play episodes of random actions; the task's running episodes are replaced.

    Blocks of episodes are played until they have `env_steps` steps, but no more than
    `LARGEST_PLAY` episodes.

    Args:
        task: the task.
        env_steps: steps of all episodes, at least.
        seed: of the episodes and of the actions.
    """
    rng, blocks = np.random.default_rng(seed), list[Play]()
    while len(blocks) * BLOCK_EPISODES < LARGEST_PLAY:
        blocks.append(_block(task, rng))
        if sum(block.env_steps for block in blocks) >= env_steps:
            break
    longest = max(len(block.rewards) for block in blocks)

    def whole(name: str) -> Float:
        parts = [getattr(block, name) for block in blocks]
        padded = [
            np.pad(part, [(0, longest - len(part))] + [(0, 0)] * (part.ndim - 1)) for part in parts
        ]
        return np.concatenate(padded, axis=1)

    return Play(
        entries=whole("entries"),
        changes=whole("changes"),
        rewards=whole("rewards"),
        weights=whole("weights"),
        env_steps=sum(block.env_steps for block in blocks),
    )


def _block(task: BatchedTask, rng: np.random.Generator) -> Play:
    """Play one block of episodes."""
    spec = task.spec
    seeds = rng.integers(0, 2**63, BLOCK_EPISODES).astype(np.uint64)
    observations = np.array(task.reset(seeds))  # a task may write the next step into it
    live = np.ones(BLOCK_EPISODES, dtype=bool)
    entries, changes, rewards, lives = [], [], [], []
    actions = np.zeros((BLOCK_EPISODES, spec.agents, spec.action_size))
    for step in range(min(LONGEST_EPISODE, spec.horizon)):
        if step % HELD_STEPS == 0:
            actions = rng.uniform(-1.0, 1.0, actions.shape)
        following, reward, done, _ = task.step(actions)
        alive = live[:, None, None]
        entries.append(np.where(alive, np.concatenate([observations, actions], axis=2), 0.0))
        moved = np.where(alive, following - observations, 0.0)
        changes.append(np.concatenate([moved, np.zeros_like(actions)], axis=2))
        rewards.append(np.where(live, reward, 0.0))
        lives.append(live)
        observations, live = np.array(following), live & ~done
        if not live.any():
            break
    played = np.array(lives, dtype=np.float64)
    return Play(
        entries=np.array(entries),
        changes=np.array(changes),
        rewards=np.array(rewards),
        weights=played / played.sum(0),
        env_steps=int(played.sum()),
    )


def moments(play: Play, agent: int | None = None) -> Moments:
    """Return the moments of one agent, or of all together.

    Args:
        play: of the task.
        agent: from 0; None: the mean over agents.
    """
    episodes, agents = play.entries.shape[1:3]
    size = play.entries.shape[3]
    chosen = range(agents) if agent is None else (agent,)
    means, products = np.zeros((episodes, 3, size)), np.zeros((episodes, 3, size, size))
    paid = play.weights * (play.rewards - play.rewards.mean())
    for number in chosen:
        z, change = play.entries[:, :, number], play.changes[:, :, number]
        kinds = ((play.weights, z), (play.weights, change), (paid, z))
        for kind, (weights, other) in enumerate(kinds):
            means[:, kind] += np.einsum("te,tei->ei", weights, other) / len(chosen)
            weighted = weights[:, :, None] * z
            products[:, kind] += np.einsum("tei,tej->eij", weighted, other) / len(chosen)
    root = episodes**0.5
    return Moments(
        means=means.mean(0),
        mean_errors=means.std(0, ddof=1) / root + LEAST_ERROR,
        products=products.mean(0),
        product_errors=products.std(0, ddof=1) / root + LEAST_ERROR,
    )
