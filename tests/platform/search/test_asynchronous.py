"""Searches whose results come in another order than they were asked for."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rolecast.core.seeds import Purpose, episode_seeds
from rolecast.core.types import Float
from rolecast.envs.registry import make_task
from rolecast.platform.optimizers.registry import optimizer_config
from rolecast.platform.rollout.chunks import Chunk, ChunkResult
from rolecast.platform.rollout.evaluator import Stream
from rolecast.platform.rollout.local_evaluator import LocalEvaluator
from rolecast.platform.rollout.rollout import rollout
from rolecast.platform.search.asynchronous import AsynchronousSearch
from rolecast.platform.search.backend import LocalBackend
from rolecast.platform.search.loop import Search
from rolecast.platform.search.planning.config import SearchConfig
from rolecast.platform.search.planning.plan import Plan, make_plan, run_record
from rolecast.platform.search.progress import Silent
from rolecast.platform.search.records import journal
from rolecast.platform.search.records.history import Batch, Kind
from rolecast.platform.search.records.run_folder import RunFolder
from rolecast.platform.search.resilient_optimizer import replay
from rolecast.platform.search.session import BatchRequest, EvaluatedBatch, LocalSession

Q, EPISODES = 4, 2
HORIZON = make_task("pred_prey_3").spec.horizon


class Unequal:
    """A stream in which one chunk of three takes as long as five others."""

    def __init__(self, evaluator: LocalEvaluator) -> None:
        self._evaluator = evaluator
        self._ends: list[tuple[int, int, Chunk]] = []
        self._count = 0
        self.running_s = 0.0

    def put(self, chunks: Sequence[Chunk]) -> list[int]:
        numbers = list(range(self._count, self._count + len(chunks)))
        for number, chunk in zip(numbers, chunks, strict=True):
            self._ends.append((number + (15 if number % 3 == 0 else 0), number, chunk))
        self._count += len(chunks)
        return numbers

    def take(self) -> list[tuple[int, ChunkResult]]:
        first = min(self._ends, key=lambda each: each[:2])
        self._ends.remove(first)
        result = self._evaluator.play(first[2])
        self.running_s += result.seconds
        return [(first[1], result)]


class UnequalEvaluator(LocalEvaluator):
    workers = 6

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan.task, plan.policy)
        self.workers = 6

    def stream(self) -> Stream:  # type: ignore[override]
        return Unequal(self)


def plan_of(out: Path, **settings: Any) -> Plan:
    config: dict[str, Any] = {
        "task": "pred_prey_3",
        "policy": "mlp",
        "policy_options": {"hidden": [3]},
        "optimizer": "local_gp",
        "evaluations": 60,
        "episodes": EPISODES,
        "batch_size": Q,
        "workers": 0,
        "asynchronous": True,
        "out": str(out),
    }
    return make_plan(SearchConfig(**config | settings))


Begin = Callable[[Plan], AsynchronousSearch]


@pytest.fixture
def begin() -> Iterator[Begin]:
    folders = []

    def start(plan: Plan) -> AsynchronousSearch:
        out = Path(plan.config.out or "")
        folder = RunFolder.open(out) if out.exists() else RunFolder.create(out, run_record(plan))
        folders.append(folder)
        backend = LocalBackend(UnequalEvaluator(plan))
        return AsynchronousSearch(plan, folder, backend, Silent())

    yield start
    for folder in folders:
        folder.release()


def batches_of(search: Search) -> list[Batch]:
    return search._folder.read_batches()


def run(search: Search, steps: int | None = None) -> None:
    done = 0
    while not search.finished and done != steps:
        search.step()
        done += 1
    search.close()


def assert_own_returns(plan: Plan, search: Search) -> None:
    """Each candidate has earned what it earns alone on the episodes that its row names."""
    for batch in batches_of(search):
        for row, candidate in enumerate(batch.candidates):
            seeds = episode_seeds(plan.seed, Purpose.SEARCH, int(batch.episodes_of[row]), EPISODES)
            weights = plan.policy.space.weights(candidate[None])
            alone = rollout(plan.task, plan.policy, weights, seeds[None]).returns[0]
            np.testing.assert_array_equal(batch.episode_returns[row], alone)


def test_candidates_are_told_as_they_end_with_what_they_earned(
    begin: Begin, tmp_path: Path
) -> None:
    plan = plan_of(tmp_path / "run")
    search = begin(plan)
    run(search)
    told = [batch for batch in batches_of(search) if batch.kind is Kind.SEARCH]
    numbers = np.concatenate([batch.episodes_of for batch in told])
    # Pairs share episodes, so each number comes twice; the order is that of the ends.
    assert sorted(numbers) == sorted(2 * list(range(0, len(numbers), 2)))
    assert (np.diff(numbers) < 0).any()
    assert search.spent.evaluations == 60
    assert batches_of(search)[-1].kind is Kind.CONFIRM
    assert_own_returns(plan, search)


def test_a_long_episode_delays_its_own_candidate_alone(begin: Begin, tmp_path: Path) -> None:
    plan = plan_of(tmp_path / "run", optimizer="random")
    search = begin(plan)
    search.step()
    assert 0 not in batches_of(search)[0].episodes_of  # its chunk is one of the long ones
    run(search)
    assert any(0 in batch.episodes_of for batch in batches_of(search)[1:])


def test_no_budget_in_steps_is_exceeded(begin: Begin, tmp_path: Path) -> None:
    plan = plan_of(tmp_path / "run", evaluations=None, env_steps=50 * EPISODES * HORIZON + 10)
    search = begin(plan)
    run(search)
    assert search.spent.env_steps == 50 * EPISODES * HORIZON


def test_a_stopped_search_goes_on_without_what_was_under_way(begin: Begin, tmp_path: Path) -> None:
    plan = plan_of(tmp_path / "run", optimizer="gp_ucb")
    first = begin(plan)
    run(first, steps=5)
    told = first.spent.evaluations
    first._folder.release()
    again = begin(plan)
    assert again.spent.evaluations == told
    run(again)
    assert again.spent.evaluations == 60
    searched = [b.episodes_of for b in batches_of(again) if b.kind is Kind.SEARCH]
    assert len(set(np.concatenate(searched).tolist())) == sum(map(len, searched))
    confirmed = batches_of(again)[-1]
    assert confirmed.kind is Kind.CONFIRM
    assert confirmed.episodes_of.min() > np.concatenate(searched).max()  # fresh episodes
    assert_own_returns(plan, again)


@pytest.mark.parametrize(
    ("optimizer", "settings"), [("random", {}), ("gp_ucb", {}), ("cmaes", {"population": 40})]
)
@pytest.mark.parametrize("share", [1e9, 1e-9], ids=["with its state", "with its first state"])
def test_a_search_that_is_stopped_again_and_again_evaluates_no_candidate_twice(
    optimizer: str,
    settings: dict[str, Any],
    share: float,
    begin: Begin,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each part begins with the state after the last batch, or with the first and the history."""
    monkeypatch.setattr(journal, "CHECKPOINT_SHARE", share)
    plan = plan_of(tmp_path / "run", optimizer=optimizer, optimizer_settings=settings)
    for steps in (4, 4, 4, None):
        search = begin(plan)
        run(search, steps=steps)
        search._folder.release()
    found = np.concatenate([b.candidates for b in batches_of(search) if b.kind is Kind.SEARCH])
    assert search.spent.evaluations == 60
    apart = np.abs(found[:, None] - found[None]).max(-1)[np.triu_indices(len(found), 1)]
    assert apart.min() > 1e-6


