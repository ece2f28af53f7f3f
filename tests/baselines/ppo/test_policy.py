"""What a learner has learnt, scored as any policy is: with its normalisation, without its noise."""

from typing import Any

import numpy as np
import torch
from ray.rllib.core import DEFAULT_MODULE_ID

from rolecast.baselines.ppo.config import MAPPOConfig
from rolecast.baselines.rllib.actor_policy import ActorPolicy
from rolecast.baselines.rllib.environments import joint_spaces
from rolecast.envs.registry import make_task
from rolecast.platform.rollout.rollout import rollout


def test_a_rollout_scores_the_network_on_raw_observations() -> None:
    task = make_task("pred_prey_3")
    spaces: Any = {DEFAULT_MODULE_ID: joint_spaces(task.spec)}
    spec = MAPPOConfig().training(size="small").get_multi_rl_module_spec(spaces=spaces)
    torch.manual_seed(0)
    built: Any = spec.build()
    net = built[DEFAULT_MODULE_ID]
    seeds = np.arange(4, dtype=np.uint64)
    observations = task.reset(seeds)
    net.normaliser.see(torch.from_numpy(observations).flatten(0, 1))
    with torch.no_grad():
        net.policy[-1].weight.mul_(200.0)  # bold enough to be clipped

    policy = ActorPolicy("mappo", net)
    assert policy.space.size == 478  # without deviations and critic
    found = rollout(task, policy, policy.weights, seeds)

    acting, returns, bold = net.acting_layers(), np.zeros(4), 0.0
    observations = task.reset(seeds)
    for _ in range(task.spec.horizon):
        with torch.no_grad():
            actions = acting(torch.from_numpy(observations).float()).clamp(-1.0, 1.0).numpy()
        bold = max(bold, float(np.abs(actions).max()))
        observations, rewards, _, _ = task.step(actions.astype(np.float64))
        returns += rewards
    assert bold == 1.0
    np.testing.assert_allclose(found.returns[0], returns, atol=1e-3)
    last = torch.from_numpy(observations).float()
    np.testing.assert_allclose(
        policy.act(policy.weights, observations[None])[0],
        acting(last).clamp(-1.0, 1.0).detach(),
        atol=1e-5,
    )
