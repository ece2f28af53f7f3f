"""A failure of an answer that came too late to be needed."""

from typing import Any, cast

import numpy as np
import pytest

from rolecast.core.errors import RunError
from rolecast.envs.registry import make_task
from rolecast.platform.actors.messages import RayMessages
from rolecast.platform.actors.ray_evaluator import RayEvaluator
from rolecast.platform.actors.rollout_actor import RolloutActor
from rolecast.platform.rollout.chunks import Chunk, cut
from rolecast.platform.rollout.local_evaluator import LocalEvaluator
from rolecast.policies.registry import make_policy

pytestmark = pytest.mark.usefixtures("ray_cluster")


def test_a_failure_ends_a_batch_only_where_its_answer_is_needed() -> None:
    class Failing(RayMessages):
        def answer(self, reference: Any) -> Any:
            if chunks:
                raise RunError("task 'x' has not answered for 600 s")
            return super().answer(reference)

    chunks: list[Chunk] = []
    notes: list[str] = []
    task = make_task("pred_prey_3")
    policy = make_policy("mlp", task)
    actor = cast("Any", RolloutActor).options(num_cpus=0).remote("pred_prey_3", {}, policy)
    evaluator = RayEvaluator([actor], messages=Failing(), note=notes.append)
    evaluator.pids()
    middle, seeds = np.full((1, policy.space.dimension), 0.5), np.zeros((1, 4), np.uint64)
    chunks = cut(middle, seeds, ["x"], compiled=True)
    results = LocalEvaluator(task, policy).evaluate(chunks)
    for late in (True, False):
        begun = evaluator.begun()
        numbers = begun.add(chunks)
        evaluator._call(evaluator._workers[0], begun, tuple(numbers))
        (reference,) = evaluator._calls
        if late:
            assert begun.take(numbers[0], results[0])  # another worker was quicker
            evaluator._take(reference, begun)
            assert len(notes) == 1
            assert "too late to be needed was a failure: task 'x'" in notes[0]
            continue
        with pytest.raises(RunError, match="has not answered"):
            evaluator._take(reference, begun)
    evaluator.close()
