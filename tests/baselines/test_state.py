"""Centralised critics and mixers read the task's state where it has one, and nothing else does."""

from typing import Any, Final

import numpy as np
import pytest
import torch

from rolecast.baselines.ppo.config import MAPPOConfig, PPOConfig
from rolecast.baselines.ppo.sampler import StepsSampler
from rolecast.baselines.registry import algorithm_config
from rolecast.baselines.rllib.sampler import Sampler
from rolecast.core.types import Float32
from rolecast.envs.registry import make_task
from tests.baselines.conftest import make_batch, make_learner, settings_it_has, tensors

TEAMS: Final = ("comix", "facmac", "maddpg")
STATE_SIZE: Final = 4
OWN_JOINTS: Final = "ma_hopper_3x1?obs=own"
SPREAD: Final = "pettingzoo:mpe2.simple_spread_v3?N=2&continuous_actions=true"


def learner(name: str, **settings: Any) -> Any:
    nets = settings_it_has(name, hidden=(6,), critic_hidden=(5,))
    config = algorithm_config(name)().training(**nets, **settings)
    return make_learner(config, 3, 3, 2, state=STATE_SIZE)


def at_rest(observations: Float32, memory: Float32) -> Float32:
    return np.broadcast_to(np.linspace(-0.6, 0.9, memory.shape[2], dtype=np.float32), memory.shape)


@pytest.mark.parametrize("name", TEAMS)
@pytest.mark.parametrize("column", ["states", "next_states"])
def test_the_loss_of_the_critic_depends_on_the_state(name: str, column: str) -> None:
    one = learner(name, tau=1.0)
    batch = tensors(make_batch(9, 3, 3, 2, state=STATE_SIZE))
    one.update_fast([make_batch(9, 3, 3, 2, state=STATE_SIZE)] * 20)

    def loss(changed: dict[str, torch.Tensor]) -> float:
        one.generator.manual_seed(1)
        return float(one.critic_loss(batch | changed).detach())

    assert loss({}) == loss({})
    assert loss({column: batch[column] + 1.0}) != loss({})


def test_the_critics_of_maddpg_read_the_state_in_place_of_the_observations() -> None:
    net = learner("maddpg").net
    batch = tensors(make_batch(9, 3, 3, 2, state=STATE_SIZE))
    assert net.state_size == STATE_SIZE
    values = net.critic(batch["observations"], batch["actions"], net.state_of(batch))
    others = net.critic(batch["observations"] + 1.0, batch["actions"], net.state_of(batch))
    torch.testing.assert_close(values, others, rtol=0, atol=0)


def test_without_a_state_all_observations_are_read_end_to_end() -> None:
    net = make_learner(algorithm_config("facmac")().training(hidden=(6,)), 3, 3, 2).net
    batch = tensors(make_batch(9, 3, 3, 2))
    torch.testing.assert_close(net.state_of(batch), batch["observations"].flatten(1))
    torch.testing.assert_close(
        net.state_of(batch, "next_"), batch["next_observations"].flatten(1), rtol=0, atol=0
    )


def test_the_state_of_a_divided_robot_is_what_the_whole_one_observes() -> None:
    """Step by step: the hopper of three agents against the hopper of one."""
    divided, whole = make_task(OWN_JOINTS), make_task("hopper")
    seeds = np.array([3, 4], dtype=np.uint64)
    divided.reset(seeds)
    seen = whole.reset(seeds)
    state: Any = divided
    for _ in range(5):
        assert state.state().shape == (2, state.state_size)
        np.testing.assert_array_equal(state.state(), seen[:, 0])
        actions = np.array([[0.4, -0.3, 0.9], [0.1, 0.2, -0.6]])
        divided.step(actions[:, :, None])
        seen = whole.step(actions[:, None, :])[0]


@pytest.mark.parametrize("task", [OWN_JOINTS, f"{OWN_JOINTS}&sparse=4", SPREAD])
def test_transitions_have_the_state_before_and_after_each_step(task: str) -> None:
    """What follows a step is what precedes the next, but where an episode begins anew."""
    fragment = Sampler(make_task(task), 2, (1, 0), states=True).collect(at_rest, 40)
    told = fragment.transitions
    rows = slice(0, None, 2)
    before, after = told.states[rows], told.next_states[rows]
    assert before.shape[1] > 4
    same = (before[1:] == after[:-1]).all(axis=1)
    seen_same = (told.observations[rows][1:] == told.next_observations[rows][:-1]).all(axis=(1, 2))
    np.testing.assert_array_equal(same, seen_same)
    assert same.any()
    assert not same.all()
    assert (before != after).any()


def test_a_sampler_that_nobody_asks_for_states_keeps_none() -> None:
    fragment = Sampler(make_task(OWN_JOINTS), 2, (1, 0)).collect(at_rest, 3)
    assert fragment.transitions.states.shape == (6, 0)


@pytest.mark.parametrize("task", ["pred_prey_3", "gym:Pendulum-v1"])
def test_a_task_without_a_state_gives_none(task: str) -> None:
    fragment = Sampler(make_task(task), 2, (1, 0), states=True).collect(at_rest, 3)
    assert fragment.transitions.next_states.shape == (6, 0)


def test_the_critic_of_mappo_reads_the_state() -> None:
    config: Any = MAPPOConfig().training(size="small", critic_hidden=(5,), minibatch_size=8)
    one = make_learner(config, 3, 3, 2, state=STATE_SIZE)
    task: Any = make_task(OWN_JOINTS)
    recorded = StepsSampler(task, 2, (1, 0), states=True).record(at_rest, 8).samples
    assert recorded["states"].shape == (8, 2, task.state_size)
    rng = np.random.default_rng(3)
    samples: dict[str, Any] = {
        "observations": rng.normal(size=(8, 2, 3, 3)),
        "actions": rng.normal(size=(8, 2, 3, 2)),
        "rewards": rng.normal(size=(8, 2, 3)),
        "next_observations": rng.normal(size=(8, 2, 3, 3)),
        "states": rng.normal(5.0, 2.0, size=(8, 2, STATE_SIZE)),
        "next_states": rng.normal(5.0, 2.0, size=(8, 2, STATE_SIZE)),
        "terminated": np.zeros((8, 2)),
        "ended": np.zeros((8, 2)),
        "live": np.ones((8, 2)),
    }
    one.learn(samples, {})
    module = one.module["default_policy"].unwrapped()
    seen, states = (torch.from_numpy(samples[name]).float() for name in ("observations", "states"))
    values = module.state_values(seen, states)
    assert values.shape == (8, 2, 3)
    torch.testing.assert_close(module.state_values(seen + 1.0, states), values, rtol=0, atol=0)
    assert (module.state_values(seen, states + 1.0) != values).any()
    expected = torch.from_numpy(samples["states"]).float().flatten(0, 1).mean(dim=0)
    torch.testing.assert_close(module.state_normaliser.mean, expected)


def test_only_a_critic_of_all_agents_asks_for_the_state() -> None:
    assert MAPPOConfig().reads_state
    assert not PPOConfig().reads_state
    assert not algorithm_config("sac")().reads_state
    assert not algorithm_config("facmac")().training(use_state=False).reads_state
