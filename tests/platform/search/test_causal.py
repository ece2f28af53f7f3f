"""`rolecast causal` and `causal_search`: rounds, figures, problems of users, refusals."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rolecast
from rolecast.core.errors import RequestError
from rolecast.envs.causal.graph import ActionRange, CausalGraph, CausalNode
from rolecast.envs.causal.problem import CausalProblem, CausalTask
from rolecast.envs.registry import make_task
from rolecast.platform.cli.app import main
from rolecast.platform.cli.causal import problem_id
from rolecast.platform.search.causal import constant_nodes
from rolecast.platform.search.records.causal import intervention_text
from rolecast.platform.search.records.frames import read_history
from rolecast.platform.search.records.measurements import RunMeasurements
from rolecast.platform.search.records.run_folder import RunFolder

QUICK = ["--workers", "0", "--set", "starts=3", "--set", "raw_samples=8", "--set", "steps=2"]

MINE = """
from rolecast.envs.causal.graph import ActionRange, CausalGraph, CausalNode
from rolecast.envs.causal.problem import CausalProblem

graph = CausalGraph(
    nodes=(CausalNode(name="x", actions=("a",)), CausalNode(name="y", parents=("x",))),
    actions=(ActionRange(name="a", low=0.0, high=2.0),),
)

def simulate(made, rng):
    x = made["a"] ** 2
    return {"x": x, "y": 3.0 * x - x * x} if VALID else {"y": 1.0}

problem = CausalProblem(graph, simulate)
"""


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["causal", *words, *QUICK, "--json", "-q"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_figures_are_those_of_the_history_with_the_initial_design(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    told = answer(capsys, "causal:toy", "--rounds", "3", "--out", str(out))
    history = read_history(out)
    assert len(history) == 14 + 3
    assert told["rounds"] == 3
    task = make_task("causal:toy")
    assert isinstance(task, CausalTask)
    rewards = task.problem.expected_rewards(np.stack([*history["candidate"]]))
    assert rewards is not None
    assert told["average_expected_reward"] == pytest.approx(float(rewards.mean()))
    assert told["best_expected_reward"] == pytest.approx(float(rewards.max()))
    point = 0.5 * (rolecast.load_policy(out).weights + 1.0)
    (made,) = task.problem.space.values(point[None])
    assert told["intervention"] == pytest.approx(
        {each.name: x for each, x in zip(task.problem.graph.do, made, strict=True) if x == x}
    )
    page = (out / "report.html").read_text()
    assert "Causal graph" in page
    assert "exp(-X0) + w" in page
    assert "Expected reward" in page
    assert f"Of the incumbent: {intervention_text(told['intervention'])}." in page
    assert "rolecast render" not in page
    assert told["reward_kind"] == "expected"
    assert main(["resume", str(out), "--evaluations", "+2", "--json", "-q"]) == 0
    assert json.loads(capsys.readouterr().out)["rounds"] == 5


def test_an_optimiser_without_a_causal_design_has_no_rounds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["causal:alpine2", "--policy", "constant", "--optimizer", "random"]
    size = ["--evaluations", "4", "--workers", "0", "--out", str(tmp_path / "run")]
    assert main(["search", *words, *size, "--json", "-q"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["average_expected_reward"] <= told["best_expected_reward"]
    assert "rounds" not in told


@pytest.mark.parametrize("policy", ["mlp", "linear", "hom"])
def test_expected_rewards_are_of_what_a_policy_does_and_not_of_its_weights(
    policy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["causal:dropwave", "--policy", policy, "--optimizer", "random", "--evaluations", "6"]
    assert main(["search", *words, "--workers", "0", "--out", str(tmp_path / "run"), "-q"]) == 0
    observed = np.array([*read_history(tmp_path / "run")["return_mean"]])
    measured = RunMeasurements.read(RunFolder.open(tmp_path / "run"))
    assert measured is not None
    np.testing.assert_allclose(measured.expected_rewards[: len(observed)], observed, atol=1e-4)
    assert len(set(observed)) > 1


def test_interventions_are_not_chosen_by_weights_of_another_policy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two gains of a policy with two layers have the number of dropwave's interventions."""
    found, out = tmp_path / "found", tmp_path / "run"
    words = ["causal:dropwave", "--optimizer", "random", "--evaluations", "4", "--workers", "0"]
    options = ["--policy", "mlp", "--set", "policy.hidden=[4]", "--out", str(found)]
    assert main(["search", *words, *options, "-q"]) == 0
    capsys.readouterr()
    gains = ["--policy", "gains", "--set", f"policy.found={found}", "--out", str(out)]
    assert main(["search", *words[:1], "--optimizer", "mcbo", *words[3:], *gains]) == 2
    assert "policy is 'gains'; expected 'constant'" in capsys.readouterr().err
    assert not out.exists()


