"""Who repeats a call to which no answer comes, and what is said of it."""

import math
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray

from rolecast.envs.registry import make_task
from rolecast.platform.actors import assignment, ray_evaluator
from rolecast.platform.actors.assignment import AnswerTimes, Reply, packed, unpacked
from rolecast.platform.actors.ray_evaluator import RayEvaluator
from rolecast.platform.rollout.chunks import cut
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
