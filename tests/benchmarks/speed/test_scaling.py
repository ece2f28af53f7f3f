import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from rolecast.benchmarks.speed import cuda_rollouts, driver, searches, start
from rolecast.benchmarks.speed.batches import compare_batches
from rolecast.benchmarks.speed.driver import measure_driver
from rolecast.benchmarks.speed.scaling import markdown
from rolecast.core.errors import RequestError, RunError
from rolecast.platform.cli.app import main
from rolecast.platform.search.costs import Costs

ONE_ROUND = {
    "speed_up": 1.0,
    "speed_ups": [1.0],
    "later_speed_up": 1.0,
    "whole_s": 20.0,
    "batches": 25,
    "time_shares": {"workers_wait": 0.1, "optimizer": 0.1},
}
"""What else a row of a search has."""

RESULTS = Path(__file__).parents[3] / "docs" / "results"


@pytest.mark.usefixtures("ray_cluster")
def test_the_driver_deals_chunks_to_more_stand_ins_than_there_are_cores() -> None:
    notes: list[str] = []
    one, many, direct = measure_driver((1, 70), 200, notes.append, direct=(70,))
    assert (one["workers"], many["workers"], many["chunks"]) == (1, 70, 200)
    assert 0.0 < many["driver_cpu_ms_a_chunk"] < direct["driver_cpu_ms_a_chunk"] < 50.0
    assert len(notes) == 3
    assert [row["dispatchers"] for row in (one, many, direct)] == [0, 1, 0]
    page = markdown({"driver_on": {"processor": "any", "cores": 2}, "driver": [one, direct]})
    assert "| driver | any | 2 | not noted |" in page
    assert "| 70 | 0 | 200 |" in page


@pytest.mark.usefixtures("ray_cluster")
def test_rays_overhead_is_held_against_its_goal(tmp_path: Path) -> None:
    command = ["bench", "scaling", "--part", "overhead", "--quick", "--out", str(tmp_path)]
    assert main(command) == 0
    rows = json.loads((tmp_path / "scaling.json").read_text())["overhead"]
    assert [row["task"] for row in rows] == ["compiled", "other"]
    for row in rows:
        assert row["batch_s"] >= row["calls_s"] == 0.2
        assert row["overhead"] >= 0.0
    within = [row | {"overhead": 0.049} for row in rows]
    page = markdown({"overhead": [within[0], within[1] | {"overhead": 0.05}]})
    assert "| 4.9% | 5% | met |" in page
    assert "| 5.0% | 5% | missed |" in page


def test_the_start_of_a_search_is_timed_with_workers_and_without(tmp_path: Path) -> None:
    command = ["bench", "scaling", "--part", "start", "--quick", "--out", str(tmp_path)]
    assert main(command) == 0
    alone, shared = json.loads((tmp_path / "scaling.json").read_text())["start"]
    assert (alone["workers"], alone["runs"]) == (0, 1)
    assert shared["workers"] > 0
    for row in (alone, shared):
        assert 0.0 < row["first_line_s"] < row["first_batch_s"] == row["slowest_batch_s"]
    assert "| 0 |" in (tmp_path / "scaling.md").read_text()


def test_an_unknown_part_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "scaling", "--part", "speed", "--out", str(tmp_path)]) == 2
    assert "speed" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_both_modes_are_compared_on_a_simulated_clock(tmp_path: Path) -> None:
    """Sixteen workers whose episodes last from 1 to 20 are done sooner without waiting."""
    command = ["bench", "scaling", "--part", "unequal", "--quick", "--out", str(tmp_path)]
    assert main(command) == 0
    rows = json.loads((tmp_path / "scaling.json").read_text())["unequal"]
    assert [row["mode"] for row in rows] == ["synchronous", "asynchronous", "synchronous, as long"]
    whole, sooner, cut = (row["time"] for row in rows)
    assert whole == 1.0
    assert sooner < 1.0
    assert cut < 1.0
    budgets = [row["budgets"] for row in rows]
    assert budgets[0] == budgets[1] == [16_000]
    assert budgets[2][0] < 16_000
    assert "| pred_prey_3 | 16 | asynchronous | 1 |" in (tmp_path / "scaling.md").read_text()


