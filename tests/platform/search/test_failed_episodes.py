"""Episodes whose environment fails: a search stops, or counts them as the lowest and goes on."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from rolecast.core.errors import ConfigError, RunError
from rolecast.platform.cli.app import main
from rolecast.platform.rollout.chunks import BatchResult
from rolecast.platform.search.failed_episodes import settled
from rolecast.platform.search.records.history import Kind
from rolecast.platform.search.records.measurements import RunMeasurements, complete_run
from rolecast.platform.search.records.run_folder import RunFolder
from rolecast.platform.search.run import resume, search

SETTINGS: dict[str, Any] = {
    "task_options": {"horizon": 4},
    "policy": "linear",
    "optimizer": "random",
    "evaluations": 12,
    "episodes": 2,
    "batch_size": 3,
    "test_episodes": 4,
    "workers": 0,
}

SameHistory = Callable[[Path, Path], None]


class Costly(gymnasium.Env[Any, Any]):
    """Episodes of four steps that cost something, so that who fails early has the highest sum."""

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012 - the interface's own form
    observation_space = spaces.Box(-1.0, 1.0, (2,))
    action_space = spaces.Box(-1.0, 1.0, (1,))
    fails_in = 5
    """Step in which the episode of a seed that can be divided by three fails; 5: never."""

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.taken, self.bad = 0, seed is not None and seed % 3 == 0
        if self.bad and self.fails_in == 0:
            self.fail()
        return self.np_random.uniform(-1.0, 1.0, 2), {}

    def step(self, action: Any) -> Any:
        self.taken += 1
        shown = np.zeros(2)
        if self.bad and self.taken == self.fails_in:
            shown = self.fail()
        return shown, float(action[0]) - 2.0, self.taken == 4, False, {}

    def render(self) -> Any:
        return np.zeros((8, 8, 3), np.uint8)

    def fail(self) -> Any:
        raise ArithmeticError("the simulation is unstable")


class Raising(Costly):
    """Raises in the second step."""

    fails_in = 2


class RaisingAtReset(Costly):
    """Raises as an episode begins."""

    fails_in = 0


class ShowingNaN(Costly):
    """Shows NaN in the second step."""

    fails_in = 2

    def fail(self) -> Any:
        return np.full(2, np.nan)


class PayingNaN(Costly):
    """Pays NaN in the second step."""

    fails_in = 2

    def step(self, action: Any) -> Any:
        shown, reward, *rest = super().step(action)
        return shown, np.nan if self.bad and self.taken == 2 else reward, *rest

    def fail(self) -> Any:
        return np.zeros(2)


class Hanging(Costly):
    """Hangs in the second step."""

    fails_in = 2

    def fail(self) -> Any:
        time.sleep(600.0)


class AlwaysRaising(Costly):
    """Raises in every episode."""

    fails_in = 2

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        shown = super().reset(seed=seed)
        self.bad = True
        return shown


class Heard:
    """Keeps what a search says."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def start(self, title: str) -> None:
        """Nothing."""

    def update(self, figures: Any, /) -> None:
        """Nothing."""

    def note(self, text: str) -> None:
        """Keep."""
        self.notes.append(text)

    def finish(self, text: str) -> None:
        """Nothing."""


def returns_of(path: Path) -> Any:
    return np.concatenate([batch.episode_returns for batch in RunFolder(path).read_batches()])


def searched_returns(path: Path) -> list[Any]:
    """Return those of the batches whose candidates do not depend on earlier returns."""
    batches = RunFolder(path).read_batches()
    return [batch.episode_returns for batch in batches if batch.kind is Kind.SEARCH]


@pytest.mark.parametrize(
    ("task", "said"),
    [
        (Raising, "raised ArithmeticError (the simulation is unstable) in step 2 of the episode"),
        (RaisingAtReset, "raised ArithmeticError (the simulation is unstable) in the reset of"),
        (ShowingNaN, "showed NaN or infinity in step 2 of the episode"),
        (PayingNaN, "paid nan in step 2 of the episode"),
        (Hanging, "has not answered for 0.3 s in step 2 of the episode"),
    ],
)
def test_a_failed_episode_counts_as_the_lowest_and_the_search_goes_on(
    tmp_path: Path, task: Any, said: str
) -> None:
    settings = {**SETTINGS, "evaluations": 6} if task is Hanging else SETTINGS
    heard = Heard()
    out = tmp_path / "failing"
    kept = search(
        task, out=out, failed_episodes="lowest", step_timeout=0.3, progress=heard, **settings
    )
    search(Costly, out=tmp_path / "sound", **settings)
    lowest, failed_count = np.inf, 0
    searched = zip(searched_returns(out), searched_returns(tmp_path / "sound"), strict=True)
    for found, sound in searched:
        failed = found != sound
        lowest = sound.min(where=~failed, initial=lowest)
        assert (found[failed] == lowest).all()
        failed_count += failed.sum()
    assert 0 < failed_count < 10
    assert np.isfinite(kept.test_return)
    assert said in heard.notes[0]
    assert heard.notes[0].startswith("evaluation ")
    assert "episodes failed and count as the lowest, -" in heard.notes[0]


def test_without_the_choice_the_search_stops_and_goes_on_with_it(
    tmp_path: Path, same_history: SameHistory
) -> None:
    with pytest.raises(RunError, match="the simulation is unstable"):
        search(Raising, out=tmp_path / "run", **SETTINGS)
    resume(tmp_path / "run", task=Raising, failed_episodes="lowest")
    search(Raising, out=tmp_path / "whole", failed_episodes="lowest", **SETTINGS)
    same_history(tmp_path / "run", tmp_path / "whole")


