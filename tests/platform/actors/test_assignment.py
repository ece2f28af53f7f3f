"""Who repeats a call to which no answer comes, and what is said of it."""

import math
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray

from rolecast.core.errors import RunError
from rolecast.envs.registry import make_task
from rolecast.platform.actors import assignment, ray_evaluator
from rolecast.platform.actors.assignment import (
    AnswerTimes,
    Call,
    OpenBatch,
    Reply,
    Worker,
    packed,
    unpacked,
)
from rolecast.platform.actors.cluster import CALL_RETRIES
from rolecast.platform.actors.ray_evaluator import RayEvaluator
from rolecast.platform.rollout.chunks import Chunk, cut
from rolecast.platform.rollout.local_evaluator import LocalEvaluator
from rolecast.policies.registry import make_policy
from tests.platform.actors.test_ray_evaluator import SAID_LATE, sleepy_actor

pytestmark = pytest.mark.usefixtures("ray_cluster")

TASK = make_task("pred_prey_3")
POLICY = make_policy("mlp", TASK)


class SilentIfFirst:
    """A rollout actor that never answers if it is the first to be called, as a file says."""

    def __init__(self, gate: Path) -> None:
        self._gate, self._task, self._policy = gate, make_task("pred_prey_3"), POLICY

    def place(self) -> tuple[dict[str, int], int]:
        return {"far away": 1}, os.getpid()

    def evaluate(self, chunks: bytes) -> bytes:
        try:
            self._gate.touch(exist_ok=False)
        except FileExistsError:
            results = LocalEvaluator(self._task, self._policy).evaluate(unpacked(chunks))
            return packed(Reply(results=results))
        while True:
            time.sleep(1.0)


def slow_task(evaluations: int) -> list[Chunk]:
    """Return chunks of an episode each, of a task that is not compiled."""
    middle = np.full((1, POLICY.space.dimension), 0.5)
    seeds = np.arange(evaluations, dtype=np.uint64)[:, None, None]
    return [
        chunk
        for row, seed in enumerate(seeds)
        for chunk in cut(middle, seed, [f"evaluation {row}"], compiled=False)
    ]


class EndsItsProcess:
    """A rollout actor whose process dies in one evaluation, and waits for some before it."""

    def place(self) -> tuple[dict[str, int], int]:
        return {"here": 1}, os.getpid()

    def evaluate(self, chunks: bytes) -> bytes:
        time.sleep(0.02)  # the next call is there by then
        if any("evaluation 7" in chunk.labels for chunk in unpacked(chunks)):
            os._exit(1)
        task = make_task("pred_prey_3")
        return packed(Reply(results=LocalEvaluator(task, POLICY).evaluate(unpacked(chunks))))


def test_a_task_that_ends_its_process_is_blamed_for_its_own_call_not_for_the_next() -> None:
    remote: Any = ray.remote(max_restarts=-1, max_task_retries=CALL_RETRIES)(EndsItsProcess)
    evaluator = RayEvaluator([remote.options(num_cpus=0).remote()])
    evaluator.pids()
    evaluator.evaluate(slow_task(1))
    evaluator._answer_times = AnswerTimes()
    evaluator._answer_times.add(0.02, 0.02)  # the first took longer, as it loaded the task
    given: list[int] = []
    call = evaluator._call

    def counted(worker: Worker, batch: OpenBatch, numbers: tuple[int, ...]) -> None:
        call(worker, batch, numbers)
        given.append(worker.calls)

    evaluator._call = counted  # type: ignore[method-assign]
    with pytest.raises(RunError, match="evaluation 7: the process that runs the task died 6 times"):
        evaluator.evaluate(slow_task(20))
    assert len(given) >= 9  # evaluation 8 was given while 7 was owed
    assert given == [1] + [2] * (len(given) - 1)
    evaluator.close()


def test_of_two_calls_that_are_lost_together_the_first_is_to_blame() -> None:
    workers = [Worker(None), Worker(None)]
    calls = [
        Call(workers[owner], 1, (number,), since=0.0, given=float(number))
        for number, owner in enumerate([1, 0, 0])
    ]
    assert [call.waits_behind(calls) for call in calls] == [False, False, True]
    assert not calls[2].waits_behind([calls[0]])


def test_a_call_waits_beside_another_only_where_calls_are_short_and_enough_are_left() -> None:
    batch = OpenBatch(1)
    batch.add(slow_task(10))
    assert batch.beside_others(4, short=True) == 6
    assert batch.beside_others(10, short=True) == 0
    assert batch.beside_others(4, short=False) == 0
    stream = OpenBatch(2, stream=True)
    stream.add(slow_task(10))
    assert stream.beside_others(4, short=True) == 0
    compiled = OpenBatch(3, stream=True)
    compiled.add([replace(chunk, compiled=True) for chunk in slow_task(10)])
    assert compiled.beside_others(20, short=False) == 10


def test_calls_are_short_by_what_is_computed_and_not_by_what_they_wait_behind() -> None:
    times = AnswerTimes()
    assert not times.short
    times.add(0.4, 0.2)
    assert times.short
    times.add(0.6, 0.3)
    assert not times.short


def test_idle_actors_repeat_a_call_of_a_slow_task_that_stays_without_an_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is never answered would hold the search for ever."""
    monkeypatch.setattr(assignment, "UNTIMED_REPEAT_S", 0.3)
    remote: Any = ray.remote(SilentIfFirst)
    evaluator = RayEvaluator([remote.options(num_cpus=0).remote(tmp_path / "gate") for _ in "12"])
    evaluator.pids()
    middle, seeds = np.full((1, POLICY.space.dimension), 0.5), np.zeros((1, 4), np.uint64)
    assert len(evaluator.evaluate(cut(middle, seeds, ["x"], compiled=False))) == 1
    assert evaluator.repeated == 1
    evaluator.close()


def test_workers_that_all_run_a_long_episode_are_no_lost_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first is late, so the second repeats its chunk, and is late as well."""
    monkeypatch.setattr(assignment, "LATE_S", 0.2)
    monkeypatch.setattr(ray_evaluator, "ABSENT_NOTE_S", 1.0)
    gate, notes = tmp_path / "gate", list[str]()

    def note(text: str) -> None:
        notes.append(text)
        if text != SAID_LATE:
            gate.touch()

    evaluator = RayEvaluator([sleepy_actor(gate), sleepy_actor(gate)], note=note)
    evaluator.pids()
    evaluator._answer_times.add(0.01)  # of an episode before
    middle, seeds = np.full((1, POLICY.space.dimension), 0.5), np.full((1, 1), 7, np.uint64)
    evaluator.evaluate(cut(middle, seeds, ["evaluation 3"], compiled=False))
    assert notes[0] == SAID_LATE
    assert notes[1].startswith("evaluation 3: no worker has answered for ")
    assert notes[1].endswith(" s; one runs the episode of seed 7, or all are lost")
    evaluator.close()


def test_a_call_is_repeated_once_it_is_late_or_none_was_timed_for_long() -> None:
    times = AnswerTimes()
    assert times.allowed_s(compiled=False) == math.inf
    assert times.repeated_s(math.inf) == assignment.UNTIMED_REPEAT_S
    times.add(400.0)
    assert times.repeated_s(times.allowed_s(compiled=False)) == 1200.0
