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
from rolecast.platform.search.planning.config import SearchConfig
from rolecast.platform.search.planning.plan import make_plan
from rolecast.platform.search.records.frames import read_history
from rolecast.platform.search.records.run_folder import RunFolder
from rolecast.policies.registry import make_policy

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
    page = (out / "report.html").read_text()
    assert "Causal graph" in page
    assert "exp(-X0) + w" in page
    assert "Expected reward" in page
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


def test_a_problem_in_a_file_is_searched_and_resumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine_problem.py").write_text(MINE.replace("VALID", "True"))
    told = answer(capsys, "mine_problem.py:problem", "--rounds", "4", "--out", "run")
    assert told["task"] == "python:mine_problem:problem"
    history = read_history("run")
    assert told["best_expected_reward"] == pytest.approx(history["return_mean"].max())
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
    said = capsys.readouterr().err
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


def drone_graph(out: Path, metric: str = "fuel_used") -> Path:
    """Write a graph of drone delivery's metrics over the three gains of a linear map and a bias."""
    gain = {"name": "linear.0", "low": -1.0, "high": 1.0}
    measured = {"kind": "measured"}
    nodes = [
        {"name": "fuel", "actions": ["linear.0"], "noise": measured, "metric": metric},
        {"name": "return", "parents": ["fuel"], "actions": ["linear.0"], "noise": measured},
    ]
    schema = "rolecast.causal_graph/1"
    file = out / "drone.json"
    file.write_text(json.dumps({"schema": schema, "nodes": nodes, "actions": [gain]}))
    return file


def graph_of_toy(out: Path, **changed: Any) -> str:
    """Write the graph of `causal:toy` with changed fields; return the file."""
    task = make_task("causal:toy")
    assert isinstance(task, CausalTask)
    file = out / "toy.json"
    file.write_text(json.dumps({**task.graph.to_json(), **changed}))
    return str(file)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"sets": [[], ["X1"], ["X0"]]}, "sets of interventions of the graph is [(), ('X1',),"),
        (
            {"do": [{"name": "X0", "low": 0, "high": 1}, {"name": "X1", "low": -5, "high": 20}]},
            "interventions of the graph is [ActionRange(name='X0', low=0.0, high=1.0), ",
        ),
    ],
)
def test_a_graph_with_other_interventions_than_the_task_makes_is_refused(
    changed: dict[str, Any], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "run")
    given = graph_of_toy(tmp_path, **changed)
    assert main(["causal", "causal:toy", "--graph", given, "--out", out, "-q"]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert message in line
    assert line.endswith(", those of task 'causal:toy'")
    assert not Path(out).exists()
    same = graph_of_toy(tmp_path)
    assert (
        answer(capsys, "causal:toy", "--graph", same, "--rounds", "1", "--out", out)["rounds"] == 1
    )


def test_a_graph_that_the_policy_does_not_carry_out_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = make_policy("linear", make_task("drone_delivery_3"))
    scaled = {
        "name": "linear",
        "options": dict(base.options),
        "weights": np.zeros(base.space.size).tolist(),
    }
    words = [
        "drone_delivery_3",
        "--policy",
        "gains",
        "--set",
        f"policy.scaled={json.dumps(scaled)}",
    ]
    graph = json.loads(drone_graph(tmp_path).read_text())
    named = json.loads(json.dumps(graph).replace("linear.0", "banana"))
    hard = {**graph, "do": [{"name": "fuel"}], "sets": [["fuel"]], "actions": []}
    hard["nodes"] = [{**node, "actions": []} for node in graph["nodes"]]
    for wrong, message in (
        (named, "actions of the graph is ('banana',); expected ('linear.0',), in this order"),
        (hard, "interventions of the graph is ('fuel',); expected soft ones, all at once"),
    ):
        (tmp_path / "wrong.json").write_text(json.dumps(wrong))
        files = ["--graph", str(tmp_path / "wrong.json"), "--out", str(tmp_path / "run")]
        assert main(["causal", *words, *files, "-q"]) == 2
        (line,) = capsys.readouterr().err.strip().splitlines()
        assert message in line
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (
            "drone_delivery_3",
            "actions of the graph is ('linear.0',); expected 6, one for each parameter of policy "
            "'constant'; policy 'gains' has one for each layer",
        ),
        ("causal:toy", "metric of node 'X1' of the graph: 'blood' does not exist"),
    ],
)
def test_a_graph_of_other_parameters_or_metrics_is_refused_by_name(
    task: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nodes = json.loads(Path(graph_of_toy(tmp_path)).read_text())["nodes"]
    for node in nodes:
        node["metric"] = "blood" if node["name"] == "X1" else None
    toy, drone = graph_of_toy(tmp_path, nodes=nodes), str(drone_graph(tmp_path))
    files = ["--graph", toy if task == "causal:toy" else drone, "--out", str(tmp_path / "run")]
    assert main(["causal", task, *files, "-q"]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert message in line
    assert not (tmp_path / "run").exists()


def test_metrics_of_a_team_are_nodes_with_the_noise_of_their_episodes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = make_policy("linear", make_task("drone_delivery_3"))
    weights = np.random.default_rng(0).normal(size=base.space.size).tolist()
    scaled = json.dumps({"name": "linear", "options": dict(base.options), "weights": weights})
    words = ["drone_delivery_3", "--policy", "gains", "--set", f"policy.scaled={scaled}"]
    words += ["--episodes", "4", "--rounds", "2"]
    graph = str(drone_graph(tmp_path))
    told = answer(capsys, *words, "--graph", graph, "--out", str(tmp_path / "run"))
    assert told["rounds"] == 2
    history = read_history(tmp_path / "run")
    fuel = np.stack([*history["node/fuel_used"]])
    assert fuel.shape == (3 + 2, 4)
    assert (fuel > 0.0).all()
    assert told["best_expected_reward"] == pytest.approx(history["return_mean"].max())
    assert "fuel" in (tmp_path / "run" / "report.html").read_text()
    wrong = str(drone_graph(tmp_path, "fuel_use"))
    assert main(["causal", *words, "--graph", wrong, "--out", str(tmp_path / "no"), "-q"]) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1
    assert "'fuel_use' does not exist; did you mean 'fuel_used'" in lines[0]


def test_options_of_the_task_and_episodes_count_where_its_noise_is_looked_up(
    tmp_path: Path,
) -> None:
    known = []
    for place, task, request in (
        ("id", "causal:dropwave?noise=1", {}),
        ("option", "causal:dropwave", {"task_options": {"noise": 1}}),
        ("episodes", "causal:dropwave?noise=1", {"episodes": 16}),
    ):
        out = tmp_path / place
        rolecast.causal_search(task, method="gp_ucb", rounds=1, workers=0, out=str(out), **request)
        config = SearchConfig.from_json(RunFolder.open(out).read_run()["search"])
        known.append(vars(make_plan(config).optimizer)["reward_noise"])
    assert known[0] == known[1] == 4.0 * known[2] > 0.0