@pytest.mark.parametrize("share", [1e9, 1e-9], ids=["with its state", "with its first state"])
def test_a_search_that_goes_on_is_where_it_was(
    share: float, begin: Begin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All batches since its last state were learned from as one, and so were moved by once."""
    monkeypatch.setattr(journal, "CHECKPOINT_SHARE", share)
    plan = plan_of(tmp_path / "run", evaluations=900, batch_size=20)
    first = begin(plan)
    run(first, steps=30)
    moved = np.linalg.norm(first.incumbent - 0.5)
    assert moved > 0.1
    first._folder.release()
    again = begin(plan)
    run(again, steps=1)
    assert np.linalg.norm(again.incumbent - first.incumbent) < 0.3 * moved


@pytest.mark.parametrize("numbers", [[[4, 5, 6, 7]], [[4, 5, 6, 7], [1, 8, 9, 11]], [[15, 14]]])
def test_candidates_that_overtook_others_are_not_drawn_again(numbers: list[list[int]]) -> None:
    """Those before them had not ended when the search was stopped."""
    asking = BatchRequest(q=4, spent=0.0)

    def drawn(session: LocalSession) -> Float:
        found = session.tell_and_ask(None, asking).candidates
        assert found is not None
        return found

    config = optimizer_config("random")
    before, after = (LocalSession(config, dimension=3, seed=0) for _ in range(2))
    asked = np.concatenate([drawn(before) for _ in range(4)])
    batches: list[Batch] = []
    for each in map(np.array, numbers):
        returns = np.zeros((len(each), 1))
        batches.append(
            Batch(
                index=len(batches), kind=Kind.SEARCH, first=sum(map(len, numbers[: len(batches)])),
                spent=0.0, candidates=asked[each], episodes_of=each, episode_returns=returns,
                observed_returns=returns, env_steps=1 + each, wall_time_s=0.0, incumbent=asked[0],
            )
        )  # fmt: skip
    replay(after, batches, asked_alike=False)
    apart = np.abs(drawn(after)[:, None] - asked[np.concatenate(numbers)]).max(-1)
    assert apart.min() > 1e-6


def test_candidates_meet_other_episodes_than_the_initial_design(
    begin: Begin, tmp_path: Path
) -> None:
    settings = {"structure": "found", "configuration": "paper"}
    plan = plan_of(tmp_path / "run", optimizer="dss_gp_ucb", optimizer_settings=settings)
    search = begin(plan)
    run(search, steps=3)
    design, *searched = batches_of(search)
    assert (design.kind, searched[0].kind) == (Kind.DESIGN, Kind.SEARCH)
    assert min(batch.episodes_of.min() for batch in searched) > design.episodes_of.max()
    assert_own_returns(plan, search)


def test_observations_are_normalised_by_what_was_told(begin: Begin, tmp_path: Path) -> None:
    plan = plan_of(tmp_path / "run", policy_options={"hidden": [3], "normalise": "running"})
    search = begin(plan)
    run(search)
    told = [batch for batch in batches_of(search) if batch.kind is Kind.SEARCH]
    counts = [batch.statistics.count for batch in told if batch.statistics is not None]
    sizes = np.array([len(batch.candidates) for batch in told])
    assert counts == (sizes * EPISODES * HORIZON * 3).cumsum().tolist()


def test_candidates_that_are_told_again_keep_their_pairs() -> None:
    """They were forgotten before they were told, and pairs on common episodes looked unrelated."""
    config = optimizer_config("local_gp", groups=(0,) * 6)
    live, again = (LocalSession(config, dimension=6, seed=3) for _ in range(2))

    def asked(spent: float) -> Float:
        found = live.tell_and_ask(None, BatchRequest(q=4, spent=spent)).candidates
        assert found is not None
        return found

    first, second = asked(0.0), asked(0.0)
    returns = np.arange(4.0)
    told = EvaluatedBatch(candidates=first, returns=returns, stderrs=None)
    saved = live.tell_and_ask(told, BatchRequest(q=4, spent=0.1), keep=True)
    assert saved.state is not None
    again.restore(saved.state)
    batch = Batch(
        index=1, kind=Kind.SEARCH, first=4, spent=0.1, candidates=second,
        episodes_of=np.array([4, 4, 6, 6]), episode_returns=returns[:, None],
        observed_returns=returns[:, None], env_steps=np.arange(1, 5), wall_time_s=0.0,
        incumbent=first[0],
    )  # fmt: skip
    replay(again, [batch], asked_alike=False)
    live.tell_and_ask(EvaluatedBatch(candidates=second, returns=returns, stderrs=None), None)
    groups = [each._optimizer.state_dict()["groups"].tolist() for each in (live, again)]
    assert groups[0] == groups[1] == [0, 0, 2, 2, 4, 4, 6, 6]
