"""Transitions are what the task itself gives for the same seeds and actions."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from rolecast.baselines.ppo.sampler import StepsSampler
from rolecast.baselines.rllib.episodes import BatchedEpisodes, CompiledEpisodes, episodes_of
from rolecast.baselines.rllib.sampler import Act, Sampler
from rolecast.core.counter_random import folded_seed
from rolecast.core.errors import RunError
from rolecast.core.types import Float32
from rolecast.envs.registry import make_task
from rolecast.envs.rewards.settings import RewardSettings
from rolecast.envs.rewards.task import with_rewards
from tests.envs.rewards.conftest import Ledger


def wandering(seed: int) -> Act:
    """Random actions, in a walk that the memory of each episode holds."""
    rng = np.random.default_rng(seed)

    def act(observations: Float32, memory: Float32) -> Float32:
        memory += 0.3 * rng.standard_normal(memory.shape, dtype=np.float32)
        return np.tanh(memory)

    return act


def test_transitions_are_those_of_single_environments() -> None:
    """Through ends by a fall, ends at the horizon, and the episodes after them."""
    task: Any = make_task("gym:CartPole-v1?horizon=30")
    sampler = Sampler(task, 3, (1, 0, 0))
    env = gymnasium.make("CartPole-v1", disable_env_checker=True)
    seeds: list[int] = []
    draw = sampler._draw_seeds

    def told(count: int) -> Any:
        drawn = draw(count)
        seeds.extend(drawn.tolist())
        return drawn

    sampler._draw_seeds = told  # type: ignore[method-assign]  # listens
    fragment = sampler.collect(wandering(4), 60)
    told_by = fragment.transitions
    assert len(told_by) == 180
    assert len(fragment.ended) > 5
    row = slice(1, None, 3)  # the second of three, whose first seed is the second
    seen, _ = env.reset(seed=folded_seed(seeds[1]))
    steps = falls = cuts = 0
    for t in range(60):
        np.testing.assert_array_equal(told_by.observations[row][t, 0], seen.astype(np.float32))
        choice = int(told_by.actions[row][t, 0].argmax())
        seen, reward, fell, _, _ = env.step(choice)
        steps += 1
        assert told_by.rewards[row][t, 0] == reward
        np.testing.assert_array_equal(told_by.next_observations[row][t, 0], seen.astype(np.float32))
        assert told_by.terminated[row][t] == float(fell)
        if fell or steps == 30:
            falls, cuts = falls + fell, cuts + (not fell)
            nxt = told_by.observations[row][t + 1, 0] if t < 59 else None
            found = [
                s
                for s in seeds
                if nxt is not None
                and (env.reset(seed=folded_seed(s))[0].astype(np.float32) == nxt).all()
            ]
            if nxt is not None:
                seen, _ = env.reset(seed=folded_seed(found[0]))
            steps = 0
    assert falls >= 1


def test_an_episode_that_is_cut_off_has_not_terminated() -> None:
    sampler = Sampler(make_task("gym:Pendulum-v1?horizon=7"), 2, (1, 0, 0))
    fragment = sampler.collect(wandering(0), 21)
    assert not fragment.transitions.terminated.any()
    assert [episode.steps for episode in fragment.ended] == [7] * 6


def test_what_ends_before_the_horizon_of_a_task_that_does_not_say_why_terminated() -> None:
    ledger = Ledger([[1, 2, 4, 8], [1, 2, 4, 8]], np.array([2, 4]))
    assert isinstance(episodes_of(ledger), BatchedEpisodes)
    fragment = Sampler(ledger, 2, (1, 0, 0)).collect(wandering(0), 8)
    own = fragment.transitions
    # The first row rests for two steps of four, until the second has ended too.
    assert own.rewards[:, 0].tolist() == [1, 1, 2, 2, 4, 8] * 2
    assert own.terminated.tolist() == [0, 0, 1, 0, 0, 0] * 2
    assert [episode.earned for episode in fragment.ended] == [3.0, 15.0] * 2


def test_the_compiled_face_gives_what_the_batched_one_does() -> None:
    """In float32, as long as the chase has not parted: for a few steps."""
    task = make_task("pred_prey_3", sparse=2)
    seeds = np.arange(20, dtype=np.uint64)
    fast, plain = CompiledEpisodes(task), BatchedEpisodes(task)
    np.testing.assert_allclose(fast.begin(seeds), plain.begin(seeds), atol=1e-6)
    rng = np.random.default_rng(0)
    for _ in range(6):
        actions = rng.uniform(-1.0, 1.0, (20, 3, 2)).astype(np.float32)
        one, other = fast.step(actions), plain.step(actions)
        np.testing.assert_allclose(one.observations, other.observations, atol=1e-3)
        np.testing.assert_allclose(one.earned, other.earned)
        np.testing.assert_allclose(one.paid, other.paid)
        np.testing.assert_allclose(one.rewards, other.rewards)
        assert not one.done.any()
    for _ in range(18):
        assert not fast.step(actions).done.any()
    last = fast.step(actions)
    assert last.done.all()
    assert not last.terminated.any()


def test_learners_see_what_is_paid_and_scores_what_is_earned() -> None:
    sampler = Sampler(make_task("gym:Pendulum-v1?horizon=10&sparse=4"), 1, (1, 0, 0))
    fragment = sampler.collect(wandering(0), 10)
    paid = fragment.transitions.rewards[:, 0]
    assert (paid != 0.0).tolist() == [False, False, False, True] * 2 + [False, False]
    assert fragment.ended[0].paid == pytest.approx(paid.sum(), rel=1e-6)
    assert fragment.ended[0].earned < fragment.ended[0].paid < 0.0


def test_each_agent_has_its_own_reward_where_the_task_says_so() -> None:
    spread = "pettingzoo:mpe2.simple_tag_v3?continuous_actions=true&team_reward=sum&num_obstacles=0"
    own = Sampler(make_task(spread), 1, (1, 0, 0)).collect(wandering(0), 25).transitions
    assert (own.rewards[:, 0] != own.rewards[:, 3]).any()
    team = Sampler(make_task("pred_prey_3"), 1, (1, 0, 0)).collect(wandering(0), 25).transitions
    np.testing.assert_array_equal(team.rewards[:, 0], team.rewards[:, 2])


def test_agents_outside_the_team_are_paid_its_reward() -> None:
    """Its mean over agents, by which joint critics learn, is a multiple of the team's reward."""
    tag = "pettingzoo:mpe2.simple_tag_v3?continuous_actions=true&num_good=2"
    task = make_task(tag, team="agent_0")
    fragment = Sampler(task, 4, (1, 0, 0)).collect(wandering(0), 50)
    rewards = fragment.transitions.rewards
    assert rewards.any()
    np.testing.assert_array_equal(rewards, np.repeat(rewards[:, 3:4], 5, axis=1))


