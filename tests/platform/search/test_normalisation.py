"""Normalised observations in a search: whose statistics, by how many workers, across a kill."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rolecast
from rolecast.core.encoding import from_bytes, to_bytes
from rolecast.core.seeds import Purpose, episode_seeds
from rolecast.core.types import Float
from rolecast.platform.search.progress import Silent
from rolecast.platform.search.records.history import Batch, Kind
from rolecast.platform.search.records.measurements import complete_run
from rolecast.platform.search.records.run_folder import RunFolder
from rolecast.platform.search.run import SearchInterrupted, resume, search

HOPPER: dict[str, Any] = {
    "policy": "linear",
    "policy_options": {"normalise": "running"},
    "optimizer": "local_gp",
    "env_steps": 6_000,
    "episodes": 1,
    "batch_size": 8,
    "seed": 4,
    "workers": 0,
    "test_episodes": 3,
    "task_options": {"survival": 0, "horizon": 60},
}
"""A search of a robot in some twenty batches, by the batched contract."""

HUNT: dict[str, Any] = {
    "policy": "hom",
    "policy_options": {"normalise": "running"},
    "optimizer": "local_gp",
    "env_steps": 9_000,
    "episodes": 4,
    "batch_size": 20,
    "seed": 3,
    "workers": 0,
    "test_episodes": 20,
}
"""A search of a compiled task in four batches."""

EARLY: dict[str, Any] = HUNT | {"policy_options": {"normalise": "running", "normalise_share": 0.5}}
"""The same, with the statistics of the first half."""

SEARCHES = [("hopper", HOPPER), ("pred_prey_3", HUNT)]

SameHistory = Callable[[Path, Path], None]

InterruptsAfter = Callable[[int], Silent]


def sums_of(batch: Batch) -> tuple[int, Float, Float]:
    assert batch.statistics is not None
    return batch.statistics.count, batch.statistics.mean, batch.statistics.squares


def assert_same_statistics(one: Path, other: Path) -> None:
    mine, theirs = (RunFolder(path).read_batches() for path in (one, other))
    assert len(mine) == len(theirs) > 3
    for left, right in zip(mine, theirs, strict=True):
        for value, expected in zip(sums_of(left), sums_of(right), strict=True):
            np.testing.assert_array_equal(value, expected)
    weights = [rolecast.load_policy(path).weights for path in (one, other)]
    np.testing.assert_array_equal(*weights)


def test_candidates_meet_the_statistics_of_all_batches_before(tmp_path: Path) -> None:
    """By hand, with the observations that the episodes of three batches meet.

    Agreement is not exact: the search acts in single precision.
    """
    search("hopper", out=tmp_path / "run", **HOPPER)
    folder = RunFolder(tmp_path / "run")
    batches, made = folder.read_batches(), rolecast.make_task(folder.read_run()["task"]["id"])
    policy = rolecast.load_policy(folder.path).policy
    seen: list[Float] = []
    for before, batch in zip([None, *batches[:2]], batches[:3], strict=True):
        known = None if before is None else before.statistics
        weights = policy.space.weights(batch.candidates, known)
        for row, number in enumerate(batch.episodes_of):
            observations = made.reset(episode_seeds(4, Purpose.SEARCH, int(number), 1))
            paid, done = 0.0, False
            while not done:
                seen.append(np.clip(observations[0], -10.0, 10.0))
                actions = policy.act(weights[row][None], observations[None])[0]
                observations, reward, ended, _ = made.step(actions)
                paid, done = paid + float(reward[0]), bool(ended[0])
            assert paid == pytest.approx(batch.observed_returns[row, 0], abs=0.5)
    rows = np.concatenate(seen)
    count, mean, squares = sums_of(batches[2])
    assert abs(count - len(rows)) <= 5
    np.testing.assert_allclose(mean, rows.mean(0), atol=0.02)
    np.testing.assert_allclose(np.sqrt(squares / count), rows.std(0), rtol=0.05, atol=0.01)


@pytest.mark.parametrize(("task", "settings"), SEARCHES)
def test_all_episodes_but_those_of_the_confirmation_are_counted(
    task: str, settings: dict[str, Any], tmp_path: Path
) -> None:
    options = settings["policy_options"] | {"normalise_share": 1.0}
    search(task, out=tmp_path / "run", **settings | {"policy_options": options})
    folder = RunFolder(tmp_path / "run")
    batches, agents = folder.read_batches(), folder.read_run()["task"]["agents"]
    counts = [sums_of(batch)[0] for batch in batches]
    assert batches[-1].kind is Kind.CONFIRM
    assert counts[:-1] == [agents * int(batch.env_steps[-1]) for batch in batches[:-1]]
    assert counts[-1] == counts[-2]


def test_after_their_share_of_the_budget_statistics_stay(tmp_path: Path) -> None:
    options = {"normalise": "running", "normalise_share": 0.4}
    search("hopper", out=tmp_path / "run", **HOPPER | {"policy_options": options})
    batches = RunFolder(tmp_path / "run").read_batches()
    before = np.array([0, *(batch.env_steps[-1] for batch in batches[:-1])])
    early = before < 0.4 * HOPPER["env_steps"]
    assert 3 < early.sum() < len(batches) - 3
    last = int(np.flatnonzero(early)[-1])
    for place, batch in enumerate(batches):
        expected = batches[min(place, last)]
        assert sums_of(batch)[0] == int(expected.env_steps[-1])
        np.testing.assert_array_equal(sums_of(batch)[1], sums_of(expected)[1])


def test_statistics_that_stay_are_not_opened_by_a_larger_budget(tmp_path: Path) -> None:
    options = {"normalise": "running", "normalise_share": 0.4}
    search("hopper", out=tmp_path / "run", **HOPPER | {"policy_options": options})
    before = RunFolder(tmp_path / "run").read_batches()
    resume(tmp_path / "run", env_steps=5 * HOPPER["env_steps"])
    after = RunFolder(tmp_path / "run").read_batches()
    assert len(after) > 2 * len(before)
    for value, expected in zip(sums_of(after[-1]), sums_of(before[-1]), strict=True):
        np.testing.assert_array_equal(value, expected)


def test_statistics_that_count_all_go_on_with_a_larger_budget(tmp_path: Path) -> None:
    options = {"normalise": "running", "normalise_share": 1.0}
    search("hopper", out=tmp_path / "run", **HOPPER | {"policy_options": options})
    before = RunFolder(tmp_path / "run").read_batches()
    resume(tmp_path / "run", env_steps=2 * HOPPER["env_steps"])
    after = RunFolder(tmp_path / "run").read_batches()
    assert sums_of(after[-1])[0] > 1.5 * sums_of(before[-1])[0]


def test_a_run_of_before_the_setting_counts_all_observations(
    tmp_path: Path, interrupts_after: InterruptsAfter
) -> None:
    """`linear` counts a part by default; older folders do not know the setting."""
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    options = {"normalise": "running", "normalise_share": 1.0}
    search("hopper", out=whole, **HOPPER | {"policy_options": options})
    with pytest.raises(SearchInterrupted):
        search("hopper", out=stopped, progress=interrupts_after(2), **HOPPER)
    folder = RunFolder(stopped)
    run = dict(folder.read_run())
    assert run["policy"]["options"].pop("normalise_share") == 0.3
    folder.write_run(run)
    resume(stopped)
    assert_same_statistics(stopped, whole)


@pytest.mark.parametrize(("task", "settings"), [*SEARCHES, ("pred_prey_3", EARLY)])
def test_an_interrupted_search_resumes_to_the_same_statistics(
    task: str,
    settings: dict[str, Any],
    tmp_path: Path,
    interrupts_after: InterruptsAfter,
    same_history: SameHistory,
) -> None:
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    search(task, out=whole, **settings)
    with pytest.raises(SearchInterrupted):
        search(task, out=stopped, progress=interrupts_after(2), **settings)
    assert len(RunFolder(stopped).read_batches()) == 2
    resume(stopped)
    same_history(stopped, whole)
    assert_same_statistics(stopped, whole)


@pytest.mark.usefixtures("ray_cluster")
@pytest.mark.parametrize(("task", "settings"), [*SEARCHES, ("pred_prey_3", EARLY)])
def test_two_workers_find_the_same_statistics(
    task: str, settings: dict[str, Any], tmp_path: Path, same_history: SameHistory
) -> None:
    search(task, out=tmp_path / "alone", **settings)
    search(task, out=tmp_path / "shared", **settings | {"workers": 2})
    same_history(tmp_path / "shared", tmp_path / "alone")
    assert_same_statistics(tmp_path / "shared", tmp_path / "alone")


@pytest.mark.parametrize(("task", "settings"), SEARCHES)
def test_the_artefact_and_the_measurements_earn_what_the_search_said(
    task: str, settings: dict[str, Any], tmp_path: Path
) -> None:
    result = search(task, out=tmp_path / "run", **settings)
    batches = RunFolder(result.out).read_batches()
    loaded = rolecast.load_policy(result.out)
    expected = loaded.policy.space.weights(result.incumbent, batches[-1].statistics)
    np.testing.assert_array_equal(loaded.weights, expected)
    assert np.abs(expected - loaded.policy.space.weights(result.incumbent)).max() > 0.01
    seeds = episode_seeds(0, Purpose.HELD_OUT, 0, settings["test_episodes"])
    made = rolecast.make_task(loaded.task_id)
    returns = rolecast.rollout(made, loaded.policy, loaded.weights[None], seeds).returns
    assert returns.mean() == pytest.approx(result.test_return)
    complete_run(result.out)
    measured = json.loads((result.out / "measurements.json").read_text())
    assert measured["batches"] == len(batches)


def test_a_folder_without_statistics_loads_as_before(tmp_path: Path) -> None:
    settings = HUNT | {"policy_options": {}}
    search("pred_prey_3", out=tmp_path / "run", **settings)
    batches = RunFolder(tmp_path / "run").read_batches()
    assert all(batch.statistics is None for batch in batches)
    fields = from_bytes(batches[0].to_bytes())
    del fields["statistics"]  # as in a journal of an older release
    assert Batch.from_bytes(to_bytes(fields)).statistics is None