def test_a_problem_in_a_file_is_searched_and_resumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine_problem.py").write_text(MINE.replace("VALID", "True"))
    told = answer(capsys, "mine_problem.py:problem", "--rounds", "4", "--out", "run")
    assert told["task"] == "python:mine_problem:problem"
    history = read_history("run")
    assert told["best_expected_reward"] == pytest.approx(history["return_mean"].max())
    assert told["reward_kind"] == "observed"
    weights = rolecast.load_policy("run").weights
    assert told["intervention"] == {"a": pytest.approx(1.0 + float(weights[0]))}
    page = Path("run/report.html").read_text()
    assert "Observed reward" in page
    assert "The best of noisy rewards is too high" in page
    np.testing.assert_allclose(
        [float(x[0]) for x in history["node/x"]],
        [(2.0 * float(u[0])) ** 2 for u in history["candidate"]],
        atol=1e-5,
    )
    assert main(["resume", "run", "--evaluations", "+1", "--json", "-q"]) == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["pred_prey_3"], "task 'pred_prey_3' has no causal graph; expected one of your own"),
        (["causal:toy", "--method", "mcb"], "method 'mcb' does not exist; did you mean 'mcbo'"),
        (["causal:toy", "--rounds", "0"], "rounds is 0; expected an integer >= 1"),
        (["causal:toy", "--set", "beta=-1"], "McboConfig.beta is -1; expected a number >= 0"),
        (["causal:toy", "--graph", "none.json"], "none.json"),
        (["queue.py:problem"], "expected another name: Python's module 'queue' is /"),
        (["sim.v2.py:problem"], "expected a path without a dot before .py, for Python to import"),
        (["__main__.py:problem"], "expected another name: '__main__' is Python's own"),
        (["nowhere.py:problem"], "task is 'nowhere.py:problem'; expected FILE.py:NAME"),
        (["causal:toy", "--method", "gp_ucb"], "gp_ucb has no sets of interventions"),
        (["causal:ackley", "--method", "cbo"], "expected several for cbo"),
    ],
)
def test_a_wrong_request_is_one_sentence_and_makes_no_folder(
    words: list[str],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("queue.py", "sim.v2.py", "__main__.py"):
        (tmp_path / name).write_text(MINE)
    assert main(["causal", *words, "--out", str(tmp_path / "run"), "-q"]) == 2
    told = capsys.readouterr().err.strip().splitlines()
    assert len(told) == 1
    assert message in told[0]
    assert not (tmp_path / "run").exists()


def test_a_simulator_without_a_node_is_refused_and_what_was_before_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = MINE.replace("if VALID", "if made['a'] < 1.9")
    (tmp_path / "half_problem.py").write_text(text)
    words = ["half_problem.py:problem", "--rounds", "30", "--set", "beta=9", "--out", "run"]
    assert main(["causal", *words, *QUICK, "-q"]) == 2
    told = capsys.readouterr().err.strip().splitlines()
    assert len(told) == 1
    assert "node 'x' is missing; the simulator gave ['y']" in told[0]
    assert len(read_history("run")) >= 1


def test_a_simulator_that_hangs_is_ended_and_what_was_before_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = MINE.replace("    x = ", "    time.sleep(60.0 * (made['a'] < 1.0))\n    x = ")
    (tmp_path / "sleepy.py").write_text("import time" + text.replace("VALID", "True"))
    words = ["sleepy.py:problem", "--rounds", "30", "--set", "beta=9", "--out", "run"]
    patience = ["--step-timeout", "0.5"]
    assert main(["causal", *words, *patience, "--workers", "0", "-q"]) == 1
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "the simulator has not answered for 0.5 s in the episode of seed" in line
    assert len(read_history("run")) >= 1


def test_a_node_that_never_changes_and_rows_that_repeat_are_no_errors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A metric may be constant; its process says so, and the rest is searched as before."""
    monkeypatch.chdir(tmp_path)
    constant = MINE.replace("VALID", "True").replace('made["a"] ** 2', "2.0")
    (tmp_path / "steady.py").write_text(constant)
    told = answer(capsys, "steady.py:problem", "--rounds", "3", "--out", "run")
    assert told["rounds"] == 3
    assert constant_nodes(read_history(tmp_path / "run")) == ["node 'x'", "the reward"]
    words = ["steady.py:problem", "--rounds", "1", "--out", "again"]
    assert main(["causal", *words, *QUICK]) == 0
    printed, said = capsys.readouterr()
    assert "intervention found: a = " in printed
    assert "node 'x' had one value in all episodes" in said
    assert "the reward had one value in all episodes" in said
    assert "testing the incumbent over 20 held-out episodes" in said
    history = read_history(tmp_path / "run")
    assert {float(x[0]) for x in history["node/x"]} == {2.0}
    assert set(history["return_mean"]) == {2.0}


def test_python_takes_a_problem_with_its_graph(tmp_path: Path) -> None:
    graph = CausalGraph(
        nodes=(CausalNode(name="x", actions=("a",)), CausalNode(name="y", parents=("x",))),
        actions=(ActionRange(name="a"),),
    )
    problem = CausalProblem(graph, {"x": lambda v: v["a"], "y": lambda v: -((v["x"] - 0.3) ** 2)})
    result = rolecast.causal_search(
        problem, rounds=6, settings={"starts": 4}, workers=0, out=str(tmp_path / "run")
    )
    assert float(result.history["candidate"].iloc[-1][0]) == pytest.approx(0.3, abs=0.05)
    found = problem.space.named_values(result.incumbent)
    assert found == {"a": pytest.approx(0.3, abs=0.05)}
    for wrong, message in (
        ({"rounds": True}, "rounds is True; expected an integer"),
        ({"graph": 3}, "graph is 3; expected a CausalGraph, or a file of one"),
        ({"settings": 3}, "settings is 3; expected a mapping"),
        ({"evaluations": 3}, "evaluations is 3; expected method, settings and rounds in its"),
        ({"optimizer": "random"}, "optimizer is 'random'; expected method, settings and rounds"),
        ({"failed_episodes": "lowest"}, "failed_episodes is 'lowest'; expected 'stop': an evalua"),
    ):
        with pytest.raises(RequestError, match=message):
            rolecast.causal_search(problem, **wrong)


def test_only_files_below_the_working_directory_are_problems(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "mine.py").touch()
    assert problem_id("deep/mine.py:problem") == "python:deep.mine:problem"
    for wrong in (f"{tmp_path}/deep/mine.py:problem", "deep/mine.py", "deep/other.py:problem"):
        with pytest.raises(RequestError, match=r"expected FILE\.py:NAME"):
            problem_id(wrong)
