from typing import Any

import numpy as np
import torch

from rolecast.baselines.registry import algorithm_config
from rolecast.baselines.rllib.actor_policy import ActorPolicy
from rolecast.envs.registry import make_task
from rolecast.envs.spec import BatchedTask
from rolecast.platform.rollout.rollout import rollout
from tests.baselines.conftest import make_learner


def trained(task: BatchedTask, name: str = "td3") -> tuple[ActorPolicy, torch.nn.Module]:
    spec = task.spec
    config = algorithm_config(name)().training(hidden=(6, 5), critic_hidden=(4,))
    net = make_learner(config, spec.agents, spec.observation_size, spec.action_size).net
    return ActorPolicy(name, net, {"hidden": [6, 5]}), net


def test_it_acts_as_the_module_does_with_the_modules_weights() -> None:
    policy, net = trained(make_task("pred_prey_3"))
    assert policy.space.size == 16 * 6 + 6 + 6 * 5 + 5 + 5 * 2 + 2
    seen = np.random.default_rng(0).standard_normal((1, 7, 3, 16))
    with torch.no_grad():
        own = net.act(torch.from_numpy(seen[0].astype(np.float32))).numpy()  # type: ignore[operator]
    np.testing.assert_allclose(policy.act(policy.weights, seen)[0], own, rtol=1e-6)


def test_it_keeps_its_weights_when_the_module_learns_on() -> None:
    policy, net = trained(make_task("pred_prey_3"))
    seen = np.ones((1, 2, 3, 16))
    before = policy.act(policy.weights, seen)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.add_(1.0)
    np.testing.assert_array_equal(policy.act(policy.weights, seen), before)


def test_lanes_of_several_candidates_act_each_by_its_own_weights() -> None:
    policy, _ = trained(make_task("pred_prey_3"))
    rng = np.random.default_rng(1)
    weights = np.concatenate([policy.weights, policy.weights + 0.3])
    held = rng.integers(0, 2, (2, 16))
    lane_weights = weights.astype(np.float32)[held].transpose(0, 2, 1)
    seen: Any = rng.standard_normal((2, 3, 16, 16)).astype(np.float32)
    actions = np.zeros((2, 3, 2, 16), dtype=np.float32)
    lanes = policy.lanes()
    for _ in range(2):  # the second call knows the groups
        lanes.act(np.ascontiguousarray(lane_weights), seen, actions)
    for block, lane in np.ndindex(2, 16):
        alone = policy.act(weights[held[block, lane], None], seen[None, block, None, :, :, lane])
        np.testing.assert_allclose(actions[block, ..., lane], alone[0, 0], rtol=1e-5, atol=1e-6)


def test_lanes_on_several_threads_fill_nets_of_their_own() -> None:
    """Playing puts a candidate's weights into a net."""
    policy, _ = trained(make_task("pred_prey_3"))
    nets = [each._acting for each in (policy, policy.lanes()._policy, policy.lanes()._policy)]
    numbers = [parameter for net in nets for parameter in net.parameters()]
    assert len(set(map(id, numbers))) == len(numbers)


def test_a_rollout_scores_it_as_playing_it_by_hand_does() -> None:
    task = make_task("gym:Pendulum-v1?horizon=20&sparse=3")
    policy, net = trained(task, "sac")
    result = rollout(task, policy, policy.weights, [3, 4])
    seen, earned = task.reset(np.array([3, 4], dtype=np.uint64)), np.zeros(2)
    for _ in range(20):
        with torch.no_grad():
            acts = net.act(torch.from_numpy(seen.astype(np.float32)))  # type: ignore[operator]
        seen, _, _, metrics = task.step(acts.numpy().astype(np.float64))
        earned += metrics["raw_reward"]
    np.testing.assert_allclose(result.returns[0], earned, rtol=1e-5)
    assert result.env_steps == 40
