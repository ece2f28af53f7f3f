"""Teams with agents that are opposed: whose reward counts, and who acts for the others."""

from typing import Any

import numpy as np
import pytest
from mpe2 import simple_tag_v3

from rolecast.core.errors import ConfigError, RequestError
from rolecast.envs.adapters.membership import membership
from rolecast.envs.opposition import opposed_agents
from rolecast.envs.registry import make_task

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
