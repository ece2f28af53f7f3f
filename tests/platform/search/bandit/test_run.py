"""Bandit runs: ledger, regret against brute force, exact resumption, trust, refusals."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

import rolecast
from rolecast.core.errors import RequestError
from rolecast.core.types import Float
from rolecast.platform.cli.app import main
from rolecast.platform.optimizers.duets import region
from rolecast.platform.optimizers.duets.coins import Coins
from rolecast.platform.optimizers.duets.messages import Aggregate, InducingSet, Projection
from rolecast.platform.optimizers.duets.region import Region
from rolecast.platform.optimizers.duets.server import Server
from rolecast.platform.search.bandit.duets import DuetsMethod
from rolecast.platform.search.bandit.engine import QueryBlock
from rolecast.platform.search.bandit.folder import BanditFolder
from rolecast.platform.search.bandit.functions import make_function
from rolecast.platform.search.bandit.request import BanditRequest
from rolecast.platform.search.bandit.run import BanditResult, PreparedRun, resume_bandit

SMALL = {"agents": 4, "rounds": 20, "settings": {"beta": 0.5}}


def small_run(out: Path | None = None, function: str = "branin") -> BanditResult:
    return rolecast.bandit_search(function, seed=3, out=out, **SMALL)  # type: ignore[no-any-return]


def test_the_ledger_is_what_the_messages_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every message is intercepted where it is made."""
    sent: list[InducingSet | Aggregate | Projection] = []
    choose, combine = Server.inducing_set, Server.aggregate

    def inducing_set(self: Server) -> InducingSet:
        known = self._chosen is not None
        message = choose(self)
        if not known:
            sent.append(message)
        return message

    def aggregate(self: Server, projections: list[Projection]) -> Aggregate:
        sent.extend(projections)
        message = combine(self, projections)
        sent.append(message)
        return message

    monkeypatch.setattr(Server, "inducing_set", inducing_set)
    monkeypatch.setattr(Server, "aggregate", aggregate)
    result = small_run()
    uplink = sum(each.values.size for each in sent if isinstance(each, Projection)) / 4
    sets = [each for each in sent if isinstance(each, InducingSet)]
    broadcasts = sum(each.points.size for each in sets) + sum(
        each.coefficients.size + 1 for each in sent if isinstance(each, Aggregate)
    )
    assert (result.uplink_reals, result.downlink_reals) == (uplink, broadcasts)
    by_formula = sum(len(each.points) * (2 + 2) + 1 for each in sets)
    assert result.communication_reals == by_formula
    assert result.communication_bytes == 8 * by_formula
    assert len(sets) == len(result.epochs) == 3


def test_a_process_with_all_parties_trims_and_draws_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    trim, draw = Region.trimmed, Region.draw

    def trimmed(self: Region, inducing: Float, weights: Float, width: float) -> Region:
        calls.append("trimmed")
        return trim(self, inducing, weights, width)

    def drawn(self: Region, coins: Coins, agents: int, first: int, count: int) -> Float:
        calls.append("drawn")
        return draw(self, coins, agents, first, count)

    monkeypatch.setattr(Region, "trimmed", trimmed)
    monkeypatch.setattr(Region, "draw", drawn)
    assert len(small_run().epochs) == 3
    assert calls == ["drawn", *["trimmed", "drawn"] * 3]


def test_a_run_on_actors_builds_no_party_in_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    def built(*_: object) -> None:
        raise AssertionError("the actors hold the parties")

    monkeypatch.setattr(DuetsMethod, "__init__", built)
    request = BanditRequest(function="branin")
    PreparedRun(request, "branin", 2, None)
    with pytest.raises(AssertionError):
        PreparedRun(request, "branin", 0, None)
    with pytest.raises(RequestError, match="rounds is 1"):
        PreparedRun(replace(request, rounds=1), "branin", 2, None)


def test_regret_is_the_sum_over_all_queries(tmp_path: Path) -> None:
    result = small_run(tmp_path / "run")
    blocks = BanditFolder(tmp_path / "run").read_blocks()
    points = np.concatenate([block.points for block in blocks])
    assert len(points) == 80
    function = make_function("branin")
    assert function.optimum is not None
    regrets = function.optimum - function.value(points)
    assert result.cumulative_regret == pytest.approx(regrets.sum(), abs=1e-9)
    assert result.regret_by_round is not None
    assert result.regret_by_round[4] == pytest.approx(regrets[:20].sum(), abs=1e-9)
    noise = np.concatenate([block.observed - block.exact for block in blocks])
    assert 0.13 < noise.std() < 0.28  # 0.2, and 5 standard errors of 80 draws