@pytest.mark.parametrize("task", ["gym:CartPole-v1?horizon=30", "pred_prey_3?delay=3", "hopper"])
def test_a_restored_sampler_goes_on_in_the_middle_of_its_episodes(task: str) -> None:
    original, restored = (Sampler(make_task(task), 5, (2, 0, 0)) for _ in range(2))
    act = wandering(1)
    original.collect(act, 37)
    restored.set_state(original.get_state())
    one = original.collect(wandering(2), 45)
    other = restored.collect(wandering(2), 45)
    np.testing.assert_array_equal(one.transitions.observations, other.transitions.observations)
    np.testing.assert_array_equal(one.transitions.rewards, other.transitions.rewards)
    np.testing.assert_array_equal(one.transitions.terminated, other.transitions.terminated)
    assert one.ended == other.ended
    assert len(one.ended) > 0


def test_streams_and_lives_have_seeds_of_their_own() -> None:
    def starts(stream: tuple[int, ...], life: int | None = None) -> Float32:
        sampler = Sampler(make_task("pred_prey_3"), 4, stream)
        if life is not None:
            sampler.begin_life(life)
        return sampler.collect(wandering(0), 1).transitions.observations

    streams = [(1, 0, 0), (2, 0, 0), (1, 1, 0)]
    runs = [starts(stream) for stream in streams] + [starts((1, 0, 0), life=1)]
    rows = np.concatenate(runs).reshape(16, -1)
    assert len(np.unique(rows, axis=0)) == 16
    np.testing.assert_array_equal(starts((1, 0, 0)), runs[0])


def test_a_restored_sampler_goes_on_in_the_life_of_the_original() -> None:
    """It does not play the episodes again that the life before has played."""
    first, original, restored = (Sampler(make_task("pred_prey_3"), 2, (7, 0, 0)) for _ in range(3))
    original.begin_life(1)
    for sampler in (first, original):
        sampler.collect(wandering(0), 5)
    restored.set_state(original.get_state())
    begun = [s.collect(wandering(0), 40).transitions for s in (first, original, restored)]
    np.testing.assert_array_equal(begun[1].observations, begun[2].observations)
    assert (begun[0].observations != begun[2].observations).any()


