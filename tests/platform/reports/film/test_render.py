"""A rendering shows a typical held-out episode, of a run or of a scripted policy."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image

import rolecast
from rolecast.core.errors import RequestError, RunError
from rolecast.core.types import Float, Seeds
from rolecast.envs.spec import TaskSpec
from rolecast.platform.reports.film.encode import png
from rolecast.platform.reports.film.episode import RETURN_QUANTILE, choose_typical, typical
from rolecast.platform.reports.film.options import Shot
from rolecast.platform.reports.film.render import Rendering, render, render_scripted


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50))
def test_the_episode_shown_is_a_little_better_than_the_median(returns: list[float]) -> None:
    chosen, text = typical(np.array(returns))
    rank = round(RETURN_QUANTILE * (len(returns) - 1))
    assert returns[chosen] == sorted(returns)[rank]
    share = 100 * rank / max(1, len(returns) - 1)
    assert (f"percentile {share:.0f} of {len(returns)} episodes" in text) == (len(returns) > 1)


def test_a_rendering_is_the_same_each_time(small_run: Path) -> None:
    first, again = (render(small_run, Shot(stride=6)) for _ in range(2))
    assert first.description == again.description
    assert first.gif() == again.gif()
    assert len(first.frames) == 6  # of states 0, 6, 12, 18, 24 and the last, 25


@pytest.mark.parametrize(
    ("steps_per_second", "told"),
    [
        (None, "40 steps in 2.0 s"),
        (20, "40 steps in 2.0 s, real time"),
        (20.5, "40 steps in 2.0 s, real time"),
        (8, "40 steps in 2.0 s, 2.5 times real time"),
    ],
)
def test_a_caption_says_how_fast_a_film_is(steps_per_second: float | None, told: str) -> None:
    film = Rendering(
        frames=[Image.new("RGB", (2, 2))] * 21,
        frame_ms=100,
        description="hopper, linear: return 3",
        steps=40,
        steps_per_second=steps_per_second,
    )
    assert film.caption == f"hopper, linear: return 3; {told}"


def test_a_gif_lasts_as_long_as_its_caption_says() -> None:
    shown = render_scripted("random", "pred_prey_3", Shot(episodes=1))
    film = Image.open(io.BytesIO(shown.gif()))
    shown_ms = []
    for place in range(len(shown.frames) - 1):
        film.seek(place)
        shown_ms.append(film.info["duration"])
    assert shown.caption.endswith(f"; 25 steps in {sum(shown_ms) / 1000:.1f} s")


def test_the_return_told_is_that_of_an_evaluation_of_the_same_episodes() -> None:
    shown = render_scripted("expert", "drone_delivery_2", Shot(episodes=1, steps=1))
    found = rolecast.evaluate("expert", task="drone_delivery_2", episodes=1)
    assert shown.description.endswith(f"return {found.episode_return_mean:.4g}")


def test_reward_settings_change_nothing_of_what_is_told() -> None:
    shot = Shot(episodes=3, steps=1)
    plain, sparse = (
        render_scripted("chase", f"pred_prey_3{options}", shot) for options in ("", "?sparse=9")
    )
    assert plain.description.split(": ")[1] == sparse.description.split(": ")[1]


def test_drones_are_drawn_with_stride_and_to_the_step_asked_for() -> None:
    told: list[tuple[int, int]] = []
    shot = Shot(episodes=2, steps=10, stride=4)
    shown = render_scripted(
        "random", "drone_delivery_2", shot, progress=lambda *each: told.append(each)
    )
    assert len(shown.frames) == 4
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


@pytest.mark.parametrize(
    ("script", "task", "message"),
    [
        ("chas", "pred_prey_3", "scripted policy 'chas' does not exist; did you mean 'chase'?"),
        ("chase", "drone_delivery_2", "cannot play 'drone_delivery_2'"),
        ("chase", "pred_pray_3", "did you mean 'pred_prey_3'?"),
    ],
)
def test_what_cannot_be_played_is_refused(script: str, task: str, message: str) -> None:
    with pytest.raises(RequestError) as refused:
        render_scripted(script, task)
    assert message in str(refused.value)


def test_another_environment_draws_itself(tmp_path: Path) -> None:
    out = tmp_path / "run"
    rolecast.search(
        "gym:CartPole-v1", policy="mlp", optimizer="random", evaluations=2, episodes=1,
        batch_size=2, workers=0, test_episodes=1, out=str(out),
    )  # fmt: skip
    shown = render(out, Shot(steps=2))
    picture = Image.open(io.BytesIO(png(shown.frames, shown.frame_ms)))
    assert shown.caption.endswith("; 2 steps in 0.2 s, 0.17 times real time")
    assert picture.size == (3 * shown.frames[0].size[0], shown.frames[0].size[1])


MOODY = """
import gymnasium
import numpy as np

class Moody(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-1, 1, (2,))
    action_space = gymnasium.spaces.Box(-1, 1, (1,))
    paid = 0.0

    def __init__(self, render_mode=None):
        self.render_mode = render_mode

    def reset(self, *, seed=None, options=None):
        return np.zeros(2, np.float32), {}

    def step(self, action):
        self.paid += 1.0
        return np.zeros(2, np.float32), self.paid, False, False, {}

    def render(self):
        return np.zeros((20, 20, 3), np.uint8)
"""


def test_an_episode_that_is_another_when_played_again_is_not_drawn(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "moody_environment.py").write_text(MOODY)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(RunError, match="expected the same for the same seed"):
        render_scripted("random", "python:moody_environment:Moody?horizon=3")


@pytest.mark.usefixtures("screen")
def test_an_episode_that_ends_early_is_drawn_to_its_end() -> None:
    shown = render_scripted("random", "hopper", Shot(episodes=1, stride=1000))
    first, last = map(np.asarray, shown.frames)
    assert (first != last).mean() > 0.01


class Countdowns:
    """Episode i of a batch ends after 2 + i steps, and is then forgotten."""

    spec = TaskSpec(id="countdowns", agents=1, observation_size=1, action_size=1, horizon=9)

    def reset(self, seeds: Seeds) -> Float:
        self.left = dict(enumerate(range(2, 2 + len(seeds))))
        self.ended = np.zeros(len(seeds), dtype=np.bool_)
        return np.zeros((len(seeds), 1, 1))

    def step(self, actions: Float) -> tuple[Float, Float, NDArray[np.bool_], dict[str, Float]]:
        reward = (~self.ended).astype(float)
        self.left = {row: left - 1 for row, left in self.left.items() if left}
        for row, left in self.left.items():
            self.ended[row] = left == 0
        return np.zeros((self.ended.size, 1, 1)), reward, self.ended, {}

    def snapshot(self, episode: int) -> Float:
        return np.array([self.left[episode]])

    def draw_moment(
        self, snapshots: Float, rewards: Float, step: int, title: str
    ) -> NDArray[np.uint8]:
        raise NotImplementedError


def test_the_states_of_an_episode_are_asked_for_until_it_ends() -> None:
    task: Any = Countdowns()
    shot = Shot(episodes=5)
    episode, _ = choose_typical(task, lambda *_: lambda seen, step: np.zeros(seen.shape), shot)
    assert episode.row == 2
    met = [each[episode.row] for each in episode.snapshots[: len(episode.rewards) + 1]]
    np.testing.assert_array_equal(met, [[4], [3], [2], [1], [0]])
    assert [each[0] is None for each in episode.snapshots] == [False] * 3 + [True] * 4
