"""Teams with agents that are opposed: whose reward counts, and who acts for the others."""

from typing import Any

import numpy as np
import pytest
from gymnasium.spaces import Box
from mpe2 import simple_tag_v3

from rolecast.core.errors import ConfigError, RequestError, RunError
from rolecast.core.patience import Patience
from rolecast.envs.adapters.membership import membership, seeded_spaces
from rolecast.envs.opposition import FIRST_PROBED, opposed_agents, opposition_remark
from rolecast.envs.registry import make_task
from rolecast.envs.rewards.task import under_patience
from tests.envs.adapters.plain_team import PlainTeam

TAG = "pettingzoo:mpe2.simple_tag_v3?continuous_actions=true"
AGENTS = ("adversary_0", "adversary_1", "adversary_2", "agent_0")


def test_only_the_reward_of_the_chosen_team_counts() -> None:
    actions = np.random.default_rng(0).uniform(-1.0, 1.0, (25, 1, 4, 5))
    task: Any = make_task(f"{TAG}&team=adversary")
    env = simple_tag_v3.parallel_env(continuous_actions=True)
    env.reset(seed=3)
    task.reset(np.array([3], dtype=np.uint64))
    for joint in actions:
        acts = {
            a: ((1.0 + row) / 2.0).astype(np.float32)
            for a, row in zip(AGENTS, joint[0], strict=True)
        }
        _, rewards, *_ = env.step(acts)
        _, paid, *_ = task.step(joint)
        assert paid[0] == sum(rewards[agent] for agent in AGENTS[:3])
        own = [rewards[agent] for agent in AGENTS[:3]]
        assert task.agent_rewards[0].tolist() == [*own, paid[0]]  # the prey serves the team


def test_others_at_random_are_no_agents_of_the_policy_and_follow_from_the_seed() -> None:
    task: Any = make_task(f"{TAG}&team=adversary&others=random")
    assert task.agent_names == list(AGENTS[:3])
    assert task.spec.agents == 3
    still = np.zeros((2, 3, 5))
    shown = []
    for _ in range(2):
        task.reset(np.array([5, 6], dtype=np.uint64))
        shown.append(np.array([task.step(still)[0] for _ in range(10)]))
    np.testing.assert_array_equal(shown[0], shown[1])
    moved = shown[0][-1] - shown[0][0]
    assert np.abs(moved).max() > 0.01  # the agents of the policy stand still; the prey does not


def test_random_agents_draw_from_no_stream_of_the_environment_nor_of_one_another() -> None:
    """Over 64 episodes: what places the team, the actions of both, and those of the next seed."""
    rows = []
    for seed in range(64):
        spaces = {name: Box(-1.0, 1.0, (2,), np.float64) for name in ("a", "b")}
        drawn = [space.sample() for space in seeded_spaces(spaces, seed).values()]
        start = np.random.Generator(np.random.PCG64(seed)).uniform(-1.0, 1.0, 2)
        rows.append(np.concatenate([start, *drawn]))
    told = np.array(rows)
    shifted = np.concatenate([told[:-1], told[1:, 2:4]], axis=1)
    correlation = np.abs(np.corrcoef(shifted.T) - np.eye(8))
    assert correlation.max() < 0.5  # 4 standard errors


@pytest.mark.parametrize(
    ("team", "paid"),
    [
        (None, AGENTS),
        ("agent_0", AGENTS[3:]),
        ("adversary", AGENTS[:3]),
        ("adversary_2,adversary_0", (AGENTS[0], AGENTS[2])),
        (["agent"], AGENTS[3:]),
    ],
)
def test_a_team_is_named_by_agents_or_by_their_kind(team: Any, paid: tuple[str, ...]) -> None:
    assert membership(AGENTS, team, "policy", "tag").paid == paid
    assert membership(AGENTS, team, "policy", "tag").acting == AGENTS
    assert membership(AGENTS, team, "random", "tag").acting == paid


def test_names_and_ways_that_do_not_exist_are_refused() -> None:
    with pytest.raises(RequestError, match="did you mean 'adversary"):
        membership(AGENTS, "adversry", "policy", "tag")
    with pytest.raises(ConfigError, match="expected 'policy' or 'random'"):
        membership(AGENTS, None, "idle", "tag")
    with pytest.raises(ConfigError, match="names of agents"):
        membership(AGENTS, 3, "policy", "tag")


@pytest.mark.parametrize(
    ("task", "found"),
    [
        (TAG, ("adversary_0", "agent_0")),
        (f"{TAG}&sparse=2", ("adversary_0", "agent_0")),
        (f"{TAG}&team=adversary", None),
        ("pettingzoo:mpe2.simple_spread_v3?N=2", None),
        ("gym:CartPole-v1", None),
    ],
)
def test_opposed_rewards_are_found(task: str, found: tuple[str, str] | None) -> None:
    assert opposed_agents(make_task(task)) == found


class Pair(PlainTeam):
    """The hunter ends in its third step; the prey goes on, and is paid what is no number."""

    metadata = {"name": "pair"}  # noqa: RUF012 - the interface's own form
    possible_agents = ["hunter", "prey"]  # noqa: RUF012 - the interface's own form

    def __init__(self, way: str) -> None:
        self.way, self.steps = way, 0

    def step(self, actions: dict[str, Any]) -> Any:
        self.steps += 1
        acted, no_one = self.agents, dict.fromkeys(self.agents, False)
        ended = no_one | {"hunter": self.steps == 3}
        rewards = {agent: np.nan if agent == "prey" else 1.0 for agent in acted}
        self.agents = [agent for agent in acted if not ended[agent]]
        ends = (ended, no_one) if self.way == "terminated" else (no_one, ended)
        return {agent: np.zeros(1) for agent in acted}, rewards, *ends, {}