def test_steps_that_hang_before_the_search_are_ended_and_forgiven_too(tmp_path: Path) -> None:
    """Without a horizon, episodes are played to find out how long they last."""
    settings = {**SETTINGS, "task_options": {}, "evaluations": 3, "step_timeout": 0.3}
    with pytest.raises(RunError, match=r"has not answered for 0.3 s in step 2 of the episode"):
        search(Hanging, out=tmp_path / "run", **settings)
    search(Hanging, out=tmp_path / "run", failed_episodes="lowest", **settings)


@pytest.mark.usefixtures("ray_cluster")
def test_workers_find_the_same_and_say_why_episodes_failed(
    tmp_path: Path, same_history: SameHistory
) -> None:
    heard = Heard()
    settings = {**SETTINGS, "failed_episodes": "lowest"}
    search(Raising, out=tmp_path / "one", **settings)
    search(Raising, out=tmp_path / "two", progress=heard, **settings | {"workers": 2})
    same_history(tmp_path / "one", tmp_path / "two")
    assert any("the simulation is unstable" in text for text in heard.notes)


def test_an_asynchronous_search_goes_on_too(tmp_path: Path) -> None:
    settings = {**SETTINGS, "asynchronous": True}
    search(Raising, out=tmp_path / "run", failed_episodes="lowest", **settings)
    returns = returns_of(tmp_path / "run")
    assert returns.shape == (12, 2)
    assert (returns < -4.0).all()  # two steps alone would cost two to six


def test_what_is_paid_late_or_seldom_counts_as_the_lowest_too(tmp_path: Path) -> None:
    options = {"horizon": 4, "sparse": 2}
    settings = {**SETTINGS, "failed_episodes": "lowest", "task_options": options}
    search(Raising, out=tmp_path / "run", **settings)
    batches = RunFolder(tmp_path / "run").read_batches()
    paid = np.concatenate([batch.observed_returns for batch in batches])
    assert (paid < -4.0).all()


def test_an_episode_without_a_beginning_adds_nothing_to_the_statistics(tmp_path: Path) -> None:
    """A failed reset takes one step, a whole episode four; e episodes of s steps: (s - e) / 3."""
    options = {"normalise": "running", "normalise_share": 1.0}
    settings = {**SETTINGS, "failed_episodes": "lowest", "policy_options": options}
    search(RaisingAtReset, out=tmp_path / "run", **settings)
    batches = RunFolder(tmp_path / "run").read_batches()
    searched = [batch for batch in batches if batch.kind is not Kind.CONFIRM]
    steps = int(searched[-1].env_steps[-1])
    episodes = sum(batch.episode_returns.size for batch in searched)
    assert steps < 4 * episodes
    statistics = batches[-1].statistics
    assert statistics is not None
    assert statistics.count == 4 * (steps - episodes) // 3


def test_a_first_batch_that_fails_whole_ends_the_search(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"unstable.* all 6 episodes of the first batch failed"):
        search(AlwaysRaising, out=tmp_path / "run", failed_episodes="lowest", **SETTINGS)


def test_measurements_count_failed_episodes_too(tmp_path: Path) -> None:
    task = f"python:{__name__}:Raising"
    search(task, out=tmp_path / "run", failed_episodes="lowest", **SETTINGS)
    complete_run(tmp_path / "run", trust=True)
    measured = RunMeasurements.read(RunFolder(tmp_path / "run"))
    assert measured is not None
    assert len(measured.last_returns) == 4
    assert min(measured.last_returns) >= returns_of(tmp_path / "run").min()


@pytest.mark.parametrize("task", ["Raising", "Hanging"])
def test_the_command_ends_with_a_report_and_a_film(
    tmp_path: Path, task: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    words = ["--policy", "linear", "--optimizer", "random", "--evaluations", "4", "--trust"]
    words += ["--episodes", "2", "--batch-size", "2", "--workers", "0", "--test-episodes", "4"]
    words += ["--failed-episodes", "lowest", "--step-timeout", "0.3", "--out", str(out)]
    assert main(["search", f"python:{__name__}:{task}?horizon=4", *words]) == 0
    said = capsys.readouterr().err
    assert "episodes failed and count as the lowest" in said
    assert "Not shown" not in (out / "report.html").read_text()


def test_a_failed_episode_that_earned_much_counts_as_the_lowest_of_all_batches() -> None:
    returns = np.array([[-1.0, -3.0], [50.0, -2.0]])
    failed = np.array([[False, False], [True, False]])
    result = BatchResult(
        returns=returns,
        observed_returns=2.0 * returns,
        lengths=np.ones((2, 2), dtype=np.int64),
        metrics={},
        nodes={},
        observations=None,
        failed=failed,
        failures=("evaluation 4: it fell",),
    )
    said: list[str] = []
    for lowest, expected in (((-9.0, -2.0), (-9.0, -6.0)), ((0.0, -8.0), (-3.0, -8.0))):
        found = settled(result, lowest, said.append)
        assert (found.returns[1, 0], found.observed_returns[1, 0]) == expected
        assert np.array_equal(found.returns[~failed], returns[~failed])
    assert said[0].startswith("evaluation 4: it fell; 1 of 4 episodes failed and count as the")


@pytest.mark.parametrize("value", ["", "skip", "Lowest", True, 0])
def test_another_choice_is_refused(value: object) -> None:
    with pytest.raises(ConfigError, match=r"SearchConfig.failed_episodes"):
        search(Costly, failed_episodes=value, **SETTINGS)
