import threading

import numpy as np
import pytest

from rolecast.core.errors import RunError
from rolecast.envs.registry import make_task
from rolecast.envs.rewards.task import simulator_threads
from rolecast.platform.rollout.chunks import Chunk, ChunkResult, cut, join
from rolecast.platform.rollout.local_evaluator import LocalEvaluator
from rolecast.policies.registry import make_policy

TASK = make_task("pred_prey_3?noise=1&delay=3")
POLICY = make_policy("hom", TASK)


def batch() -> list[Chunk]:
    rng = np.random.default_rng(0)
    candidates = rng.random((40, POLICY.space.dimension))
    seeds = rng.integers(0, 2**63, (40, 100)).astype(np.uint64)
    return cut(candidates, seeds, ["x"] * 40, compiled=True, workers=2)


def test_threads_earn_what_one_thread_earns() -> None:
    chunks = batch()
    results = []
    for threads in (1, 2, 5):
        evaluator = LocalEvaluator(TASK, POLICY, threads)
        assert evaluator.workers == threads
        results.append(join(chunks, evaluator.evaluate(chunks), (40, 100)))
        assert evaluator.busy_s > 0.0
        evaluator.close()
    for other in results[1:]:
        np.testing.assert_array_equal(results[0].returns, other.returns)
        np.testing.assert_array_equal(results[0].observed_returns, other.observed_returns)


def test_two_threads_play_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each waits in its first step for the other, which would time out on one thread."""
    meeting = threading.Barrier(2, timeout=20.0)
    play = LocalEvaluator.play

    def met(self: LocalEvaluator, chunk: Chunk) -> ChunkResult:
        meeting.wait()
        return play(self, chunk)

    monkeypatch.setattr(LocalEvaluator, "play", met)
    evaluator = LocalEvaluator(TASK, POLICY, 2)
    assert len(evaluator.evaluate(batch()[:2])) == 2
    evaluator.close()


def test_a_task_that_is_not_compiled_takes_one_thread() -> None:
    task = make_task("gym:CartPole-v1")
    assert LocalEvaluator(task, make_policy("mlp", task), 4).workers == 1


@pytest.mark.parametrize(("threads", "used"), [(3, 3), (1, 1), (None, 2)])
def test_a_robot_uses_as_many_threads_as_it_is_told(threads: int | None, used: int) -> None:
    task = make_task("hopper?sparse=5", threads=2)
    assert LocalEvaluator(task, make_policy("mlp", task), threads).workers == 1
    assert simulator_threads(task) == used
    task.close()


def test_an_error_on_a_thread_names_its_evaluation(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RunError("no weights")

    monkeypatch.setattr("rolecast.platform.rollout.chunks.rollout", broken)
    with pytest.raises(RunError, match=r"x, episode of seed .*no weights"):
        LocalEvaluator(TASK, POLICY, 2).evaluate(batch()[:2])
