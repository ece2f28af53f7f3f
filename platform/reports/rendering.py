"""Plays one held-out episode of a trained policy and draws it: a typical one, not the best.

Predator-prey is drawn here; any other task draws itself, by `render_mode="rgb_array"`.
"""

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from rolecast.envs.adapters.task import AdaptedTask
from rolecast.envs.errors import RequestError, RunError
from rolecast.envs.predator_prey.task import PredatorPreyTask
from rolecast.envs.rewards.task import unwrapped
from rolecast.envs.spec import BatchedTask, Float, Seeds
from rolecast.platform.reports.folder import Run
from rolecast.platform.reports.hunt import Hunt, gif, hunt_frames
from rolecast.platform.rollout.held_out import HeldOut
from rolecast.platform.search.files import write_bytes
from rolecast.platform.search.seeds import Purpose, episode_seeds
from rolecast.policies.protocol import Policy

HUNTS: Final = 101
"""Episodes of predator-prey among which one is chosen."""

EPISODES: Final = 5
"""Episodes of any other task among which one is chosen."""

QUANTILE: Final = 0.6
"""Rank of the episode shown: a little better than the median."""

MOST_FRAMES: Final = 200
"""A longer episode shows every k-th step."""

STORYBOARD: Final = 4
"""Moments in a still picture, from the start to the end."""


@dataclass(frozen=True, kw_only=True)
class Rendering:
    """A drawn episode."""

    frames: list[Image.Image]
    """In order of time, all of one size."""

    description: str
    """Which episode it is, and what it earns."""

    def gif(self) -> bytes:
        """Return the moving picture."""
        return gif(self.frames)

    def png(self) -> bytes:
        """Return a still picture: a few moments side by side."""
        moments = np.linspace(0, len(self.frames) - 1, STORYBOARD).round().astype(int)
        shown = [self.frames[moment] for moment in np.unique(moments)]
        width, height = shown[0].size
        sheet = Image.new("RGB", (width * len(shown), height), "white")
        for place, frame in enumerate(shown):
            sheet.paste(frame, (place * width, 0))
        buffer = io.BytesIO()
        sheet.save(buffer, format="PNG")
        return buffer.getvalue()


def render(path: str | Path, *, seed: int = HeldOut.seed) -> Rendering:
    """Draw a held-out episode of a run's incumbent.

    Args:
        path: folder of the run, finished or not.
        seed: set of held-out episodes to choose from, as in `evaluate`.
    Raises:
        RequestError: there is no run, or its task cannot be drawn.
    """
    run = Run.read(path)
    task = unwrapped(run.task())
    try:
        policy = run.policy(task)
        weights = policy.space.weights(run.incumbent)
        name = f"{run.task_id}, {policy.name}"
        if isinstance(task, PredatorPreyTask):
            return _render_hunt(task, policy, weights, name, seed)
    finally:
        task.close()
    # A user's environment is told when it is made; a task of this project can always be drawn.
    options = {"render_mode": "rgb_array"} if isinstance(task, AdaptedTask) else {}
    drawn = unwrapped(run.task(**options))
    try:
        return _render_other(drawn, policy, weights, name, seed)
    finally:
        drawn.close()


def write_rendering(rendering: Rendering, out: str | Path) -> None:
    """Write a GIF or a PNG, by the ending of the file's name.

    Raises:
        RequestError: the ending is another, or the file cannot be written.
    """
    path = Path(out)
    kinds = {".gif": rendering.gif, ".png": rendering.png}
    if path.suffix.lower() not in kinds:
        raise RequestError(f"--out {out} has ending {path.suffix!r}; expected .gif or .png")
    try:
        write_bytes(path, kinds[path.suffix.lower()]())
    except OSError as error:
        raise RequestError(f"--out {out} cannot be written: {error.strerror}") from error


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


def _play(
    task: BatchedTask, policy: Policy, weights: Float, seeds: Seeds, watch: Callable[[], None]
) -> Float:
    """Run episodes side by side; call `watch` in every state; return rewards [T, B]."""
    observations = task.reset(seeds)
    rewards = []
    watch()
    for _ in range(task.spec.horizon):
        actions = policy.act(weights[None], observations[None])[0]
        observations, reward, done, _ = task.step(actions)
        rewards.append(reward)
        watch()
        if done.all():
            break
    return np.array(rewards)


def _render_hunt(
    task: PredatorPreyTask, policy: Policy, weights: Float, name: str, seed: int
) -> Rendering:
    places: list[Float] = []
    seeds = episode_seeds(0, Purpose.HELD_OUT, seed, HUNTS)
    rewards = _play(task, policy, weights, seeds, lambda: places.append(task.positions))
    chosen, which = typical(rewards.sum(axis=0))
    n, movers = task.params.predators, task.params.movers
    paths = np.stack(places)[:, chosen]
    hunt = Hunt(
        predators=paths[:, :n],
        prey=paths[:, n:movers],
        landmarks=paths[0, movers:],
        rewards=rewards[:, chosen],
        sizes=(task.params.predator_size, task.params.prey_size, task.params.landmark_size),
    )
    return Rendering(frames=hunt_frames(hunt, name), description=f"{name}: {which}")


def _render_other(
    task: BatchedTask, policy: Policy, weights: Float, name: str, seed: int
) -> Rendering:
    frame: Callable[[], NDArray[np.uint8]] | None = getattr(task, "frame", None)
    if frame is None:
        raise RequestError(f"task {task.spec.id!r} cannot be drawn; expected a method `frame`")
    seeds = episode_seeds(0, Purpose.HELD_OUT, seed, EPISODES)
    returns = [
        float(_play(task, policy, weights, seeds[index : index + 1], lambda: None).sum())
        for index in range(EPISODES)
    ]
    chosen, which = typical(np.array(returns))
    every = -(-task.spec.horizon // MOST_FRAMES)
    frames: list[Image.Image] = []
    states = iter(range(task.spec.horizon + 1))

    def watch() -> None:
        if next(states) % every == 0:
            frames.append(Image.fromarray(_drawn(frame, task.spec.id)))

    again = float(_play(task, policy, weights, seeds[chosen : chosen + 1], watch).sum())
    if not np.isclose(again, returns[chosen]):
        raise RunError(
            f"task {task.spec.id!r} earned {again} in an episode that earned {returns[chosen]} "
            "before; expected the same for the same seed (see rolecast check-task)"
        )
    return Rendering(frames=frames, description=f"{name}: {which}")


def _drawn(frame: Callable[[], NDArray[np.uint8]], task_id: str) -> NDArray[np.uint8]:
    """Return an environment's picture; whatever its drawing raises is told as one sentence."""
    try:
        return frame()
    except RequestError:
        raise
    except Exception as error:
        what = (str(error).strip().splitlines() or ["no message"])[0]
        raise RequestError(
            f"task {task_id!r} cannot be drawn on this machine: {type(error).__name__} ({what}); "
            "MuJoCo without a screen needs MUJOCO_GL=egl or osmesa"
        ) from error
