"""Rollout actors that cannot make the task, and what a batch gets from the others."""

import re
from functools import partial
from importlib import import_module
from threading import Lock
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from rolecast.core.errors import RequestError, RunError
from rolecast.envs.registry import make_task
from rolecast.platform.actors import bandit_engine, ray_backend
from rolecast.platform.actors.bandit_engine import RayEngine
from rolecast.platform.actors.ray_backend import RayBackend
from rolecast.platform.actors.ray_evaluator import RayEvaluator
from rolecast.platform.actors.rollout_actor import RolloutActor
from rolecast.platform.rollout.chunks import Chunk, cut
from rolecast.platform.rollout.local_evaluator import LocalEvaluator
from rolecast.policies.registry import make_policy

pytestmark = pytest.mark.usefixtures("ray_cluster")

TASK = make_task("pred_prey_3")
POLICY = make_policy("mlp", TASK)
CANNOT_START = re.compile(
    r"a worker cannot start: task .* cannot be made: ModuleNotFoundError "
    r"\(No module named 'not_there'\) \(on \d.*\)"
)


def source() -> Any:
    """Return a task in this process only, as where another node lacks the user's module."""
    return import_module("not_there").task()


def actor(source: Any) -> Any:
    start: Any = RolloutActor
    return start.options(num_cpus=0).remote(source, {}, POLICY)


def batch() -> list[Chunk]:
    seeds = np.arange(8, dtype=np.uint64).reshape(2, 4)
    middle = np.full((2, POLICY.space.dimension), 0.5)
    return cut(middle, seeds, ["x"] * 2, compiled=True)


def returns(evaluator: RayEvaluator | LocalEvaluator) -> list[list[float]]:
    return [row for result in evaluator.evaluate(batch()) for row in result.returns.tolist()]


def test_a_worker_that_cannot_make_the_task_is_left_out_with_one_line() -> None:
    notes: list[str] = []
    evaluator = RayEvaluator(
        [actor(source), actor("pred_prey_3"), actor(source)], note=notes.append
    )
    assert len(evaluator.pids()) == 1
    assert returns(evaluator) == returns(LocalEvaluator(TASK, POLICY))
    (note,) = notes
    assert CANNOT_START.fullmatch(note)
    assert evaluator.workers == 1
    evaluator.close()


def test_without_any_worker_that_can_start_the_search_ends_in_one_sentence() -> None:
    evaluator = RayEvaluator([actor(source)])
    with pytest.raises(RunError, match=r"no worker is left.*'not_there'.*--workers 0") as raised:
        evaluator.evaluate(batch())
    assert "\n" not in str(raised.value)


def test_episodes_stay_in_this_process_where_no_worker_can_start() -> None:
    notes: list[str] = []
    here = LocalEvaluator(TASK, POLICY)
    evaluator = RayEvaluator([actor(source)], here=here, note=notes.append)
    assert evaluator.pids() == []
    assert returns(evaluator) == returns(here)
    (note,) = notes
    assert CANNOT_START.fullmatch(note)


class OwnCluster:
    """Stands where a cluster of our own is started; knows whether it was closed."""

    closed: ClassVar[list[bool]] = []
    own = True

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def close(self) -> None:
        self.closed.append(True)


def test_a_cluster_ends_where_what_was_to_run_on_it_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: Any) -> None:
        raise RequestError("the cluster has no GPU")

    for module, asked in ((ray_backend, "resources"), (bandit_engine, "node_cpus")):
        monkeypatch.setattr(module, "Cluster", OwnCluster)
        monkeypatch.setattr(module, asked, refuse)
    with pytest.raises(RequestError, match="has no GPU"):
        RayBackend("pred_prey_3", {}, POLICY, workers=1, address=None)
    problem: Any = SimpleNamespace(agents=2)
    make: Any = dict
    with pytest.raises(RequestError, match="has no GPU"):
        RayEngine(problem, make, 0.0, protocol=None, workers=1, address=None, note=print)
    assert OwnCluster.closed == [True, True]


def test_a_function_that_no_worker_can_be_sent_starts_no_cluster(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(bandit_engine, "Cluster")
    problem: Any = SimpleNamespace(agents=2)
    make: Any = partial(dict, lock=Lock())
    with pytest.raises(RequestError, match="the function cannot be sent to workers"):
        RayEngine(problem, make, 0.0, protocol=None, workers=1, address=None, note=print)
