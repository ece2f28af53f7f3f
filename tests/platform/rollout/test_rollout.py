"""A rollout is what its episodes are one by one, however they are grouped."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rolecast.core.errors import ConfigError, RunError
from rolecast.core.types import Float, Seeds
from rolecast.envs.registry import make_task
from rolecast.envs.rewards.settings import RewardSettings
from rolecast.envs.rewards.task import RAW_REWARD, with_rewards
from rolecast.envs.spec import BatchedTask
from rolecast.platform.rollout.rollout import Rollout, rollout
from rolecast.platform.rollout.sizes import BATCHED_LANES, COMPILED_LANES
from rolecast.policies.registry import make_policy
from tests.platform.rollout.conftest import Chase, Diary, Reference, Steady

TASK = make_task("pred_prey_3")
POLICY = make_policy("hom", TASK)
FAR_SEED = 2**64 - 1
LATE = "pred_prey_3?sparse=2&delay=5"

TOY = """
import gymnasium as gym
import numpy as np


class Toy(gym.Env):
    observation_space = gym.spaces.Box(-1.0, 1.0, (3,), np.float64)
    action_space = gym.spaces.Box(-1.0, 1.0, (2,), np.float64)

    def __init__(self, fails_at):
        self.fails_at = fails_at

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.seed, self.steps = seed, 0
        return self.np_random.uniform(-1.0, 1.0, 3), {}

    def step(self, action):
        self.steps += 1
        paid = float(action.sum()) * self.np_random.random()
        if self.seed == self.fails_at and self.steps == 3:
            paid = float("nan")
        return self.np_random.uniform(-1.0, 1.0, 3), paid, self.steps > self.seed % 7, False, {}
"""


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the id, up to the seed that fails, of a task in a module of the user's own."""
    (tmp_path / "toy_of_the_rollout_tests.py").write_text(TOY)
    monkeypatch.syspath_prepend(tmp_path)
    return "python:toy_of_the_rollout_tests:Toy?horizon=7&fails_at="


def candidates(count: int, policy: Any = POLICY) -> Float:
    """Return random weights [P, D]."""
    rng = np.random.default_rng(0)
    return np.asarray(policy.space.weights(rng.random((count, policy.space.size))))


def assert_same(one: Rollout, other: Rollout) -> None:
    np.testing.assert_array_equal(one.returns, other.returns)
    np.testing.assert_array_equal(one.lengths, other.lengths)


def test_a_batch_is_its_candidates_and_episodes_one_by_one() -> None:
    weights, seeds = candidates(3), np.array([4, FAR_SEED, 0, 4, 77], dtype=np.uint64)
    together = rollout(TASK, POLICY, weights, seeds)
    assert together.returns.shape == together.lengths.shape == (3, 5)
    assert together.env_steps == 3 * 5 * 25
    for candidate, episode in np.ndindex(3, 5):
        alone = rollout(TASK, POLICY, weights[[candidate]], seeds[[episode]])
        assert alone.returns[0, 0] == together.returns[candidate, episode]
    np.testing.assert_array_equal(together.returns[:, 0], together.returns[:, 3])


@pytest.mark.parametrize("rows", [1, 2, 5])
@pytest.mark.parametrize("columns", [1, 23, 300])
def test_any_grouping_earns_the_same_over_more_than_one_chunk(rows: int, columns: int) -> None:
    weights, seeds = candidates(5), np.arange(300, dtype=np.uint64)
    together = rollout(TASK, POLICY, weights, seeds)
    assert together.returns.size > COMPILED_LANES
    some = rollout(TASK, POLICY, weights[-rows:], seeds[-columns:])
    np.testing.assert_array_equal(some.returns, together.returns[-rows:, -columns:])


def test_each_candidate_may_have_seeds_of_its_own() -> None:
    weights = candidates(3)
    seeds = np.arange(12, dtype=np.uint64).reshape(3, 4)
    own = rollout(TASK, POLICY, weights, seeds)
    shared = rollout(TASK, POLICY, weights, seeds.ravel())
    for candidate in range(3):
        expected = shared.returns[candidate, 4 * candidate : 4 * candidate + 4]
        np.testing.assert_array_equal(own.returns[candidate], expected)