def test_a_state_of_before_lives_were_kept_is_of_the_first() -> None:
    original, restored = (Sampler(make_task("pred_prey_3"), 2, (7, 0, 0)) for _ in range(2))
    original.collect(wandering(0), 5)
    state = original.get_state()
    del state["life"]
    restored.begin_life(1)
    restored.set_state(state)
    found = [s.collect(wandering(0), 40).transitions for s in (original, restored)]
    np.testing.assert_array_equal(found[0].observations, found[1].observations)


def test_whole_episodes_are_shared_out_among_the_rows() -> None:
    """So an episode that is short is not met more often than one that is long."""
    ledger = Ledger([[1, 1, 1, 1], [5, 5, 5, 5]], np.array([1, 4]))
    played = Sampler(ledger, 2, (1, 0, 0)).play(wandering(0), 5)
    assert sorted(episode.steps for episode in played) == [1, 1, 1, 4, 4]


@pytest.mark.parametrize("sampler", [Sampler, StepsSampler])
@pytest.mark.parametrize("reward", [np.nan, -np.inf, 1e300])
@pytest.mark.parametrize("settings", [{}, {"delay": 2}])
def test_a_reward_that_is_not_finite_is_refused_in_its_step(
    sampler: type[Sampler], reward: float, settings: dict[str, Any]
) -> None:
    ledger = Ledger([[1.0] * 5, [1.0, 1.0, reward, 1.0, 1.0]])
    made = sampler(with_rewards(ledger, RewardSettings(**settings)), 2, (1, 0, 0))
    seed, late = int(made._draw_seeds(2)[1]), settings.get("delay", 0) * (reward == 1e300)
    made.begin_life(0)
    told = rf"^task 'ledger\?.*' paid (nan|-?inf) in step {3 + late} of the episode of seed {seed};"
    with pytest.raises(RunError, match=f"{told} expected rewards that are finite in float32"):
        made.collect(wandering(0), 5)


class Rising(gymnasium.Env[Any, Any]):
    """Observes what no float32 holds, from some step on."""

    observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float64)
    action_space = spaces.Box(-1.0, 1.0, (1,))

    def __init__(self, begins: int) -> None:
        self.begins, self.steps = begins, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.steps = 0
        return self.seen(), {}

    def step(self, action: Any) -> Any:
        self.steps += 1
        return self.seen(), 1.0, False, False, {}

    def seen(self) -> Any:
        return np.array([0.0, 1e39 if self.steps >= self.begins else 1e38])


@pytest.mark.parametrize(("begins", "where"), [(0, "the reset"), (2, "step 2")])
def test_an_observation_beyond_float32_is_refused(begins: int, where: str) -> None:
    sampler = Sampler(make_task(Rising, begins=begins, horizon=5), 1, (1, 0, 0))
    with pytest.raises(RunError, match=f"showed inf in {where} of .*; expected observations that"):
        sampler.collect(wandering(0), 5)


class Fading(Ledger):
    """Shows what says nothing once an episode has ended."""

    def step(self, actions: Any) -> Any:
        seen, *others = super().step(actions)
        seen[self.steps > self.lengths] = np.nan
        return seen, *others


def test_rows_of_episodes_that_have_ended_may_show_anything() -> None:
    original, restored = (
        Sampler(Fading([[1.0] * 4, [1.0] * 4], np.array([1, 4])), 2, (1, 0, 0)) for _ in range(2)
    )
    assert len(original.collect(wandering(0), 3).transitions.rewards) == 1 + 3
    restored.set_state(original.get_state())
    for sampler in (original, restored):
        rewards = sampler.collect(wandering(0), 1).transitions.rewards
        np.testing.assert_array_equal(rewards, [[1.0]])


class Signed(gymnasium.Env[Any, Any]):
    """Pays the sign of an action, which 0 does not have, for as many steps as a seed says."""

    observation_space = spaces.Box(-1.0, 1.0, (1,))
    action_space = spaces.Box(-1.0, 1.0, (1,))

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.left = 2 + (seed or 0) % 4
        return np.zeros(1, dtype=np.float32), {}

    def step(self, action: Any) -> Any:
        self.left -= 1
        reward = float(np.sign(action[0])) if action[0] else np.nan
        return np.zeros(1, dtype=np.float32), reward, self.left == 0, False, {}


def test_steps_that_only_put_rows_in_time_may_pay_anything() -> None:
    """A restored sampler begins short episodes late, after steps of zeros that are dropped."""
    original, restored = (Sampler(make_task(Signed, horizon=9), 4, (1, 0, 0)) for _ in range(2))
    original.collect(wandering(0), 4)
    assert len(set(original.get_state()["lengths"].tolist())) > 1
    restored.set_state(original.get_state())
    found = [each.collect(wandering(3), 6).transitions.rewards for each in (original, restored)]
    np.testing.assert_array_equal(found[0], found[1])
