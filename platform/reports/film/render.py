"""Draws a typical held-out episode of a policy.

A task draws itself: moments of an episode with what went before, if it can (`DrawsEpisodes`), else
pictures of its state as it stands.
"""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from rolecast.core.counter_random import episode_keys
from rolecast.core.errors import RequestError, first_line, unknown_name
from rolecast.core.types import Seeds
from rolecast.envs.adapters.task import AdaptedTask
from rolecast.envs.registry import make_task
from rolecast.envs.rewards.task import under_patience, unwrapped
from rolecast.envs.scripted import SCRIPTED
from rolecast.envs.spec import BatchedTask, DrawsEpisodes
from rolecast.platform.reports.film.encode import gif, write_film
from rolecast.platform.reports.film.episode import (
    Act,
    PlayedEpisode,
    Player,
    choose_typical,
    play_again,
)
from rolecast.platform.reports.film.options import Shot
from rolecast.platform.reports.folder import Run
from rolecast.platform.search.planning.config import recorded_patience

FILM_MS: Final = 9000
"""How long a film lasts that is neither very short nor very long."""

FRAME_LIMITS_MS: Final = (40, 120)
"""Least and most time that a frame is shown."""

GIF_TICK_MS: Final = 10
"""A GIF shows a frame for a whole number of these."""

NEAR_REAL_TIME: Final = 0.05
"""Relative difference from real time that is not told."""

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

    steps: int
    """Steps of the episode that are drawn."""

    steps_per_second: float | None
    """Steps in a second of the task's own time; None where it has no unit."""

    @property
    def caption(self) -> str:
        """What is seen, and how fast."""
        seconds = (len(self.frames) - 1) * self.frame_ms / 1000
        text = f"{self.description}; {self.steps:,} steps in {seconds:.1f} s"
        if self.steps_per_second is None:
            return text
        speed = self.steps / self.steps_per_second / seconds
        if abs(speed - 1.0) < NEAR_REAL_TIME:
            return f"{text}, real time"
        return f"{text}, {speed:.2g} times real time"

    def gif(self) -> bytes:
        """Return the moving picture."""
        return gif(self.frames, self.frame_ms)


def render(
    path: str | Path,
    shot: Shot | None = None,
    *,
    batch: int = -1,
    progress: Progress = _silent,
    trust: bool = False,
) -> Rendering:
    """Draw a held-out episode of a run's incumbent.

    Args:
        path: folder of the run, finished or not.
        shot: what to draw.
        batch: index of the batch whose incumbent plays; -1 is the last.
        progress: told of each frame.
        trust: make the run's task, though its id may run any code (`envs.trust`).
    Raises:
        RequestError: there is no run, or its task is not trusted or cannot be drawn.
        RunError: the task failed.
    """
    run = Run.read(path, trust=trust)
    with closing(_drawable(run.task)) as task:
        policy = run.policy(task)
        of = run.batches[batch]
        weights = policy.space.weights(of.incumbent, of.statistics)[None]

        def player(task: BatchedTask, seeds: Seeds) -> Act:
            return lambda observations, step: policy.act(weights, observations[None])[0]

        name = f"{run.task_id}, {policy.name}"
        with under_patience(task, recorded_patience(run.record["search"])):
            return _render(task, player, name, shot or Shot(), progress)


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


def _drawable(make: Callable[..., BatchedTask]) -> BatchedTask:
    """Return a task that can be drawn, below its reward settings.

    Raises:
        RequestError: it cannot.
    """
    task = unwrapped(make())
    if isinstance(task, AdaptedTask):  # a user's environment is told when it is made
        task.close()
        try:
            task = unwrapped(make(render_mode="rgb_array"))
        except RequestError as error:
            raise RequestError(
                f"task {task.spec.id!r} cannot be drawn; expected an environment that takes "
                f'render_mode="rgb_array" ({error})'
            ) from error
    if not hasattr(task, "frame"):
        task.close()
        raise RequestError(f"task {task.spec.id!r} cannot be drawn; expected a method `frame`")
    return task


def _render(
    task: BatchedTask, player: Player, name: str, shot: Shot, progress: Progress
) -> Rendering:
    """Play, choose an episode, and draw it."""
    episode, which = choose_typical(task, player, shot)
    states = shot.states(len(episode.rewards))
    if isinstance(task, DrawsEpisodes):
        frames = _draw_moments(task, episode, states, name, progress)
    else:
        frames = _draw_states(task, player, episode, states, progress)
    fitting = int(np.clip(FILM_MS // len(frames), *FRAME_LIMITS_MS))
    return Rendering(
        frames=frames,
        frame_ms=fitting // GIF_TICK_MS * GIF_TICK_MS,
        description=f"{name}: {which}",
        steps=states[-1],
        steps_per_second=getattr(task, "frames_per_second", None),
    )


def _draw_moments(
    task: DrawsEpisodes,
    episode: PlayedEpisode,
    states: list[int],
    name: str,
    progress: Progress,
) -> list[Image.Image]:
    """Draw moments of an episode of a task that draws with what went before."""
    last = states[-1]
    met = [each[episode.row] for each in episode.snapshots[: last + 1]]
    states_met = np.stack([each for each in met if each is not None])  # all, until its end
    rewards = episode.rewards[:last]
    frames: list[Image.Image] = []
    for state in states:
        frames.append(Image.fromarray(task.draw_moment(states_met, rewards, state, name)))
        progress(len(frames), len(states))
    return frames


def _draw_states(
    task: BatchedTask,
    player: Player,
    episode: PlayedEpisode,
    states: list[int],
    progress: Progress,
) -> list[Image.Image]:
    """Draw states of a task as they stand."""
    frames: list[Image.Image] = []
    wanted = frozenset(states)

    def watch(state: int, over: NDArray[np.bool_]) -> None:
        if state in wanted:
            frames.append(Image.fromarray(_picture(task, episode.row)))
            progress(len(frames), len(states))

    play_again(task, player, episode, states[-1], watch)
    return frames


def _picture(task: Any, row: int) -> NDArray[np.uint8]:
    """Return a task's picture; whatever its drawing raises is told as one sentence."""
    try:
        picture: NDArray[np.uint8] = task.frame(row)
    except RequestError:
        raise
    except NotImplementedError as error:
        raise RequestError(
            f"task {task.spec.id!r} cannot be drawn: its environment has no render(); expected one "
            'that takes render_mode="rgb_array" and returns pictures'
        ) from error
    except Exception as error:
        raise RequestError(
            f"task {task.spec.id!r} cannot be drawn on this machine: {type(error).__name__} "
            f"({first_line(error)}); MuJoCo without a screen needs MUJOCO_GL=egl or osmesa"
        ) from error
    return picture
