"""A black box asked and told by commands is optimised as one in this process."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rolecast.core.encoding import from_bytes, to_bytes
from rolecast.core.errors import ConfigError, RequestError, RunError
from rolecast.core.files import write_bytes
from rolecast.platform.optimizers.registry import make_optimizer, optimizer_config
from rolecast.platform.optimizers.results import read_results
from rolecast.platform.optimizers.study import Study, StudyRequest, Variable
from rolecast.platform.search.session import BatchRequest, LocalSession

INPUTS = (Variable(name="heat", low=20.0, high=90.0), Variable(name="speed", low=-1.0, high=1.0))


def request(**changes: object) -> StudyRequest:
    given: dict[str, Any] = {
        "variables": INPUTS,
        "optimizer": "cmaes",
        "settings": {},
        "seed": 3,
        **changes,
    }
    return StudyRequest(**given)


def loss(values: dict[str, float]) -> float:
    return (values["heat"] - 60.0) ** 2 / 100.0 + values["speed"] ** 2


def test_commands_on_a_folder_give_what_one_optimiser_gives(tmp_path: Path) -> None:
    Study.create(tmp_path / "lab", request(minimize=True)).close()
    optimizer = make_optimizer("cmaes", dimension=2, seed=3)
    for _ in range(6):
        with Study.open(tmp_path / "lab") as study:
            asked = study.ask(4)
            own = optimizer.ask(4)
            heats = [each["values"]["heat"] for each in asked]
            np.testing.assert_allclose(heats, 20.0 + 70.0 * own[:, 0])
            values = {each["id"]: (loss(each["values"]), None) for each in asked}
            study.tell(values)
        optimizer.tell(own, -np.array([value for value, _ in values.values()]))
    with Study.open(tmp_path / "lab") as study:
        best = study.best()
    np.testing.assert_allclose(best["heat"], 20.0 + 70.0 * optimizer.best()[0])
    assert loss(best) < 4.0


def test_a_study_that_cannot_be_begun_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RequestError, match=r"^/.*file/lab cannot be made: Not a directory"):
        Study.create(tmp_path / "file" / "lab", request())

    def full(*_: object, **__: object) -> None:
        raise RunError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr("rolecast.platform.optimizers.study.write_bytes", full)
        with pytest.raises(RunError, match="the disk is full"):
            Study.create(tmp_path / "lab", request())
    Study.create(tmp_path / "lab", request()).close()


def test_runs_that_end_at_one_moment_are_all_told(tmp_path: Path) -> None:
    with Study.create(tmp_path / "lab", request()) as study:
        study.ask(4)

    def tell(number: int) -> None:
        with Study.open(tmp_path / "lab") as opened:
            opened.tell({number: (float(number), None)})

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(tell, range(4)))
    with Study.open(tmp_path / "lab") as study:
        assert (study.evaluations, study.pending) == (4, [])


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([[0.5, 1.5], [0.5, 0.5]], r"asks for a coordinate 1.5; expected all in \[0, 1\]"),
        ([[0.5, 0.5]], r"asks for points of shape \(1, 2\); expected \(2, 2\)"),
        ([[0.5, np.nan], [0.5, 0.5]], "asks for a coordinate nan"),
        ([[0.5, 0.5], [0.5]], r"asks for what is no array of numbers; expected shape \(2, 2\)"),
    ],
)
def test_an_optimiser_that_asks_for_what_is_no_point_is_refused(
    points: Any, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one of a plug-in may; it is found before anything is evaluated."""
    with Study.create(tmp_path / "lab", request()) as study:
        monkeypatch.setattr(study._optimizer, "ask", lambda count: points)
        with pytest.raises(RunError, match=message):
            study.ask(2)
        assert study.pending == []
    session = LocalSession(optimizer_config("cmaes"), dimension=2, seed=0)
    monkeypatch.setattr(session._optimizer, "ask", lambda count: points)
    with pytest.raises(RunError, match=message):
        session.tell_and_ask(None, BatchRequest(q=2, spent=0.0))


def test_wrong_results_are_refused_and_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = Study.create(tmp_path / "lab", request())
    study.ask(2)
    study.tell({0: (1.0, 0.5)})
    for values, error, message in (
        ({0: (1.0, None)}, RequestError, "is told already"),
        ({2: (1.0, None)}, ConfigError, "expected an id below 2"),
        ({1: (float("nan"), None)}, ConfigError, "expected a finite number"),
        ({1: (-1.7e308, None)}, ConfigError, "at most 1e.100 in size, or 1=failed where the eval"),
        ({1: (1.0, -1.0)}, ConfigError, "expected a number >= 0"),
        ({1: (1.0, float("nan"))}, ConfigError, "expected a number >= 0"),
        ({0: None}, RequestError, "is told already"),
        ({2: None}, ConfigError, "expected an id below 2"),
    ):
        with pytest.raises(error, match=message):
            study.tell(values)
    assert (study.evaluations, study.pending) == (1, [1])
    monkeypatch.setattr("rolecast.platform.optimizers.study.STUDY_PATIENCE_S", 0.01)
    with pytest.raises(RequestError, match="is being written by another process"):
        Study.open(tmp_path / "lab")
    with pytest.raises(RequestError, match="exists; expected a path that does not"):
        Study.create(tmp_path / "lab", request())
    with pytest.raises(RequestError, match="holds no study"):
        Study.open(tmp_path)
    study.close()
    (tmp_path / "lab" / "study.safetensors").write_bytes(b"half a f")
    with pytest.raises(RequestError, match="is damaged"):
        Study.open(tmp_path / "lab")