def test_a_callable_is_searched_to_its_maximum_by_as_many_calls_as_there_are_queries() -> None:
    calls = []

    def hill(point: Float) -> float:
        calls.append(point)
        return -float(np.square(point - 1.3).sum())

    result = rolecast.bandit_search(
        hill, bounds=[(0.0, 2.0), (1.0, 3.0)], rounds=30, optimum=0.0, settings={"beta": 0.5}
    )
    np.testing.assert_allclose(result.incumbent, 1.3, atol=0.1)
    assert result.cumulative_regret > 0
    assert (result.incumbent_value, len(calls)) == (None, 300)

    def changing(point: Float) -> float:
        point -= 1.3
        return -float(np.square(point).sum())

    same = rolecast.bandit_search(
        changing, bounds=[(0.0, 2.0), (1.0, 3.0)], rounds=30, optimum=0.0, settings={"beta": 0.5}
    )
    np.testing.assert_array_equal(same.incumbent, result.incumbent)
    unknown = rolecast.bandit_search(hill, bounds=[(0.0, 2.0)], agents=2, rounds=4)
    assert unknown.cumulative_regret is None


def test_a_domain_is_the_ball_within_its_bounds(tmp_path: Path) -> None:
    name = "python:users_hills:hill"
    rolecast.bandit_search(
        name, agents=3, rounds=8, bounds=[(-2, 2)] * 3, ball=True, out=tmp_path / "run"
    )
    points = np.concatenate(
        [block.points for block in BanditFolder(tmp_path / "run").read_blocks()]
    )
    radii = np.linalg.norm(points, axis=1)
    assert 1.5 < radii.max() <= 2.0
    assert np.abs(points).max() > 1.2
    (tmp_path / "run" / "result.json").unlink()
    assert resume_bandit(tmp_path / "run").agents == 3