def test_ways_to_search_take_turns_and_are_compared_round_by_round(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The machine is half as fast in the second round, and each way keeps its ratio."""
    ways = list[searches.Way]()

    def played(_: str, __: object, way: searches.Way) -> dict[str, Any]:
        ways.append(way)
        seconds = (12.0 if way.at_once == 2 else 8.0 if way.single else 5.0) * (1 + len(ways) // 6)
        times = {"search_s": seconds, "later_s": seconds / 2, "whole_s": seconds + 1}
        return {**times, "workers": 0, "batches": 9, "test_return": 1.0, "time_shares": {}}

    monkeypatch.setattr(searches, "available_cores", lambda: 2)
    monkeypatch.setattr(searches, "_played", played)
    rows = searches.compare_ways(searches.SEARCH_ROWS[0], (), 2, lambda _: None)
    assert ways == [*ways[:5], *reversed(ways[:5])]
    assert [(row["way"], row["speed_ups"]) for row in rows] == [
        ("one thread", [1.0, 1.0]),
        ("threads", [1.6, 1.6]),
        ("by default", [1.6, 1.6]),
        ("2 workers", [1.6, 1.6]),
        ("2 at once", [1.333, 1.333]),
    ]
    assert rows[-1]["later_speed_up"] == 1.333
    assert rows[-1]["search_s"] == 18.0


def test_searches_at_once_tell_their_mean_times(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([10.0, 14.0])

    def timed(*_: object, **__: object) -> dict[str, Any]:
        seconds = next(times)
        return {"search_s": seconds, "later_s": seconds / 2, "whole_s": seconds + 1}

    monkeypatch.setattr(searches, "_search", timed)
    found = searches._played("any", (), searches.Way(single=True, at_once=2))
    assert found == {"search_s": 12.0, "later_s": 6.0, "whole_s": 13.0}


def test_a_larger_batch_has_as_much_time_as_the_planned_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Searches are noted here, and costs given, so that no load of this machine decides."""
    costs = Costs(episode_s=1e-5, episode_steps=25.0, optimizer_s=0.1)
    monkeypatch.setattr("rolecast.benchmarks.speed.batches.measure", lambda _: costs)
    asked = list[list[str]]()

    def searched(task: str, options: Sequence[str]) -> Mapping[str, Any]:
        asked.append([task, *options])
        return {"test_return": len(asked)}

    rows = compare_batches(searched, quick=True, note=lambda _: None)
    assert [row["budget"] for row in rows] == ["equal env steps"] * 2 + ["equal time"]
    planned, larger, longer = rows
    assert larger["batch_size"] == longer["batch_size"] == 4 * planned["batch_size"]
    assert longer["forecast_s"] == planned["forecast_s"] > larger["forecast_s"]
    assert longer["env_steps"] > larger["env_steps"] == planned["env_steps"]
    assert [row["return_mean"] for row in rows] == [1.0, 2.0, 3.0]
    for row, words in zip(rows, asked, strict=True):
        given = dict(zip(words[1::2], words[2::2], strict=True))
        assert words[0] == row["task"]
        assert given["--env-steps"] == str(row["env_steps"])
        assert given["--batch-size"] == str(row["batch_size"])


def test_the_page_holds_searches_against_their_goals() -> None:
    times = {"whole_s": 9.0, "later_speed_up": 1.0, "batches": 25}
    shares = {"time_shares": {"workers_wait": 0.1, "optimizer": 0.1}}
    rows = [
        {"search": name, "way": way, "search_s": s, "speed_up": up, "speed_ups": [up], **times}
        | shares
        for name, s, by_default in (
            ("drone_delivery_3, 256 episodes", 30.0, 1.66),
            ("ant, mlp, 2 episodes", 40.0, 1.81),
            ("hopper, dss_gp_ucb", 8.0, 1.59),
            ("pred_prey_3, local_gp", 4.4, 0.77),
            ("pred_prey_3, dss_gp_ucb", 12.0, 0.96),
        )
        for way, up in (("one thread", 1.0), ("by default", by_default))
    ]
    page = "\n".join(searches.markdown(rows))
    for line in (
        "| drone_delivery_3, 256 episodes | 1.8 | 1.66 | missed |",
        "| ant, mlp, 2 episodes | 1.8 | 1.81 | met |",
        "| pred_prey_3, local_gp | - | 0.77 | no goal |",
        "| pred_prey_3, dss_gp_ucb | 0.95 | 0.96 | met |",
        "| hopper, dss_gp_ucb | 1.6 | 1.59 | missed |",
    ):
        assert line in page


def test_waiting_is_held_against_its_goal_where_batches_are_heavy() -> None:
    rows = [
        {
            "search": "ant, mlp, 2 episodes", "way": way, "search_s": s, "whole_s": s,
            "speed_up": 1.0, "speed_ups": [1.0], "later_speed_up": 1.0, "batches": 10,
            "time_shares": {"workers_wait": waiting, "optimizer": 0.0},
        }
        for way, s, waiting in (
            ("by default", 10.0, 0.09),
            ("2 workers", 10.0, 0.1),
            ("4 workers", 5.0, 0.1),
            ("2 at once", 10.0, 0.2),
        )
    ]  # fmt: skip
    page = "\n".join(searches.markdown(rows)).partition("Goal of waiting")[2]
    assert "| ant, mlp, 2 episodes | by default | 0.91 | 9% | met |" in page
    assert "| ant, mlp, 2 episodes | 2 workers | 0.9 | 10% | missed |" in page
    assert "4 workers" not in page
    assert "at once" not in page


@pytest.mark.parametrize(("other", "shown"), [("slow", "| - | - |"), ("fast", "| 16.0 | 25% |")])
def test_a_forecast_is_held_against_searches_of_the_same_processor(other: str, shown: str) -> None:
    forecast = {"search": "hopper", "way": "one thread", "expected_s": 9.0, "full_length_s": 12.0}
    search = {"search": "hopper", "way": "one thread", "search_s": 16.0}
    found = {
        "forecast": [forecast],
        "forecast_on": {"processor": other, "cores": 2},
        "robots": [{**search, **ONE_ROUND}],
        "robots_on": {"processor": "fast", "cores": 2},
    }
    page = markdown(found)
    assert f"| hopper | one thread | 9.0 | 12.0 {shown}" in page
    between = {**found, "robots": [{**search, **ONE_ROUND, "search_s": 11.0}]}
    assert ("| 11.0 | 0% |" in markdown(between)) == (other == "fast")


def test_the_committed_page_is_made_from_the_committed_results() -> None:
    page = markdown(json.loads((RESULTS / "scaling.json").read_text()))
    assert page.rstrip() == (RESULTS / "scaling.md").read_text().rstrip()


def test_without_a_part_what_a_gpu_gave_stays_and_each_part_is_kept_as_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "scaling.json"
    kept = {"device": "any", "cores": 2, "rows": []}
    file.write_text(json.dumps({"cuda_rollouts": kept}))

    def fails(*_: object, **__: object) -> None:
        raise RunError("the driver fails")

    monkeypatch.setattr(start, "measure_start", lambda *_: [])
    monkeypatch.setattr(searches, "measure_searches", lambda *_, **__: [])
    monkeypatch.setattr(driver, "measure_driver", fails)
    assert main(["bench", "scaling", "--out", str(tmp_path)]) == 1
    found = json.loads(file.read_text())
    assert found["cuda_rollouts"] == kept
    assert {"start", "searches", "start_on", "searches_on"} <= set(found)
    assert "commit" in found["start_on"]


def test_a_part_that_needs_a_gpu_is_refused_before_others_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> str:
        raise RequestError("no device")

    monkeypatch.setattr(cuda_rollouts, "require_numba_cuda", missing)
    monkeypatch.setattr(start, "measure_start", None)
    words = ["--part", "start", "--part", "cuda_rollouts", "--out", str(tmp_path)]
    assert main(["bench", "scaling", *words]) == 2
    assert not list(tmp_path.iterdir())