@pytest.mark.parametrize("way", ["terminated", "truncated"])
def test_a_team_ends_as_its_own_agents_do(way: str) -> None:
    task: Any = make_task(Pair, way=way, team="hunter", others="random", horizon=9)
    task.reset(np.zeros(1, dtype=np.uint64))
    done = [task.step(np.zeros((1, 1, 1)))[2].item() for _ in range(3)]
    assert done == [False, False, True]
    assert task.terminated.tolist() == [way == "terminated"]


class Guards(Pair):
    """Agents take turns: one stands in even steps, the other in odd ones; over after six."""

    possible_agents = ["day", "night"]  # noqa: RUF012 - the interface's own form

    def __init__(self, way: str = "truncated", names: Any = ("day", "night")) -> None:
        super().__init__(way)
        self.possible_agents = list(names)
        self.acted: list[list[str]] = []

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.steps, self.agents = 0, [self.possible_agents[0]]
        return {agent: np.ones(1) for agent in self.agents}, {}

    def step(self, actions: dict[str, Any]) -> Any:
        self.acted.append(list(actions))
        self.steps += 1
        rewards = dict.fromkeys(actions, 1.0)
        over, no_one = (dict.fromkeys(actions, value) for value in (self.steps == 6, False))
        self.agents = [] if self.steps == 6 else [self.possible_agents[self.steps % 2]]
        ends = (over, no_one) if self.way == "terminated" else (no_one, over)
        return {agent: np.ones(1) for agent in self.agents}, rewards, *ends, {}


@pytest.mark.parametrize("way", ["terminated", "truncated"])
@pytest.mark.parametrize("team", ["day", "night"])
def test_an_episode_goes_on_while_the_team_is_away(team: str, way: str) -> None:
    env = Guards(way)
    task: Any = make_task(lambda: env, team=team, others="random", horizon=9)
    shown = [task.reset(np.zeros(1, dtype=np.uint64)).item()]
    steps = [task.step(np.zeros((1, 1, 1))) for _ in range(7)]
    assert [done.item() for _, _, done, _ in steps] == [False] * 5 + [True] * 2
    assert sum(reward.item() for _, reward, _, _ in steps) == 3.0
    shown += [seen.item() for seen, *_ in steps[:5]]
    assert shown == [float(step % 2 == (team == "night")) for step in range(6)]
    assert env.acted == [["day"], ["night"]] * 3
    assert task.terminated.tolist() == [way == "terminated"]


def test_an_agent_that_was_not_declared_is_named() -> None:
    class Newborn(Guards):
        def step(self, actions: dict[str, Any]) -> Any:
            result = super().step(actions)
            if self.steps == 2:
                self.agents = [*self.agents, "heir"]
            return result

    task: Any = make_task(Newborn, horizon=9)
    task.reset(np.zeros(1, dtype=np.uint64))
    task.step(np.zeros((1, 2, 1)))
    with pytest.raises(RunError, match=r"an agent 'heir' in step 2 .* possible_agents alone"):
        task.step(np.zeros((1, 2, 1)))


def test_agents_may_be_named_by_integers() -> None:
    task: Any = make_task(lambda: Guards(names=(0, 1)), team="1", others="random", horizon=9)
    assert task.agent_names == [1]
    everyone: Any = [0, 1]
    paid: Any = membership(everyone, [0], "policy", "numbers").paid
    assert paid == (0,)
    assert opposition_remark(make_task(lambda: Guards(names=(0, 1)), horizon=9)) is None


class Duel(Pair):
    """Two agents named by integers, of whom one loses what the other wins."""

    def __init__(self) -> None:
        super().__init__("truncated")
        self.possible_agents = [0, 1]  # type: ignore[list-item]

    def step(self, actions: dict[str, Any]) -> Any:
        seen, _, _, _, infos = super().step(actions)
        no_one = dict.fromkeys(self.agents, False)
        return seen, {0: 1.0, 1: -1.0}, no_one, no_one, infos


def test_what_is_clear_after_few_episodes_needs_no_more_environments() -> None:
    made: list[Duel] = []

    def make() -> Duel:
        made.append(Duel())
        return made[-1]

    found: Any = opposed_agents(make_task(make, horizon=9))
    assert found == (0, 1)
    assert len(made) == FIRST_PROBED


def test_opposed_agents_that_are_integers_are_told() -> None:
    remark = opposition_remark(make_task(Duel, horizon=9))
    assert remark is not None
    assert "rewards of 0 and 1 are opposed" in remark
    assert "?team=0 " in remark


def test_no_episode_fails_because_of_a_reward_that_does_not_count() -> None:
    task: Any = make_task(Pair, way="terminated", team="hunter", horizon=9)
    patience = Patience(forgives=True)
    with under_patience(task, patience):
        task.reset(np.zeros(1, dtype=np.uint64))
        rewards = [task.step(np.zeros((1, 2, 1)))[1].item() for _ in range(4)]
    assert rewards == [1.0, 1.0, 1.0, 0.0]
    assert patience.failures == []
