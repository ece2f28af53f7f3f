"""Graphs of a causal search: those of a file, and those of a team's metrics."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rolecast
from rolecast.envs.causal.graph import ActionRange, CausalGraph, CausalNode, NodeNoise
from rolecast.envs.causal.problem import CausalProblem, CausalTask, HasCausalGraph
from rolecast.envs.registry import make_task
from rolecast.platform.cli.app import main
from rolecast.platform.optimizers.registry import optimizer_config
from rolecast.platform.search.planning.config import SearchConfig
from rolecast.platform.search.planning.plan import make_plan, remarks
from rolecast.platform.search.planning.policy_hints import with_reward_noise, with_task_graph
from rolecast.platform.search.records.frames import read_history
from rolecast.platform.search.records.run_folder import RunFolder
from rolecast.policies.registry import make_policy
from tests.platform.search.test_causal import answer


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


def test_ranges_of_a_teams_graph_are_those_of_the_parameters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = drone_graph(tmp_path)
    file.write_text(file.read_text().replace('"low": -1.0', '"low": 0.0'))
    words = ["causal", "drone_delivery_3", "--policy", "gains", "--graph", str(file)]
    words += ["--set", gains_of_nothing(), "--out", str(tmp_path / "run"), "-q"]
    assert main(words) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "range of 'linear.0' is (0.0, 1.0); expected (-1.0, 1.0), that of the param" in line


def gains_of_nothing() -> str:
    """Return the setting of policy `gains` that scales a linear map of weights 0."""
    base = make_policy("linear", make_task("drone_delivery_3"))
    weights = [0.0] * base.space.size
    scaled = {"name": "linear", "options": dict(base.options), "weights": weights}
    return f"policy.scaled={json.dumps(scaled)}"


def test_a_reward_named_as_another_metric_of_a_team_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = json.loads(drone_graph(tmp_path).read_text())
    words = ["causal", "drone_delivery_3", "--policy", "gains", "--set", gains_of_nothing()]
    words += ["--graph", str(tmp_path / "drone.json"), "--rounds", "1", "--workers", "0", "-q"]
    for name, code in (("deliveries", 2), ("worth", 0)):
        graph["nodes"][-1]["name"] = name
        (tmp_path / "drone.json").write_text(json.dumps(graph))
        assert main([*words, "--out", str(tmp_path / name)]) == code
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "last node of the graph is 'deliveries'; expected 'return', or what is no m" in line
    assert "metric of task 'drone_delivery_3': it is maximised" in line
    assert not (tmp_path / "deliveries").exists()


def test_a_reward_named_as_another_node_of_the_task_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task = make_task("causal:ackley")
    assert isinstance(task, CausalTask)
    graph = task.graph.to_json()
    names = [each["name"] for each in graph["actions"]]
    graph["nodes"] = [{"name": "X0", "actions": names}]
    (tmp_path / "ackley.json").write_text(json.dumps(graph))
    words = ["causal", "causal:ackley", "--graph", str(tmp_path / "ackley.json"), "-q"]
    assert main([*words, "--out", str(tmp_path / "run")]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "last node of the graph is 'X0'; expected 'return', or what is no metric" in line
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("optimizer", "episodes", "expected"),
    [
        ("mcbo", 1, "whose noise is measured (fuel, return) are taken for exact; expected --epis"),
        ("mcbo", 2, None),
        ("causal_gp_ucb", 1, None),
        ("causal_random", 1, None),
    ],
)
def test_noise_that_one_episode_does_not_measure_is_remarked(
    optimizer: str, episodes: int, expected: str | None, tmp_path: Path
) -> None:
    graph = json.loads(drone_graph(tmp_path).read_text())
    base = json.loads(gains_of_nothing().partition("=")[2])
    config = SearchConfig(
        task="drone_delivery_3",
        policy="gains",
        policy_options={"scaled": base},
        optimizer=optimizer,
        optimizer_settings={"graph": graph},
        evaluations=5,
        episodes=episodes,
    )
    said = [each for each in remarks(make_plan(config)) if "taken for exact" in each]
    assert len(said) == (expected is not None)
    assert expected is None or expected in said[0]


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


def test_reward_settings_hide_no_graph_of_a_task() -> None:
    plain, flipped = make_task("causal:dropwave"), make_task("causal:dropwave?flip=0.2")
    assert isinstance(plain, CausalTask)
    assert not isinstance(flipped, HasCausalGraph)  # it forwards attributes
    config: Any = with_task_graph(optimizer_config("mcbo"), flipped)
    assert config.graph == plain.graph.to_json()


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


def test_noise_of_the_reward_is_counted_by_episodes_of_a_simulator_that_is_not_known() -> None:
    noise = NodeNoise(kind="normal", scale=0.5)
    graph = CausalGraph(
        nodes=(CausalNode(name="Y", actions=("a",), noise=noise),),
        actions=(ActionRange(name="a"),),
    )
    problem = CausalProblem(graph, lambda do, rng: {"Y": do["a"] + rng.normal(0.0, 0.5)})
    config = with_reward_noise(optimizer_config("causal_gp_ucb"), problem(), 4)
    assert vars(config)["reward_noise"] == 0.25


def test_a_graph_of_the_reward_alone_has_the_noise_of_the_mean_of_episodes() -> None:
    """No node tells `mcbo` how many episodes were averaged."""
    noise = NodeNoise(kind="uniform", scale=3.0**0.5)
    graph = CausalGraph(
        nodes=(CausalNode(name="Y", actions=("a",), noise=noise),),
        actions=(ActionRange(name="a"),),
    )
    task = CausalProblem(graph, {"Y": lambda x: x["a"]})()
    config: Any = with_reward_noise(with_task_graph(optimizer_config("mcbo"), task), task, 16)
    search = config.build(dimension=1, seed=0)
    search.tell(np.array([[0.5]]), np.zeros(1))
    assert search._data.variances[0, 0] == pytest.approx(1.0 / 16.0)


def test_a_graph_of_metrics_has_the_noise_of_the_mean_of_episodes_for_gp_ucb() -> None:
    """It sees no node whose values could be counted; without an own noise there is none to know."""

    def known(noise: NodeNoise) -> Any:
        fuel = CausalNode(name="fuel_used", actions=("a",), noise=NodeNoise(kind="measured"))
        paid = CausalNode(name="return", parents=("fuel_used",), actions=("a",), noise=noise)
        graph = CausalGraph(nodes=(fuel, paid), actions=(ActionRange(name="a"),))
        config = optimizer_config("causal_gp_ucb", graph=graph.to_json())
        return vars(with_reward_noise(config, make_task("drone_delivery_3"), 16))["reward_noise"]

    assert known(NodeNoise(kind="normal", scale=2.0)) == 0.5
    assert known(NodeNoise(kind="measured")) is None


@pytest.mark.parametrize("method", ["mcbo", "eifn", "eicbo", "cbo"])
def test_means_over_episodes_of_nodes_with_known_noise_are_refused(
    method: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["causal", "causal:toy", "--method", method, "--episodes", "8", "--workers", "0"]
    assert main([*words, "--out", str(tmp_path / "run")]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "SearchConfig.episodes is 8; expected 1: node 'X0' has known noise" in line
    assert not (tmp_path / "run").exists()
