"""Plays held-out episodes of a policy and draws one of them: a typical one, not the best.

Predator-prey is drawn here; any other task draws itself, by `render_mode="rgb_array"`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from rolecast.envs.adapters.task import AdaptedTask
from rolecast.envs.counter_random import episode_keys
from rolecast.envs.errors import RequestError, RunError, unknown_name
from rolecast.envs.predator_prey.task import PredatorPreyTask
from rolecast.envs.registry import make_task
from rolecast.envs.rewards.task import unwrapped
from rolecast.envs.scripted import SCRIPTED
from rolecast.envs.spec import BatchedTask, Float, Seeds
from rolecast.platform.reports.film import gif, png, write_film
from rolecast.platform.reports.folder import Run
from rolecast.platform.reports.hunt import FRAME_MS, Hunt, draw_frame
from rolecast.platform.reports.shot import Shot
from rolecast.platform.search.seeds import Purpose, episode_seeds

QUANTILE: Final = 0.6
"""Rank of the episode shown: a little better than the median."""

FILM_MS: Final = 9000
"""How long a film lasts that is neither very short nor very long."""

FRAME_LIMITS_MS: Final = (40, FRAME_MS)
"""Least and most time that a frame is shown."""

Act = Callable[[Float, int], Float]
"""Actions [B, n, da] from observations [B, n, do] and the number of steps taken before."""

Player = Callable[[BatchedTask, Seeds], Act]
"""Who acts in episodes of a task that begin with seeds [B]."""

Progress = Callable[[int, int], None]
"""Told of frames drawn and of all frames."""


def _silent(drawn: int, frames: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True, kw_only=True)
class Rendering:
    """A drawn episode."""

    frames: list[Image.Image]
    """In order of time, all of one size."""

    frame_ms: int
    """How long a frame is shown."""

    description: str
    """Which episode it is, and what it earns."""

    def gif(self) -> bytes:
        """Return the moving picture."""
        return gif(self.frames, self.frame_ms)

    def png(self) -> bytes:
        """Return a still picture: a few moments side by side."""
        return png(self.frames, self.frame_ms)


@dataclass(frozen=True, kw_only=True)
class _Episode:
    """One of the episodes of a batch, which is played again to be drawn."""

    seeds: Seeds
    """[B], of the batch: a policy's actions may differ in the last digit in another batch."""

    row: int
    """Its place in the batch."""

    rewards: Float
    """[T], as earned in each of its steps."""


def render(
    path: str | Path, shot: Shot | None = None, *, progress: Progress = _silent
) -> Rendering:
    """Draw a held-out episode of a run's incumbent.

    Args:
        path: folder of the run, finished or not.
        shot: what to draw.
        progress: told of each frame.
    Raises:
        RequestError: there is no run, or its task cannot be drawn.
        RunError: the task failed.
    """
    run = Run.read(path)
    task = _drawable(run.task)
    try:
        policy = run.policy(task)
        weights = policy.space.weights(run.incumbent)[None]

        def player(task: BatchedTask, seeds: Seeds) -> Act:
            return lambda observations, step: policy.act(weights, observations[None])[0]

        name = f"{run.task_id}, {policy.name}"
        return _render(task, player, name, shot or Shot(), progress)
    finally:
        task.close()


def render_scripted(
    script: str, task_id: str, shot: Shot | None = None, *, progress: Progress = _silent
) -> Rendering:
    """Draw a held-out episode of a scripted policy.

    Args:
        script: name of the policy.
        task_id: task, as in `make_task`.
        shot: what to draw.
        progress: told of each frame.
    Raises:
        RequestError: no script has this name, it does not fit the task, or the task cannot be
            drawn.
        RunError: the task failed.
    """
    if script not in SCRIPTED:
        raise unknown_name("scripted policy", script, SCRIPTED)
    task = _drawable(lambda **options: make_task(task_id, **options))

    def player(task: BatchedTask, seeds: Seeds) -> Act:
        keys = episode_keys(seeds)
        return lambda observations, step: SCRIPTED[script].act(task, keys, step)

    try:
        return _render(task, player, f"{task_id}, {script}", shot or Shot(), progress)
    finally:
        task.close()


def write_rendering(rendering: Rendering, out: str | Path) -> None:
    """Write a GIF, an MP4 or a PNG, by the ending of the file's name.

    Raises:
        RequestError: the ending is another, there is no ffmpeg for an MP4, or the file cannot be
            written.
    """
    write_film(rendering.frames, rendering.frame_ms, out)


def typical(returns: Float) -> tuple[int, str]:
    """Choose an episode a little better than the median.

    Args:
        returns: [E].
    Returns:
        Its index, and words that say which it is.
    """
    order = np.argsort(returns, kind="stable")
    rank = round(QUANTILE * (len(returns) - 1))
    chosen = int(order[rank])
    return chosen, f"return {returns[chosen]:.4g}, rank {rank + 1} of {len(returns)} from below"


