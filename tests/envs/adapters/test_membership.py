"""Teams with agents that are opposed: whose reward counts, and who acts for the others."""

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from mpe2 import simple_tag_v3
from pettingzoo import ParallelEnv

from rolecast.core.errors import ConfigError, RequestError
from rolecast.core.patience import Patience
from rolecast.envs.adapters.membership import membership
from rolecast.envs.opposition import opposed_agents
from rolecast.envs.registry import make_task
from rolecast.envs.rewards.task import under_patience

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
        assert task.agent_rewards[0, 3] == 0.0


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


class Pair(ParallelEnv):  # type: ignore[misc]  # PettingZoo has no types
    """The hunter ends in its third step; the prey goes on, and is paid what is no number."""

    metadata = {"name": "pair"}  # noqa: RUF012 - the interface's own form
    possible_agents = ["hunter", "prey"]  # noqa: RUF012 - the interface's own form

    def __init__(self, way: str) -> None:
        self.way, self.steps = way, 0

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return spaces.Box(-1.0, 1.0, (1,))

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return spaces.Box(-1.0, 1.0, (1,))

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.agents, self.steps = list(self.possible_agents), 0
        return {agent: np.zeros(1) for agent in self.agents}, {}

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


def test_no_episode_fails_because_of_a_reward_that_does_not_count() -> None:
    task: Any = make_task(Pair, way="terminated", team="hunter", horizon=9)
    patience = Patience(forgives=True)
    with under_patience(task, patience):
        task.reset(np.zeros(1, dtype=np.uint64))
        rewards = [task.step(np.zeros((1, 2, 1)))[1].item() for _ in range(4)]
    assert rewards == [1.0, 1.0, 1.0, 0.0]
    assert patience.failures == []