def test_a_users_environments_earn_the_same_in_any_grouping(toy: str) -> None:
    task = make_task(f"{toy}-1")
    policy = make_policy("mlp", task)
    weights, seeds = candidates(3, policy), np.arange(14)
    together = rollout(task, policy, weights, seeds)
    assert together.returns.size > BATCHED_LANES
    np.testing.assert_array_equal(together.lengths, np.tile(1 + seeds % 7, (3, 1)))
    for candidate in range(3):
        for part in (slice(0, 1), slice(3, 9), slice(9, 14)):
            some = rollout(task, policy, weights[[candidate]], seeds[part])
            np.testing.assert_array_equal(some.returns[0], together.returns[candidate, part])


def test_returns_lengths_and_metrics_are_those_of_each_episode() -> None:
    task, seeds = Diary(), np.arange(23)
    weights = np.array([[0.5, 0.25], [-1.0, 0.0]])
    found = rollout(task, Steady(), weights, seeds)  # type: ignore[arg-type]  # what it needs
    lengths = np.tile(1 + seeds % 5, (2, 1))
    np.testing.assert_array_equal(found.lengths, lengths)
    np.testing.assert_array_equal(found.returns, lengths * 2.0 * weights.sum(1)[:, None])
    np.testing.assert_array_equal(found.metrics["late"], np.maximum(lengths - 2, 0))
    assert found.env_steps == lengths.sum()
    assert found.observations is None
    assert max(task.widths) <= BATCHED_LANES


