from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rolecast.core.errors import RunError
from rolecast.core.types import Float
from rolecast.platform.optimizers.protocol import Proposal
from rolecast.platform.optimizers.random import RandomSearch
from rolecast.platform.rollout.local_evaluator import LocalEvaluator
from rolecast.platform.search.backend import LocalBackend
from rolecast.platform.search.loop import Search
from rolecast.platform.search.planning.config import SearchConfig
from rolecast.platform.search.planning.plan import Plan, make_plan, run_record
from rolecast.platform.search.progress import Silent
from rolecast.platform.search.records.history import Batch, Kind
from rolecast.platform.search.records.run_folder import RunFolder
from rolecast.policies.protocol import Policy


class Paced(RandomSearch):
    """Random search that draws more at a later pace, so that a wrong pace is seen."""

    def __init__(self, dimension: int, seed: int, shift: float) -> None:
        super().__init__(dimension, seed)
        self.shift, self.paces = shift, 0.0

    def pace(self, spent: float) -> None:
        self.paces += spent

    def ask(self, q: int) -> Float:
        points: Float = (super().ask(q) + self.paces + self.shift) % 1.0
        return points

    def explain(self) -> dict[str, float]:
        return {"paces": self.paces}

    def state_dict(self) -> dict[str, Any]:
        return super().state_dict() | {"paces": self.paces}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        super().load_state_dict(state)
        self.paces = state["paces"]


@dataclass(frozen=True, kw_only=True)
class StructuredConfig:
    """Wants an initial design, and draws otherwise with what was found in it."""

    shift: float = 0.0

    def build(self, *, dimension: int, seed: int) -> Paced:
        return Paced(dimension, seed, self.shift)

    def proposal(self, budget_episodes: int) -> Proposal:
        return Proposal(episodes=2, batch_size=5)

    def initial_design(self, *, dimension: int, seed: int) -> Float:
        return np.random.default_rng(seed).random((7, dimension))

    def find_structure(
        self, policy: Policy, candidates: Float, observations: Float
    ) -> dict[str, Any]:
        assert candidates.shape == (7, policy.space.size)
        assert observations.shape[1:] == (3, 16)
        return {"shift": float(np.abs(observations).mean() % 1.0)}

    def with_structure(self, structure: Mapping[str, Any]) -> "StructuredConfig":
        return replace(self, shift=structure["shift"])


def plan_of(out: Path, *, structured: bool = True) -> Plan:
    config = SearchConfig(
        task="pred_prey_3",
        policy="mlp",
        policy_options={"hidden": [3]},
        optimizer="random",
        env_steps=3_000,
        episodes=2,
        batch_size=5,
        workers=0,
        out=str(out),
    )
    plan = make_plan(config)
    if not structured:
        return plan
    optimizer = StructuredConfig()
    design = optimizer.initial_design(dimension=plan.dimension, seed=1)
    return replace(plan, optimizer=optimizer, design=design)


Begin = Callable[[Plan], Search]


@pytest.fixture
def begin() -> Iterator[Begin]:
    """Return what begins a search, or takes it up where its folder ends."""
    folders = []

    def start(plan: Plan) -> Search:
        out = Path(plan.config.out or "")
        folder = RunFolder.open(out) if out.exists() else RunFolder.create(out, run_record(plan))
        folders.append(folder)
        return Search(plan, folder, LocalBackend(LocalEvaluator(plan.task, plan.policy)), Silent())

    yield start
    for folder in folders:
        folder.release()


def run(search: Search) -> list[Batch]:
    while not search.finished:
        search.step()
    search.close()
    return search._folder.read_batches()


def assert_same(one: list[Batch], other: list[Batch]) -> None:
    assert len(one) == len(other)
    for left, right in zip(one, other, strict=True):
        for name in (
            "kind",
            "first",
            "spent",
            "candidates",
            "episode_returns",
            "observed_returns",
            "incumbent",
        ):
            np.testing.assert_array_equal(getattr(left, name), getattr(right, name))


def test_an_initial_design_is_the_first_batch_and_tells_the_structure(
    begin: Begin, tmp_path: Path
) -> None:
    search = begin(plan_of(tmp_path / "run"))
    batches = run(search)
    assert [batch.kind for batch in batches[:2]] == [Kind.DESIGN, Kind.SEARCH]
    assert len(batches[0].candidates) == 7
    assert batches[-1].spent_after.env_steps == 3_000
    assert 0.0 < RunFolder(tmp_path / "run").read_structure()["shift"] < 1.0  # type: ignore[index]


@pytest.mark.parametrize("after", [1, 2, 6])
def test_a_found_structure_is_read_again_and_not_found_again(
    begin: Begin, tmp_path: Path, after: int
) -> None:
    whole = run(begin(plan_of(tmp_path / "whole")))
    first = begin(plan_of(tmp_path / "run"))
    for _ in range(after):
        first.step()
    RunFolder(tmp_path / "run").write_structure(RunFolder(tmp_path / "run").read_structure() or {})
    assert_same(run(begin(plan_of(tmp_path / "run"))), whole)


def test_another_structure_than_was_recorded_is_noticed(begin: Begin, tmp_path: Path) -> None:
    first = begin(plan_of(tmp_path / "run"))
    for _ in range(3):
        first.step()
    RunFolder(tmp_path / "run").write_structure({"shift": 0.123})
    with pytest.raises(RunError, match="asks for other candidates in batch 1 than it did"):
        begin(plan_of(tmp_path / "run")).step()


def test_metrics_have_the_vocabulary_and_what_the_optimizer_believes(
    begin: Begin, tmp_path: Path
) -> None:
    search = begin(plan_of(tmp_path / "run"))
    search.step()
    metrics = search.step()
    assert metrics["env_steps"] == 12 * 2 * 25
    assert metrics["policy_evaluations"] == 12
    assert metrics["best_return"] >= metrics["episode_return_mean"]
    assert metrics["optimizer/paces"] > 0.0
    assert "task/collisions" in metrics or not any(name.startswith("task/") for name in metrics)


def test_a_spent_search_cannot_be_advanced(begin: Begin, tmp_path: Path) -> None:
    search = begin(plan_of(tmp_path / "run", structured=False))
    run(search)
    assert search.finished
    with pytest.raises(RunError, match="its budget is spent"):
        search.step()
