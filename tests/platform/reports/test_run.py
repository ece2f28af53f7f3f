"""A report is one file with everything in it."""

import json
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import rolecast
from rolecast.core.errors import RequestError
from rolecast.platform.reports.folder import Run
from rolecast.platform.reports.incumbents import (
    HEALTHY_EXPECTATION,
    REPLACED_INCUMBENT,
    expectation_text,
    incumbents_of,
)
from rolecast.platform.reports.run import write_measured_report, write_report
from rolecast.platform.search.progress import Silent
from rolecast.platform.search.records.frames import read_history
from rolecast.platform.search.records.history import Kind
from rolecast.platform.search.records.measurements import RunMeasurements, write_measurements
from rolecast.platform.search.records.run_folder import RunFolder
from rolecast.platform.search.run import resume, search
from rolecast.policies.artefact import load_policy
from rolecast.policies.certificate import weights_digest

FILES = (
    "run.json",
    "history.parquet",
    "incumbents.parquet",
    "summary.json",
    "measurements.json",
)


@pytest.fixture
def run_copy(small_run: Path, tmp_path: Path) -> Path:
    """Copy of a finished run that a test may write to."""
    for name in FILES:
        (tmp_path / name).write_bytes((small_run / name).read_bytes())
    return tmp_path


def test_a_report_needs_no_other_file_and_no_network(run_copy: Path) -> None:
    text = write_report(run_copy).read_text()
    assert re.findall(r'src="data:image/(\w+);base64,', text) == ["png", "png", *4 * ["gif"]]
    assert not re.search(r"https?://|<link|<script src|@import|fetch\(|src=\"(?!data:)", text)