def test_a_run_that_was_cut_off_ends_as_the_whole_one_and_repeats_no_query(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = small_run(tmp_path / "whole")
    append, kept = BanditFolder.append, []

    def stop_after_two(self: BanditFolder, first: int, block: QueryBlock, incumbent: Float) -> None:
        append(self, first, block, incumbent)
        kept.append(first)
        if len(kept) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(BanditFolder, "append", stop_after_two)
    with pytest.raises(KeyboardInterrupt):
        small_run(tmp_path / "cut")
    with (tmp_path / "cut" / "journal.bin").open("ab") as file:
        file.write(b"rcj2 half a record")
    assert BanditFolder(tmp_path / "cut").read_result() is None
    resumed = resume_bandit(tmp_path / "cut")
    assert resumed == whole
    assert kept == [0, 8, 32, 72]
    results = [(tmp_path / name / "result.json").read_bytes() for name in ("whole", "cut")]
    assert results[0] == results[1]


def test_the_command_prints_the_keys_and_reports(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["bandit", "branin", "--agents", "4", "--rounds", "20", "--beta", "0.5", "--seed", "3"]
    assert main([*words, "--out", str(tmp_path / "run"), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    same = small_run().json()
    assert printed == json.loads(json.dumps(same))
    assert {"cumulative_regret", "communication_reals", "communication_bytes", "epochs"} <= set(
        printed
    )
    assert main(["report", str(tmp_path / "run")]) == 0
    page = (tmp_path / "run" / "report.html").read_text()
    assert "largest deviation" in page
    assert "data:image/png" in page
    capsys.readouterr()
    assert main(["resume", str(tmp_path / "run"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == printed


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["branin", "--beta", "0"], "beta is 0.0; expected a number > 0"),
        (["branin", "--beta", "1", "--set", "preset=theory"], "beta is 1.0; expected none given: "),
        (["branin", "--set", "noise_bound=1"], "noise_bound is 1; expected none given: preset 'pa"),
        (["branin", "--rounds", "1"], "rounds is 1; expected an integer >= 2, the first epoch"),
        (["branin", "--agents", "0"], "agents is 0; expected an integer >= 1"),
        (["branin", "--method", "duet"], "method 'duet' does not exist; did you mean 'duets'"),
        (["branin", "--set", "bta=1"], "setting of method 'duets' 'bta' does not exist; did you"),
        (["branin", "--beta", "1", "--set", "beta=1"], "--beta and --set beta are both given"),
        (["python:users_hills:missing", "--bounds", "0:1"], "agent 0 answered nan in round 1"),
        (["python:users_hills:broken", "--bounds", "0:1"], "failed (ValueError: no such point)"),
        (["python:users_hills:hill", "--bounds", "0:1", "--ball"], "bounds of a ball is ((0.0, 1."),
        (["python:users_hills:hill", "--optimum", "nan"], "optimum is nan; expected a finite num"),
        (
            ["python:users_hills:huge", "--bounds", "0:1"],
            "returned 1e+200; expected a number",
        ),
        (
            ["branin", "--ball"],
            "function 'branin' has bounds, optimum and scale; expected none given",
        ),
        (["python:users_hills:hill", "--bounds", "0-1"], "--bounds is '0-1'; expected LOW:HIGH"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bandit", *words]) == 2
    errors = capsys.readouterr().err.strip().splitlines()
    assert len(errors) == 1
    assert message in errors[0]


def test_what_was_queried_before_a_bad_answer_is_kept(tmp_path: Path) -> None:
    """A function that fails later: the first epoch of 8 queries is in the journal."""
    calls = []

    def fails(point: Float) -> float:
        calls.append(point)
        return 1.0 if len(calls) <= 8 else float("nan")

    import sys

    sys.modules["users_hills"] = type(sys)("users_hills")
    sys.modules["users_hills"].fails = fails  # type: ignore[attr-defined]
    name = "python:users_hills:fails"
    with pytest.raises(RequestError, match="answered nan in round 3"):
        rolecast.bandit_search(name, agents=4, rounds=9, bounds=[(0.0, 1.0)], out=tmp_path / "run")
    assert [len(block.points) for block in BanditFolder(tmp_path / "run").read_blocks()] == [8]
    calls[:] = [None] * 8  # type: ignore[list-item]  # the function recovers
    fails_again = len(calls)
    with pytest.raises(RequestError, match="answered nan in round 3"):
        resume_bandit(tmp_path / "run")
    assert len(calls) > fails_again


def test_a_region_trimmed_to_nothing_ends_the_run_in_words_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(region, "MOST_ATTEMPTS", 1)
    monkeypatch.setattr(region, "ATTEMPT_BLOCK", 64)
    words = ["bandit", "hartmann4", "--agents", "4", "--rounds", "20", "--beta", "1e-4"]
    assert main([*words, "--out", str(tmp_path / "run")]) == 2
    errors = capsys.readouterr().err.strip().splitlines()
    assert len(errors) == 1
    assert "after 1 trimmings; expected a greater beta or lengthscale; the last mean" in errors[0]
    assert [len(block.points) for block in BanditFolder(tmp_path / "run").read_blocks()] == [8]
    monkeypatch.undo()
    assert resume_bandit(tmp_path / "run").greatest_value > 0.0


def test_a_folder_of_a_stranger_needs_trust(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "python:users_hills:hill"
    rolecast.bandit_search(name, agents=2, rounds=4, bounds=[(0.0, 1.0)], out=tmp_path / "run")
    assert resume_bandit(tmp_path / "run").greatest_value <= 0.0
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "another_user"))
    with pytest.raises(RequestError, match="--trust"):
        resume_bandit(tmp_path / "run")
    assert resume_bandit(tmp_path / "run", trust=True).agents == 2


def test_a_folder_of_a_stranger_that_names_a_cluster_needs_trust(tmp_path: Path) -> None:
    folder = BanditFolder(tmp_path / "run")
    placement = {"workers": 2, "address": "localhost:1"}
    folder.create(asdict(BanditRequest(function="branin", agents=2, rounds=4)), placement)
    folder.release()
    with pytest.raises(RequestError, match="cluster 'localhost:1' is named by a folder"):
        resume_bandit(folder.path)
    with pytest.raises(RequestError, match="no Ray cluster answers"):
        resume_bandit(folder.path, trust=True)
    assert resume_bandit(folder.path, workers=0).agents == 2


def test_a_folder_that_exists_or_holds_something_else_is_refused(tmp_path: Path) -> None:
    small_run(tmp_path / "run")
    with pytest.raises(RequestError, match=r"exists; expected .* or `rolecast resume"):
        small_run(tmp_path / "run")
    request = tmp_path / "run" / "bandit.json"
    request.write_text(request.read_text().replace("branin", "brann"))
    with pytest.raises(RequestError, match="damaged"):
        resume_bandit(tmp_path / "run")
    with pytest.raises(RequestError, match="by name"):
        rolecast.bandit_search(lambda _: 0.0, bounds=[(0, 1)], out=tmp_path / "other")


def test_a_run_whose_cluster_is_not_reached_leaves_no_folder(tmp_path: Path) -> None:
    given = {"workers": 1, "address": "localhost:1", "out": tmp_path / "run"}
    with pytest.raises(RequestError, match="no Ray cluster answers"):
        rolecast.bandit_search("branin", **given)
    assert not (tmp_path / "run").exists()
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "notes.txt").write_text("of another")
    with pytest.raises(RequestError, match=r"exists; expected a path that does not, the folder"):
        rolecast.bandit_search("branin", **given)


def test_a_lock_that_is_a_link_is_refused(tmp_path: Path) -> None:
    small_run(tmp_path / "run")
    (tmp_path / "run" / ".lock").unlink()
    (tmp_path / "run" / ".lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RequestError, match="run cannot be written"):
        resume_bandit(tmp_path / "run")
    assert not (tmp_path / "elsewhere").exists()
