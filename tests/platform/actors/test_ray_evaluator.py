"""Actors that are late, lost or absent, and what a batch gets from the others."""

import os
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray

from rolecast.core.errors import RequestError
from rolecast.envs.registry import make_task
from rolecast.platform.actors import assignment, dispatcher, ray_evaluator
from rolecast.platform.actors.assignment import OpenBatch, Reply, packed, unpacked
from rolecast.platform.actors.dispatcher import Dispatcher, dispatchers
from rolecast.platform.actors.messages import RayMessages
from rolecast.platform.actors.ray_evaluator import RayEvaluator
from rolecast.platform.actors.rollout_actor import RolloutActor
from rolecast.platform.rollout.chunks import Chunk, ChunkResult, cut, join
from rolecast.platform.rollout.local_evaluator import LocalEvaluator
from rolecast.policies.registry import make_policy

pytestmark = pytest.mark.usefixtures("ray_cluster")

TASK = make_task("pred_prey_3")
POLICY = make_policy("mlp", TASK)
SHAPE = (20, 512)
SAID_LATE = "a worker is slow or lost; others do what it owes"


def batch(workers: int = 2) -> list[Chunk]:
    rng = np.random.default_rng(0)
    candidates = rng.random((SHAPE[0], POLICY.space.dimension))
    seeds = rng.integers(0, 2**63, SHAPE).astype(np.uint64)
    return cut(candidates, seeds, ["x"] * SHAPE[0], compiled=True, workers=workers)


def expected() -> np.ndarray[Any, Any]:
    chunks = batch()
    return join(chunks, LocalEvaluator(TASK, POLICY).evaluate(chunks), SHAPE).returns


class Sleepy:
    """A rollout actor that answers its first call only when a file appears."""

    def __init__(self, gate: Path) -> None:
        self._gate, self._task, self._policy = gate, make_task("pred_prey_3"), POLICY
        self._calls = 0

    def place(self) -> tuple[dict[str, int], int]:
        return {"far away": 1}, os.getpid()

    def evaluate(self, chunks: bytes) -> bytes:
        self._calls += 1
        while self._calls == 1 and not self._gate.exists():
            time.sleep(0.05)
        results = LocalEvaluator(self._task, self._policy).evaluate(unpacked(chunks))
        return packed(Reply(results=results))


def real_actor(name: str | None = None) -> Any:
    start: Any = RolloutActor
    return start.options(num_cpus=0, name=name).remote("pred_prey_3", {}, POLICY)


def sleepy_actor(gate: Path, name: str | None = None) -> Any:
    remote: Any = ray.remote(Sleepy)
    return remote.options(num_cpus=0, name=name).remote(gate)


def returns_of(evaluator: RayEvaluator) -> np.ndarray[Any, Any]:
    chunks = batch()
    return join(chunks, evaluator.evaluate(chunks), SHAPE).returns


def test_a_late_actor_holds_no_batch_and_its_answer_comes_to_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assignment, "LATE_S", 0.3)
    notes: list[str] = []
    evaluator = RayEvaluator([real_actor(), sleepy_actor(tmp_path / "gate")], note=notes.append)
    evaluator.pids()
    np.testing.assert_array_equal(returns_of(evaluator), expected())
    assert evaluator.repeated >= 1
    assert notes == [SAID_LATE]
    assert evaluator.workers == 1
    (tmp_path / "gate").touch()
    while evaluator.workers == 1:
        time.sleep(0.1)
    assert evaluator.nodes["far away"] == 1
    assert notes == [SAID_LATE, "a worker that was slow or lost is back"]
    np.testing.assert_array_equal(returns_of(evaluator), expected())  # its old answers are dropped
    evaluator.close()


