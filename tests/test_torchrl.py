"""Tasks of TorchRL here, and ours there: the same episodes on both sides."""

from typing import Any

import numpy as np
import pytest
from gymnasium.spaces import Discrete
from pettingzoo.test import parallel_api_test

pytest.importorskip("torchrl", reason="needs TorchRL: pip install torchrl")

from torchrl.data import Categorical, OneHot, Unbounded
from torchrl.envs import PettingZooWrapper
from torchrl.envs.utils import check_env_specs

import rolecast
from rolecast.core.errors import RequestError
from rolecast.torchrl import TorchRLParallelEnv, space_of

pytestmark = pytest.mark.filterwarnings("ignore:PettingZoo in TorchRL is tested:UserWarning")


def theirs() -> Any:
    """Return our task as an environment of TorchRL."""
    return PettingZooWrapper(rolecast.make_env("pred_prey_3"))


def test_our_task_is_an_environment_of_torchrl() -> None:
    env = theirs()
    check_env_specs(env)
    assert env.rollout(5)["next", "agent", "reward"].shape == (5, 3, 1)


def test_their_environment_is_one_of_pettingzoo() -> None:
    parallel_api_test(TorchRLParallelEnv(theirs()), num_cycles=30)


def test_an_episode_is_the_same_there_and_back() -> None:
    back, direct = TorchRLParallelEnv(theirs()), rolecast.make_env("pred_prey_3")
    seen, _ = back.reset(seed=3)
    direct.reset(seed=3)
    expected, _ = direct.reset()  # TorchRL's seed begins an episode, and `reset` the next
    random = np.random.default_rng(0)
    while direct.agents:
        for agent in expected:
            np.testing.assert_allclose(seen[agent], expected[agent], rtol=1e-6)
        actions = {agent: random.uniform(-1, 1, 2) for agent in direct.agents}
        seen, rewards, *ends, _ = back.step(actions)
        expected, paid, *ended, _ = direct.step(actions)
        assert rewards == pytest.approx(paid, rel=1e-6)
        assert ends == ended
    assert back.agents == []


def test_a_search_takes_their_environment(tmp_path: Any) -> None:
    found = rolecast.search(
        lambda: TorchRLParallelEnv(theirs()),
        policy="mlp",
        optimizer="local_gp",
        evaluations=12,
        episodes=2,
        batch_size=6,
        test_episodes=4,
        workers=0,
        out=tmp_path / "run",
    )
    assert np.isfinite(found.test_return)


def test_a_scenario_of_vmas_is_a_task() -> None:
    """In a batch of one, as VMAS has it."""
    pytest.importorskip("vmas", reason="needs VMAS: pip install vmas")
    from torchrl.envs.libs.vmas import VmasEnv

    made = VmasEnv("navigation", num_envs=1, n_agents=2, max_steps=20)
    env = TorchRLParallelEnv(made)
    first, _ = env.reset(seed=5)
    seen, rewards, *_ = env.step({agent: np.zeros(2, np.float32) for agent in env.agents})
    again, _ = env.reset(seed=5)
    for agent in env.possible_agents:
        assert env.observation_space(agent).contains(seen[agent])
        np.testing.assert_array_equal(first[agent], again[agent])
    assert set(rewards) == set(made.group_map["agents"])
    with pytest.raises(RequestError, match=r"a batch of \[3\]; expected one"):
        TorchRLParallelEnv(VmasEnv("navigation", num_envs=3, n_agents=2))


def test_spaces_are_those_of_one_agent() -> None:
    assert space_of(OneHot(5, shape=(3, 5))) == Discrete(5)
    assert space_of(Categorical(4, shape=(3,))) == Discrete(4)
    assert space_of(Unbounded(shape=(3, 7))).shape == (7,)


def test_what_cannot_be_taken_is_one_sentence() -> None:
    with pytest.raises(RequestError, match="group is 'prey'; expected one of"):
        TorchRLParallelEnv(theirs(), group="prey")
    with pytest.raises(RequestError, match="a Categorical of shape"):
        space_of(Categorical(4, shape=(3, 2)))