def _drawable(make: Callable[..., BatchedTask]) -> BatchedTask:
    """Return a task that can be drawn, below its reward settings.

    Raises:
        RequestError: it cannot.
    """
    task = unwrapped(make())
    if isinstance(task, AdaptedTask):  # a user's environment is told when it is made
        task.close()
        task = unwrapped(make(render_mode="rgb_array"))
    if not hasattr(task, "frame"):
        task.close()
        raise RequestError(f"task {task.spec.id!r} cannot be drawn; expected a method `frame`")
    return task


def _render(
    task: BatchedTask, player: Player, name: str, shot: Shot, progress: Progress
) -> Rendering:
    """Play, choose an episode, and draw it."""
    episode, which = _choose(task, player, shot)
    states = shot.states(len(episode.rewards))
    draw = _draw_hunt if isinstance(task, PredatorPreyTask) else _draw_other
    frames = draw(task, player, episode, states, name, progress)
    fitting = int(np.clip(FILM_MS // len(frames), *FRAME_LIMITS_MS))
    return Rendering(frames=frames, frame_ms=fitting, description=f"{name}: {which}")


def _choose(task: BatchedTask, player: Player, shot: Shot) -> tuple[_Episode, str]:
    """Play episodes, and return a typical one with words that say which it is."""
    count = shot.played(compiled=hasattr(task, "lanes"))
    seeds = episode_seeds(0, Purpose.HELD_OUT, shot.seed, count)
    size = 1 if isinstance(task, AdaptedTask) else count  # each of a batch is an object of theirs
    played = []
    for start in range(0, count, size):
        batch = seeds[start : start + size]
        rewards, lengths = _play(task, player, batch, lambda step: None)
        played += [
            _Episode(seeds=batch, row=row, rewards=rewards[: lengths[row], row])
            for row in range(len(batch))
        ]
    chosen, which = typical(np.array([episode.rewards.sum() for episode in played]))
    return played[chosen], which


def _play(
    task: BatchedTask,
    player: Player,
    seeds: Seeds,
    watch: Callable[[int], None],
    steps: int | None = None,
) -> tuple[Float, NDArray[np.int64]]:
    """Run episodes side by side, and call `watch` in every state with its number.

    Returns:
        Rewards [T, B] and lengths [B].
    """
    act = player(task, seeds)
    observations = task.reset(seeds)
    rewards, lengths = [], np.zeros(len(seeds), dtype=np.int64)
    done = np.zeros(len(seeds), dtype=bool)
    watch(0)
    for step in range(task.spec.horizon if steps is None else steps):
        lengths += ~done
        observations, reward, done, _ = task.step(act(observations, step))
        rewards.append(reward)
        watch(step + 1)
        if done.all():
            break
    return np.array(rewards), lengths


def _again(
    task: BatchedTask, player: Player, episode: _Episode, steps: int, watch: Callable[[int], None]
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


def _draw_hunt(
    task: Any,
    player: Player,
    episode: _Episode,
    states: list[int],
    name: str,
    progress: Progress,
) -> list[Image.Image]:
    """Draw predator-prey with trails and a caption."""
    places: list[Float] = []
    _again(task, player, episode, states[-1], lambda _: places.append(task.positions[episode.row]))
    n, movers = task.params.predators, task.params.movers
    paths = np.stack(places)
    hunt = Hunt(
        predators=paths[:, :n],
        prey=paths[:, n:movers],
        landmarks=paths[0, movers:],
        rewards=episode.rewards[: states[-1]],
        sizes=(task.params.predator_size, task.params.prey_size, task.params.landmark_size),
    )
    frames: list[Image.Image] = []
    for state in states:
        frames.append(draw_frame(hunt, state, name))
        progress(len(frames), len(states))
    return frames


def _draw_other(
    task: BatchedTask,
    player: Player,
    episode: _Episode,
    states: list[int],
    name: str,
    progress: Progress,
) -> list[Image.Image]:
    """Let a task draw itself."""
    frames: list[Image.Image] = []
    wanted = frozenset(states)

    def watch(state: int) -> None:
        if state in wanted:
            frames.append(Image.fromarray(_picture(task, episode.row)))
            progress(len(frames), len(states))

    _again(task, player, episode, states[-1], watch)
    return frames


def _picture(task: Any, row: int) -> NDArray[np.uint8]:
    """Return a task's picture; whatever its drawing raises is told as one sentence."""
    try:
        picture: NDArray[np.uint8] = task.frame(row)
    except RequestError:
        raise
    except Exception as error:
        what = (str(error).strip().splitlines() or ["no message"])[0]
        raise RequestError(
            f"task {task.spec.id!r} cannot be drawn on this machine: {type(error).__name__} "
            f"({what}); MuJoCo without a screen needs MUJOCO_GL=egl or osmesa"
        ) from error
    return picture