def test_a_chunk_whose_copy_is_late_too_is_given_to_a_third_actor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All others are done when the two are late, so the first copies go to whoever waits."""
    monkeypatch.setattr(assignment, "LATE_S", 1.0)
    monkeypatch.setattr(ray_evaluator, "CALLS_AHEAD", 1)
    gate, notes = tmp_path / "gate", list[str]()
    actors = [sleepy_actor(gate), sleepy_actor(gate), real_actor()]
    evaluator = RayEvaluator(actors, note=notes.append)
    evaluator.pids()
    chunks = batch()
    one = OpenBatch(1)
    one.add(chunks)
    first = one.waiting.popleft()
    sleepy = [worker for worker in evaluator._workers if "far away" in worker.nodes]
    for worker in sleepy:
        evaluator._call(worker, one, (first,))
    evaluator._batch = 1
    while one.owed:
        evaluator.advance(one)
    results = [one.results[number] for number in range(len(chunks))]
    np.testing.assert_array_equal(join(chunks, results, SHAPE).returns, expected())
    assert len(sleepy) == 2
    assert evaluator.workers == 1
    assert not any(worker in evaluator._workers for worker in sleepy)
    assert notes == [SAID_LATE]
    evaluator.close()


def test_when_all_actors_are_silent_a_compiled_task_runs_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_evaluator, "LIGHT_BATCH_S", 0.0)
    monkeypatch.setattr(assignment, "UNTIMED_LATE_S", 0.3)
    here = LocalEvaluator(TASK, POLICY)
    evaluator = RayEvaluator([sleepy_actor(tmp_path / "gate")], here=here)
    evaluator.pids()
    np.testing.assert_array_equal(returns_of(evaluator), expected())
    assert here.busy_s > 0.0
    evaluator.close()


def test_no_call_of_a_slow_task_is_late_before_one_was_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of two actors has the only chunk, and nobody knows how long that takes."""
    monkeypatch.setattr(assignment, "UNTIMED_LATE_S", 0.1)
    gate, notes = tmp_path / "gate", list[str]()
    evaluator = RayEvaluator([sleepy_actor(gate), sleepy_actor(gate)], note=notes.append)
    evaluator.pids()
    middle, seeds = np.full((1, POLICY.space.dimension), 0.5), np.zeros((1, 4), np.uint64)
    only = cut(middle, seeds, ["x"], compiled=False)
    threading.Timer(1.0, gate.touch).start()
    evaluator.evaluate(only)
    assert notes == []
    assert (evaluator.repeated, evaluator.workers) == (0, 2)
    evaluator.close()


def test_an_answer_lost_with_its_node_is_computed_again() -> None:
    lost: list[Any] = []

    class Losing(RayMessages):
        def answer(self, reference: Any) -> Any:
            if evaluator._workers and not lost:
                lost.append(reference)
                raise ray.exceptions.ObjectLostError(reference.hex(), None, "")
            return super().answer(reference)

    evaluator = RayEvaluator([real_actor()], messages=Losing())
    evaluator.pids()
    np.testing.assert_array_equal(returns_of(evaluator), expected())
    assert len(lost) == 1
    evaluator.close()


def test_an_actor_that_cannot_start_gets_no_work() -> None:
    start: Any = RolloutActor
    impossible = start.options(num_cpus=10_000).remote("pred_prey_3", {}, POLICY)
    evaluator = RayEvaluator([impossible, real_actor()], room=1)
    while not evaluator.nodes:
        returns_of_first = evaluator.workers
        time.sleep(0.1)
    assert evaluator.workers == 1
    np.testing.assert_array_equal(returns_of(evaluator), expected())
    assert returns_of_first == 1
    evaluator.close()


def test_a_batch_is_cut_for_the_actors_that_start_and_for_none_beyond_the_cluster() -> None:
    start: Any = RolloutActor
    waiting = [start.options(num_cpus=10_000).remote("pred_prey_3", {}, POLICY) for _ in range(3)]
    assert RayEvaluator(waiting).workers == 3
    assert RayEvaluator(waiting, room=2).workers == 2
    assert RayEvaluator(waiting, room=0).workers == 1
    for actor in waiting:
        ray.kill(actor)


def test_without_any_actor_a_compiled_task_runs_here() -> None:
    start: Any = RolloutActor
    impossible = start.options(num_cpus=10_000).remote("pred_prey_3", {}, POLICY)
    evaluator = RayEvaluator([impossible], here=LocalEvaluator(TASK, POLICY, 2))
    assert evaluator.workers == 2
    np.testing.assert_array_equal(returns_of(evaluator), expected())
    evaluator.close()


def test_a_light_batch_stays_here_and_a_heavy_one_goes_to_actors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = LocalEvaluator(TASK, POLICY)
    evaluator = RayEvaluator([real_actor()], here=here)
    evaluator.pids()
    returns_of(evaluator)  # the first tells what an episode costs
    for limit, stays in ((1e9, True), (0.0, False)):
        monkeypatch.setattr(ray_evaluator, "LIGHT_BATCH_S", limit)
        before = here.busy_s
        np.testing.assert_array_equal(returns_of(evaluator), expected())
        assert (here.busy_s > before) == stays
    evaluator.close()