def test_a_report_shows_the_incumbents_of_begin_and_middle_too(run_copy: Path) -> None:
    text = write_report(run_copy).read_text()
    batches = Run.read(run_copy).batches
    steps = [batches[at].spent_after.env_steps for at in (0, len(batches) // 2)]
    assert re.findall(r"<h3>After ([\d,]+) env steps</h3>", text) == [f"{at:,}" for at in steps]
    films = re.findall(r'src="data:image/gif;base64,([^"]+)"', text)
    assert len(set(films)) == 1 + 3, "what roles do, and three episodes"


def test_a_report_links_the_page_to_play_with_where_there_is_one(
    run_copy: Path, small_run: Path
) -> None:
    assert "play.html" not in write_report(run_copy).read_text()
    shutil.copytree(small_run / "policy", run_copy / "policy")
    digest = weights_digest(load_policy(run_copy / "policy").weights)
    (run_copy / "play.html").write_text(f'<meta name="policy" content="{digest}">')
    assert '<a href="play.html">' in write_report(run_copy).read_text()


def test_a_report_links_no_page_of_an_older_policy(run_copy: Path, small_run: Path) -> None:
    shutil.copytree(small_run / "policy", run_copy / "policy")
    (run_copy / "play.html").write_text('<meta name="policy" content="of another">')
    assert "play.html" not in write_report(run_copy).read_text()


def test_a_report_tells_result_yardsticks_and_settings(run_copy: Path) -> None:
    text = write_report(run_copy).read_text()
    for word in ("scripted chase", "scripted random", "held out (20 episodes)", "local_gp"):
        assert word in text


def test_what_the_model_expects_stands_beside_what_was_earned(
    small_run: Path, run_copy: Path
) -> None:
    row = r"model expects it</td><td[^>]*>([-\d.]+)</td><td[^>]*>([\d.]+)"
    assert not re.search(row, write_report(run_copy).read_text())  # nothing is told of it
    events = Run.read(small_run).folder.events_folder
    shutil.copytree(events, run_copy / events.name)
    told = Run.read(run_copy).told
    mean, error = (told[f"incumbent_{name}"][-1][1] for name in ("mean", "stderr"))
    shown = re.search(row, write_report(run_copy).read_text())
    assert shown is not None
    assert abs(float(shown[1]) - mean) < 0.1 * error
    assert abs(float(shown[2]) - error) < 0.1 * error


def test_what_the_model_expects_is_no_judgement_of_a_rival_that_was_kept(small_run: Path) -> None:
    run = Run.read(small_run)
    last = run.batches[-1]
    assert last.kind is Kind.CONFIRM
    kept = replace(run, batches=[*run.batches[:-1], replace(last, incumbent=last.candidates[0])])
    assert expectation_text(kept) == HEALTHY_EXPECTATION
    rival = replace(last, incumbent=np.full_like(last.incumbent, 0.25))
    assert expectation_text(replace(run, batches=[*run.batches[:-1], rival])) == REPLACED_INCUMBENT


def test_a_confirmation_shows_the_episodes_of_what_it_kept(run_copy: Path) -> None:
    run = Run.read(run_copy)
    last = run.batches[-1]
    rows = np.arange(len(last.candidates))
    rival = replace(
        last,
        candidates=rows[:, None] / 100.0,
        incumbent=np.array([0.01]),
        episode_returns=rows[:, None] * np.ones(last.episode_returns.shape),
    )
    shown = incumbents_of(replace(run, batches=[*run.batches[:-1], rival]), None)
    assert shown.name == "incumbent, confirmed"
    assert shown.curve.returns.tolist() == [1.0]
    assert rival.incumbent_returns.tolist() == [1.0] * last.episode_returns.shape[1]


def test_a_report_tells_what_each_net_is_worth_as_it_was_measured(run_copy: Path) -> None:
    measured = json.loads((run_copy / "measurements.json").read_text())
    assert list(measured["ablations"]) == ["centre", "zero"]
    edge = measured["ablations"]["centre"]["edge"]
    edge |= {"difference_mean": 7.0, "difference_stderr": 1.0}
    (run_copy / "measurements.json").write_text(json.dumps(measured))
    text = write_report(run_copy).read_text()
    assert "What each net is worth" in text
    assert "5.0 to 9.0" in text
    measured["ablations"] = {}
    (run_copy / "measurements.json").write_text(json.dumps(measured))
    assert "What each net is worth" not in write_report(run_copy).read_text()


def test_a_report_of_an_unfinished_run_says_how_to_go_on(run_copy: Path) -> None:
    (run_copy / "summary.json").unlink()
    text = write_report(run_copy).read_text()
    assert f"rolecast resume {run_copy}" in text
    assert "rolecast evaluate" not in text
    assert "--evaluations +" not in text


def test_a_report_of_found_structure_tabulates_its_edges_by_network(
    run_copy: Path, small_run: Path
) -> None:
    edges = [[0, 1], [1, 2], [0, 200]]
    (run_copy / "structure.json").write_text(
        f'{{"edges": {edges}, "cliques": [[0, 1], [1, 2], [0, 200]]}}'
    )
    text = write_report(run_copy).read_text()
    assert "pairs that are edges" in text
    assert (run_copy / "structure.png").is_file()


def test_a_report_of_a_users_environment_spends_no_episodes_on_yardsticks(tmp_path: Path) -> None:
    out = tmp_path / "run"
    words = {"episodes": 1, "batch_size": 2, "workers": 0, "test_episodes": 1}
    rolecast.search(
        "gym:Pendulum-v1?horizon=5", policy="mlp", optimizer="random", evaluations=4,
        out=str(out), **words,
    )  # fmt: skip
    text = write_report(out).read_text()
    assert "An episode" in text
    assert "scripted chase" not in text


def pendulum() -> Any:
    return gymnasium.make("Pendulum-v1", max_episode_steps=5)


def test_a_run_of_a_function_of_a_module_has_a_report_and_one_of_a_lambda_has_none(
    tmp_path: Path,
) -> None:
    words = {"episodes": 1, "batch_size": 2, "workers": 0, "test_episodes": 1, "evaluations": 4}
    for name, make in (("named", pendulum), ("unnamed", lambda: pendulum())):
        rolecast.search(
            task=make, policy="mlp", optimizer="random", out=str(tmp_path / name), **words
        )
    text = write_measured_report(tmp_path / "named").read_text()
    assert "An episode" in text
    assert "rolecast evaluate" in text
    assert "rolecast resume" not in text
    assert "rolecast search" not in text
    with pytest.raises(RequestError, match=r"was a Python callable, .*; expected a func"):
        write_measured_report(tmp_path / "unnamed")


def test_the_curve_of_a_run_is_its_history(small_run: Path) -> None:
    history, run = read_history(small_run), Run.read(small_run)
    curve = run.curve(*Kind)
    np.testing.assert_array_equal(curve.returns, history["return_mean"])
    np.testing.assert_array_equal(curve.env_steps, history["env_steps"])
    np.testing.assert_array_equal(curve.batches, history["batch"])


def test_the_policy_of_a_run_is_the_one_that_it_saved(small_run: Path) -> None:
    run, saved = Run.read(small_run), rolecast.load_policy(small_run)
    policy = run.policy(run.task())
    np.testing.assert_allclose(policy.space.weights(run.incumbent), saved.weights)


GYM_ENV = """
import gymnasium
import numpy as np

class Blind(gymnasium.Env):
    metadata = {"render_modes": ["rgb_array"]}
    observation_space = gymnasium.spaces.Box(-1, 1, (2,))
    action_space = gymnasium.spaces.Box(-1, 1, (1,))

    def __init__(self, render_mode=None):
        self.render_mode = render_mode

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros(2, np.float32), {}

    def step(self, action):
        return np.zeros(2, np.float32), 1.0, False, False, {}

    def render(self):
        raise OSError("no screen")
"""


def test_a_task_that_cannot_be_drawn_here_still_has_a_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "blind_environment.py").write_text(GYM_ENV)
    monkeypatch.syspath_prepend(tmp_path)
    out = tmp_path / "run"
    rolecast.search(
        "python:blind_environment:Blind?horizon=3",
        policy="mlp",
        optimizer="random",
        evaluations=4,
        episodes=1,
        batch_size=2,
        workers=0,
        test_episodes=1,
        out=str(out),
    )
    text = write_report(out).read_text()
    assert "cannot be drawn on this machine: OSError (no screen)" in text
    assert "Single episodes" not in text
    monkeypatch.setattr(sys.modules["blind_environment"].Blind, "render", gymnasium.Env.render)
    assert "cannot be drawn: its environment has no render()" in write_report(out).read_text()
    picture = np.zeros((8, 8, 3), np.uint8)
    monkeypatch.setattr(sys.modules["blind_environment"].Blind, "render", lambda self: picture)
    text = write_report(out).read_text()
    assert "Earlier incumbents" in text
    assert "After 6 env steps" in text


def test_figures_of_a_former_incumbent_are_not_those_of_the_last(run_copy: Path) -> None:
    """As of a run that was extended, while `watch` shows it; its yardsticks still hold."""
    folder = RunFolder.open(run_copy)
    measured = RunMeasurements.read(folder)
    assert measured is not None
    whole = write_report(run_copy).read_text()
    write_measurements(folder, replace(measured, batches=measured.batches - 1))
    left = write_report(run_copy).read_text()
    for heading in ("Single episodes", "What roles do"):
        assert heading in whole
        assert heading not in left
    assert "evaluated again" not in left
    assert "scripted chase" in left


def test_a_run_that_was_extended_is_another_search_from_its_start(tmp_path: Path) -> None:
    """And while its first new batch is evaluated, nothing is told of where it stood before."""

    class Looking(Silent):
        stood: bool | None = None

        def note(self, text: str) -> None:
            if text.startswith("going on"):
                self.stood = (tmp_path / "run" / "status.json").exists()

    small: dict[str, Any] = {"optimizer": "random", "policy": "linear", "batch_size": 4}
    search("pred_prey_3", out=tmp_path / "run", evaluations=8, episodes=2, workers=0, **small)
    (tmp_path / "run" / "status.json").write_text("{}")
    assert "The same search again:" in write_report(tmp_path / "run").read_text()
    looking = Looking()
    resume(tmp_path / "run", evaluations=16, progress=looking)
    assert looking.stood is False
    assert (
        "Another search, of this budget from its start:"
        in write_report(tmp_path / "run").read_text()
    )