def test_a_score_is_what_was_earned_whatever_is_paid() -> None:
    """In a task by the batched contract, and in a compiled one."""
    seeds, weights = np.arange(23), np.array([[0.5, 0.25], [-1.0, 0.0]])
    task = with_rewards(Diary(), RewardSettings(sparse=2, delay=1))
    found = rollout(task, Steady(), weights, seeds)  # type: ignore[arg-type]  # what it needs
    lengths = np.tile(1 + seeds % 5, (2, 1))
    step = 2.0 * weights.sum(1)[:, None]
    np.testing.assert_array_equal(found.returns, lengths * step)
    paid = np.maximum(lengths // 2 * 2 - 1, 0)
    np.testing.assert_array_equal(found.observed_returns, paid * step)
    assert found.metrics.keys() == {"late"}
    some = candidates(3)
    dense, late = (
        rollout(make_task(task_id), POLICY, some, seeds) for task_id in ("pred_prey_3", LATE)
    )
    np.testing.assert_array_equal(late.returns, dense.returns)
    assert (late.observed_returns <= late.returns).all()
    assert late.observed_returns.sum() < late.returns.sum()
    assert dense.observed_returns is dense.returns


def test_compiled_payments_are_those_of_the_float64_reference() -> None:
    """Noise of up to 1e-4 aside, wherever the chase itself came out the same."""
    task = make_task(LATE, noise=0.5, flip=0.1)
    chase: Any = Chase()  # what it needs
    one, other = (
        rollout(task, chase, np.ones((1, 1)), np.arange(64), compiled=form)
        for form in (True, False)
    )
    same = one.returns == other.returns
    assert same.mean() > 0.9
    difference = np.abs(one.observed_returns - other.observed_returns)[same]
    assert np.quantile(difference, 0.95) < 1e-4


@pytest.mark.parametrize("record", [1, 7, 50, 66])
@pytest.mark.parametrize("horizon", [5, 1000])
def test_recorded_observations_were_met_and_come_from_all_over(record: int, horizon: int) -> None:
    """Also where all episodes end long before the horizon: there are 66 observations in all."""
    task, seeds = Diary(horizon=horizon), np.arange(23)
    found = rollout(task, Steady(), np.zeros((1, 2)), seeds, record=record)  # type: ignore[arg-type]  # what it needs
    assert found.observations is not None
    assert found.observations.shape == (record, 2, 2)
    np.testing.assert_array_equal(found.observations[:, 1], -found.observations[:, 0])
    met = {(seed, step) for seed in range(23) for step in range(1 + seed % 5)}
    recorded = [tuple(row) for row in found.observations[:, 0].tolist()]
    assert set(recorded) <= met
    assert len(set(recorded)) == record
    if record >= 7:
        assert len({seed for seed, _ in recorded}) >= 5
        assert {step for _, step in recorded} >= {0, 2}


def test_no_more_is_recorded_than_was_met() -> None:
    found = rollout(Diary(), Steady(), np.zeros((1, 2)), np.arange(10), record=10_000)  # type: ignore[arg-type]  # what it needs
    assert found.observations is not None
    assert len(found.observations) == found.env_steps == 30


def test_recorded_observations_of_a_compiled_task_were_met() -> None:
    """Against the float64 reference, to the precision of float32 in the first steps."""
    weights, seeds = candidates(1), np.arange(16, dtype=np.uint64)
    found = rollout(TASK, POLICY, weights, seeds, record=16 * 25).observations
    some = rollout(TASK, POLICY, weights, seeds, record=30).observations
    assert found is not None
    assert some is not None
    assert found.shape == (400, 3, 16)
    assert some.shape == (30, 3, 16)
    np.testing.assert_allclose(found[:16], TASK.reset(seeds), atol=1e-6)
    assert all((found == observation).all((1, 2)).any() for observation in some)


def test_recording_does_not_change_what_is_earned() -> None:
    weights, seeds = candidates(2), np.arange(20)
    assert_same(
        rollout(TASK, POLICY, weights, seeds), rollout(TASK, POLICY, weights, seeds, record=9)
    )


CASES = ["pred_prey_3", "pred_prey_6", "pred_prey_9", "het_pred_prey_3", "het_pred_prey_6"]


@pytest.mark.parametrize("task_id", CASES)
def test_compiled_observations_follow_the_float64_reference(task_id: str) -> None:
    """Within 1e-3 for 8 steps, for 16 episodes of a hunt; the game is chaotic thereafter."""
    compiled, batched = make_task(task_id), Reference(make_task(task_id))
    met = [
        rollout(task, Chase(), np.ones((1, 1)), np.arange(16), record=400).observations  # type: ignore[arg-type]  # what it needs
        for task in (compiled, batched)
    ]
    assert met[0] is not None
    assert met[1] is not None
    assert len(met[0]) == len(met[1]) == 400
    np.testing.assert_allclose(met[0][: 8 * 16], met[1][: 8 * 16], atol=1e-3)


@pytest.mark.parametrize("task_id", CASES)
@pytest.mark.parametrize("kind", ["chase", "hom"])
def test_compiled_returns_are_those_of_the_float64_reference(task_id: str, kind: str) -> None:
    """At least 90 % are equal, and the others differ by no trend.

    False alarm of the trend: 1e-6 a seed, were differences normal; a systematic difference of
    half the spread of unequal returns is seen. Measured: 99.5 % are equal or more.
    """
    compiled, batched = make_task(task_id), Reference(make_task(task_id))
    policy = Chase() if kind == "chase" else make_policy("hom", compiled)
    weights = np.array([[1.0], [0.4]]) if kind == "chase" else candidates(2, policy)
    one, other = (
        rollout(task, policy, weights, np.arange(64)).returns  # type: ignore[arg-type]  # what it needs
        for task in (compiled, batched)
    )
    difference = one - other
    assert (difference == 0.0).mean() >= 0.9
    assert abs(difference.mean()) <= 4.89 * difference.std() / np.sqrt(difference.size)
    if kind == "chase":
        assert one.mean() > 20.0  # there were contacts to get right


@pytest.mark.parametrize(
    ("weights", "seeds", "message"),
    [
        (np.zeros(353), [1], r"rollout.weights is \(353,\); expected shape \[P, 353\]"),
        (np.zeros((2, 7)), [1], r"rollout.weights is \(2, 7\); expected shape \[P, 353\]"),
        (np.full((1, 353), np.nan), [1], "rollout.weights .* expected finite numbers"),
        (np.full((1, 353), np.inf), [1], "rollout.weights .* expected finite numbers"),
        (np.zeros((2, 353)), [0.5], r"rollout.seeds is 'float64 .*expected integers \[E\] or"),
        (np.zeros((2, 353)), [[1, 2]], r"rollout.seeds is .*integers \[E\] or \[2, E\]"),
        (np.zeros((2, 353)), 3, r"rollout.seeds is .*integers \[E\] or \[2, E\]"),
        (np.zeros((2, 353)), [3, -1], "rollout.seeds is -1; expected .* >= 0"),
        (np.zeros((0, 353)), [1], "rollout.seeds is 'empty'; expected at least one episode"),
        (np.zeros((1, 353)), np.zeros(0, dtype=int), "rollout.seeds is 'empty'"),
    ],
)
def test_wrong_weights_and_seeds_are_refused(weights: Float, seeds: Any, message: str) -> None:
    task: BatchedTask = TASK
    policy = make_policy("hom", task, role_assignment=False)
    assert policy.space.size == 353
    with pytest.raises(ConfigError, match=message):
        rollout(task, policy, weights, seeds)


def test_a_reward_of_nan_names_candidate_and_seed(toy: str) -> None:
    task = make_task(f"{toy}5")
    policy = make_policy("mlp", task)
    with pytest.raises(RunError, match="nan to candidate 1 in the episode of seed 5; expected"):
        rollout(task, policy, candidates(3, policy), [[0, 1], [2, 5], [5, 3]])
    assert np.isfinite(rollout(task, policy, candidates(3, policy), [0, 1]).returns).all()


@pytest.mark.parametrize("pays", [np.nan, np.inf, -np.inf])
def test_a_task_that_pays_no_number_is_named(pays: float) -> None:
    with pytest.raises(RunError, match=f"'diary' paid a return of {pays} to candidate 0"):
        rollout(Diary(pays), Steady(), np.ones((1, 2)), np.arange(3))  # type: ignore[arg-type]  # what it needs


def test_a_payment_that_is_no_number_is_named_where_what_was_earned_is_one() -> None:
    class Overpaid(Diary):
        def step(self, actions: Any) -> Any:
            seen, reward, done, metrics = super().step(actions)
            return seen, reward, done, {**metrics, RAW_REWARD: np.ones(len(reward))}

    with pytest.raises(RunError, match="'diary' paid a return of inf to candidate 0"):
        rollout(Overpaid(np.inf), Steady(), np.ones((1, 2)), np.arange(3))  # type: ignore[arg-type]  # what it needs


def test_metrics_of_a_task_that_has_none_are_empty() -> None:
    found: Mapping[str, Float] = rollout(TASK, POLICY, candidates(1), [0]).metrics
    assert found == {}


def test_seeds_use_all_their_bits() -> None:
    seeds: Seeds = np.array([1, 1 + 2**32, 1 + 2**63, FAR_SEED], dtype=np.uint64)
    found = rollout(TASK, Chase(), np.ones((1, 1)), seeds, record=4 * 25)  # type: ignore[arg-type]  # what it needs
    assert found.observations is not None
    assert len(np.unique(found.observations[:4, 0], axis=0)) == 4


@pytest.mark.parametrize("name", ["mlp", "hom"])
@pytest.mark.parametrize("task", ["pred_prey_6", "pred_prey_3?observation=full"])
def test_a_policy_for_a_task_of_other_sizes_is_refused(task: str, name: str) -> None:
    policy = make_policy(name, make_task("pred_prey_6?observation=full"))
    with pytest.raises(ConfigError, match="the policy was made for"):
        rollout(make_task(task), policy, policy.space.centre[None], [0])