def test_without_any_actor_another_task_waits_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Until one starts: its only processor is taken by another actor, which then ends."""
    monkeypatch.setattr(ray_evaluator, "ABSENT_NOTE_S", 0.2)
    start: Any = RolloutActor
    cpus = ray.cluster_resources()["CPU"]  # type: ignore[no-untyped-call]
    holder = start.options(num_cpus=cpus).remote("pred_prey_3", {}, POLICY)
    ray.get(holder.place.remote())
    notes: list[str] = []

    def note(text: str) -> None:
        notes.append(text)
        ray.kill(holder)

    waiting = start.options(num_cpus=cpus).remote("pred_prey_3", {}, POLICY)
    evaluator = RayEvaluator([waiting], note=note)
    np.testing.assert_array_equal(returns_of(evaluator), expected())
    assert notes == ["none of 1 workers has started; the search waits for the cluster"]
    assert evaluator._silent_s == 0.2  # a silent worker is told of as soon
    evaluator.close()


def test_a_stream_takes_chunks_while_others_are_computed(tmp_path: Path) -> None:
    """What the sleepy actor has been given comes last; the rest does not wait for it."""
    chunks = batch()
    evaluator = RayEvaluator([real_actor(), sleepy_actor(tmp_path / "gate")])
    evaluator.pids()
    stream = evaluator.stream()
    half = len(chunks) // 2
    numbers, results = stream.put(chunks[:half]), dict[int, ChunkResult]()
    while len(results) < half - assignment.CALLS_AHEAD:
        results.update(stream.take())
    numbers += stream.put(chunks[half:])
    (tmp_path / "gate").touch()
    while len(results) < len(chunks):
        results.update(stream.take())
    joined = join(chunks, [results[number] for number in numbers], SHAPE)
    np.testing.assert_array_equal(joined.returns, expected())
    assert evaluator.busy_s > 0.0
    computed = sum(result.seconds for result in results.values())
    assert 0.5 * computed <= stream.running_s <= 1.001 * computed
    np.testing.assert_array_equal(returns_of(evaluator), expected())  # a batch after a stream
    evaluator.close()


def test_dispatchers_give_the_same_and_are_done_without() -> None:
    """One of two is killed with its process: Ray starts it again, with the same rollout actors."""
    actors = [real_actor(name) for name in "abcd"]
    start: Any = Dispatcher
    evaluator = RayEvaluator([start.remote("abc"), start.remote("d")])
    places = ray.get([actor.place.remote() for actor in actors])
    pids = evaluator.pids()
    while evaluator.workers < 4:  # a dispatcher says with each reply who has joined it
        np.testing.assert_array_equal(returns_of(evaluator), expected())
    assert sum(evaluator.nodes.values()) == 4
    os.kill(pids[0], signal.SIGKILL)
    np.testing.assert_array_equal(returns_of(evaluator), expected())
    assert ray.get([actor.place.remote() for actor in actors]) == places
    evaluator.close()
    for actor in actors:
        ray.kill(actor)


def test_a_late_actor_of_a_dispatcher_is_told_of_and_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its dispatcher has the work repeated; nothing of that is seen from outside but the note."""
    notes: list[str] = []
    actors = [real_actor("e"), sleepy_actor(tmp_path / "gate", "f")]
    ray.get([actor.place.remote() for actor in actors])
    evaluator = RayEvaluator(dispatchers("ef"), note=notes.append)
    evaluator.pids()
    np.testing.assert_array_equal(returns_of(evaluator), expected())
    assert notes == [SAID_LATE]
    assert evaluator.repeated >= 1
    evaluator.close()
    for actor in actors:
        ray.kill(actor)


def test_an_error_of_a_task_comes_through_a_dispatcher() -> None:
    broken = [replace(chunk, candidates=chunk.candidates * np.nan) for chunk in batch()]
    actor = real_actor("g")
    evaluator = RayEvaluator(dispatchers("g"))
    with pytest.raises(RequestError, match="x, episode of seed"):
        evaluator.evaluate(broken)
    evaluator.close()
    ray.kill(actor)


def test_many_actors_are_shared_evenly_among_dispatchers(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[int] = []
    monkeypatch.setattr(dispatcher, "Dispatcher", Recorded(given))
    assert len(dispatchers(list(map(str, range(1001))))) == 8
    assert sum(given) == 1001
    assert set(given) == {125, 126}


class Recorded:
    """Stands in for the class of dispatchers; keeps how many actors each would have."""

    def __init__(self, given: list[int]) -> None:
        self._given = given

    def remote(self, names: list[str]) -> None:
        self._given.append(len(names))