@pytest.mark.parametrize(("low", "high"), [(-0.5, -0.1), (-5.0, -1.3)])
def test_values_lie_within_their_bounds_whatever_rounding_does(low: float, high: float) -> None:
    """Both ranges end above their greatest value where low + (high - low) is not rounded back."""
    variable = Variable(name="x", low=low, high=high)
    assert low + (high - low) > high
    assert (variable.at(0.0), variable.at(1.0)) == (low, high)
    assert low < variable.at(0.5) < high


def test_a_failed_candidate_is_pending_no_more_and_the_optimizer_forgets_it(tmp_path: Path) -> None:
    Study.create(tmp_path / "lab", request(optimizer="local_gp")).close()
    with Study.open(tmp_path / "lab") as study:
        study.ask(4)
        study.tell({0: None, 1: (1.0, None)})
        assert (study.pending, study.failed, study.evaluations) == ([2, 3], [0], 1)
        assert len(study._optimizer.state_dict()["pending"]) == 3
    with Study.open(tmp_path / "lab") as study:
        study.tell({2: (0.5, None), 3: None})
        assert (study.pending, study.failed, study.evaluations) == ([], [0, 3], 2)
        assert len(study._optimizer.state_dict()["pending"]) == 0
        study.tell({3: (0.7, 0.1)})  # evaluated again
    with Study.open(tmp_path / "lab") as study:
        assert (study.pending, study.failed, study.evaluations) == ([], [0], 3)
        assert len(study.ask(2)) == 2


def test_a_study_without_failures_in_its_file_is_read(tmp_path: Path) -> None:
    """As releases before failures were told wrote it."""
    with Study.create(tmp_path / "lab", request()) as study:
        study.ask(2)
        study.tell({0: (1.0, None)})
    file = tmp_path / "lab" / "study.safetensors"
    state = from_bytes(file.read_bytes())
    del state["failed"]
    write_bytes(file, to_bytes(state))
    with Study.open(tmp_path / "lab") as study:
        assert (study.pending, study.failed, study.evaluations) == ([1], [], 1)


def test_results_are_read_from_lines_of_json() -> None:
    assert read_results(['{"id": 4, "failed": true}']) == {4: None}
    lines = ['{"id": 0, "value": 2}\n', "\n", '{"id": 3, "value": 0.5, "stderr": 0.1}\n']
    assert read_results(lines) == {0: (2.0, None), 3: (0.5, 0.1)}
    with pytest.raises(RequestError, match="candidate 3 is told twice"):
        read_results([lines[2], lines[0], lines[2]])


@pytest.mark.parametrize(
    "line",
    [
        '{"id": 0}',
        '{"id": 0, "failed": false}',
        '{"id": 0, "failed": true, "value": 1}',
        '{"id": 2.7, "value": 1}',
        '{"id": true, "value": 1}',
        '{"id": 1e999, "value": 1}',
        '{"id": 0, "value": 1' + 400 * "0" + "}",
        "[0, 1]",
    ],
)
def test_a_line_that_is_no_result_is_refused(line: str) -> None:
    with pytest.raises(RequestError, match="is no result; expected"):
        read_results([line])


@pytest.mark.parametrize("damage", ["request", "variables", "low"])
def test_a_damaged_request_is_refused_and_let_go(tmp_path: Path, damage: str) -> None:
    Study.create(tmp_path / "lab", request()).close()
    file = tmp_path / "lab" / "study.json"
    file.write_text(file.read_text().replace(f'"{damage}"', '"another"'))
    with pytest.raises(RequestError, match=r"study\.json is damaged: a field is missing or wrong"):
        Study.open(tmp_path / "lab")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"variables": ()}, "one or more names"),
        ({"variables": (INPUTS[0], INPUTS[0])}, "each once"),
        ({"budget": 0}, "an integer >= 1"),
    ],
)
def test_a_wrong_request_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        request(**change)
    with pytest.raises(ConfigError, match="finite bounds, low < high"):
        Variable(name="x", low=1.0, high=1.0)


def test_a_budget_narrows_the_search_and_the_users_own_settings_hold(tmp_path: Path) -> None:
    spreads = {}
    cases: dict[str, dict[str, Any]] = {
        "known": {"budget": 40},
        "unknown": {},
        "own": {"budget": 40, "settings": {"evaluations": 4000}},
    }
    for name, changes in cases.items():
        made = Study.create(tmp_path / name, request(optimizer="local_gp", **changes))
        for _ in range(10):
            asked = made.ask(4)
            made.tell({each["id"]: (-loss(each["values"]), None) for each in asked})
        spreads[name] = np.std([each["values"]["speed"] for each in made.ask(8)])
        made.close()
        with Study.open(tmp_path / name) as study:
            assert study.evaluations == 40
    assert spreads["known"] < 0.2 * min(spreads["unknown"], spreads["own"])


def test_a_budget_says_nothing_to_an_optimizer_without_a_schedule(tmp_path: Path) -> None:
    with Study.create(tmp_path / "lab", request(optimizer="random", budget=40)) as study:
        assert study.request.settings == {}
