"""Plays held-out episodes and chooses one: a typical one, not the best."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rolecast.core.errors import RunError
from rolecast.core.seeds import Purpose, episode_seeds
from rolecast.core.types import Float, Seeds
from rolecast.envs.adapters.task import AdaptedTask
from rolecast.envs.spec import BatchedTask, DrawsEpisodes
from rolecast.platform.reports.film.options import Shot

RETURN_QUANTILE: Final = 0.6
"""Rank of the episode shown: a little better than the median."""

Act = Callable[[Float, int], Float]
"""Actions [B, n, da] from observations [B, n, do] and the number of steps taken before."""

Player = Callable[[BatchedTask, Seeds], Act]
"""Who acts in episodes of a task that begin with seeds [B]."""


Watch = Callable[[int, NDArray[np.bool_]], None]
"""Told of each state: its number, and which episodes [B] had ended before it."""


@dataclass(frozen=True, kw_only=True)
class PlayedEpisode:
    """One of the episodes of a batch."""

    seeds: Seeds
    """[B], of the batch: a policy's actions may differ in the last digit in another batch."""

    row: int
    """Its place in the batch."""

    rewards: Float
    """[T], as earned in each of its steps."""

    snapshots: Sequence[Sequence[Float | None]]
    """[T + 1][B], of all episodes of the batch until they end, where the task `DrawsEpisodes`; else
    none, and the episode is played again to be drawn."""


def typical(returns: Float) -> tuple[int, str]:
    """Choose an episode a little better than the median.

    Args:
        returns: [E].
    Returns:
        Its index, and words that say which it is.
    """
    order = np.argsort(returns, kind="stable")
    rank = round(RETURN_QUANTILE * (len(returns) - 1))
    chosen = int(order[rank])
    text = f"return {returns[chosen]:.4g}"
    if len(returns) == 1:
        return chosen, text
    share = 100 * rank / (len(returns) - 1)
    return chosen, f"{text}, percentile {share:.0f} of {len(returns)} episodes"


def choose_typical(task: BatchedTask, player: Player, shot: Shot) -> tuple[PlayedEpisode, str]:
    """Play episodes, and return a typical one with words that say which it is."""
    count = shot.played(compiled=hasattr(task, "lanes"))
    seeds = episode_seeds(0, Purpose.HELD_OUT, shot.seed, count)
    size = 1 if isinstance(task, AdaptedTask) else count  # each of a batch is an object of theirs
    played = []
    for start in range(0, count, size):
        batch = seeds[start : start + size]
        snapshots: list[list[Float | None]] = []
        rewards, lengths = _play(task, player, batch, _keeper(task, snapshots))
        played += [
            PlayedEpisode(
                seeds=batch, row=row, rewards=rewards[: lengths[row], row], snapshots=snapshots
            )
            for row in range(len(batch))
        ]
    chosen, which = typical(np.array([episode.rewards.sum() for episode in played]))
    return played[chosen], which


def _keeper(task: BatchedTask, snapshots: list[list[Float | None]]) -> Watch:
    """Return what keeps snapshots of the running episodes of a batch, where the task has them."""
    if not isinstance(task, DrawsEpisodes):
        return lambda state, over: None

    def keep(state: int, over: NDArray[np.bool_]) -> None:
        snapshots.append([None if ended else task.snapshot(row) for row, ended in enumerate(over)])

    return keep


def _play(
    task: BatchedTask,
    player: Player,
    seeds: Seeds,
    watch: Watch,
    steps: int | None = None,
) -> tuple[Float, NDArray[np.int64]]:
    """Run episodes side by side, and call `watch` in every state.

    Returns:
        Rewards [T, B] and lengths [B].
    """
    act = player(task, seeds)
    observations = task.reset(seeds)
    rewards, lengths = [], np.zeros(len(seeds), dtype=np.int64)
    done = np.zeros(len(seeds), dtype=bool)
    watch(0, done)
    for step in range(task.spec.horizon if steps is None else steps):
        lengths += ~done
        over = done.copy()
        observations, reward, done, _ = task.step(act(observations, step))
        rewards.append(reward)
        watch(step + 1, over)
        if done.all():
            break
    return np.array(rewards), lengths


def play_again(
    task: BatchedTask,
    player: Player,
    episode: PlayedEpisode,
    steps: int,
    watch: Watch,
) -> None:
    """Play the first steps of the chosen episode again, in its batch.

    Raises:
        RunError: it was not the same again.
    """
    rewards, _ = _play(task, player, episode.seeds, watch, steps)
    now, before = float(rewards[:, episode.row].sum()), float(episode.rewards[:steps].sum())
    if not np.isclose(now, before):
        raise RunError(
            f"task {task.spec.id!r} earned {now} in an episode that earned {before} "
            "before; expected the same for the same seed (see rolecast check-task)"
        )
