"""The gradient through the policy's step, against finite differences and against torch's Adam."""

from typing import Any

import numpy as np
import pytest
import torch
from ray.rllib.core import DEFAULT_MODULE_ID
from torch import Tensor, nn
from torch.distributions import Normal

from rolecast.baselines.intrinsic_ppo.config import IntrinsicPPOConfig
from rolecast.baselines.intrinsic_ppo.learner import after_adam_step, clipped_by_norm
from rolecast.baselines.ppo.learner import Steps, advantage_weights, generalised_advantages
from rolecast.baselines.rllib.environments import joint_spaces
from rolecast.envs.spec import TaskSpec

AGENTS, SEEN, ACTS, STEPS, EPISODES = 2, 3, 1, 6, 4
RATE, CLIP, GAMMA, LAMBDA, EPSILON = 0.02, 0.2, 0.9, 0.8, 1e-5


def make_learner(**settings: Any) -> Any:
    config: Any = IntrinsicPPOConfig().debugging(seed=0)
    config.training(
        num_epochs=2,
        minibatch_size=8,
        lr=RATE,
        gamma=GAMMA,
        lambda_=LAMBDA,
        clip_param=CLIP,
        adam_epsilon=EPSILON,
        intrinsic_lr=1e-2,
        hidden=(4,),
        critic_hidden=(4,),
        reward_hidden=(3,),
        initial_log_std=-0.5,
        centralised_critic=True,
    ).training(**settings)
    config.check_settings()
    spec = TaskSpec(id="none", agents=AGENTS, observation_size=SEEN, action_size=ACTS, horizon=9)
    torch.manual_seed(0)
    spaces = {DEFAULT_MODULE_ID: joint_spaces(spec)}
    module = config.get_multi_rl_module_spec(spaces=spaces, inference_only=False)
    learner = config.LEARNER(config=config, module_spec=module)
    learner.build()
    return learner


@pytest.fixture
def samples() -> dict[str, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(2)
    ended = rng.random((STEPS, EPISODES)) < 0.2
    return {
        "observations": rng.normal(size=(STEPS, EPISODES, AGENTS, SEEN)),
        "actions": 0.6 * rng.normal(size=(STEPS, EPISODES, AGENTS, ACTS)),
        "rewards": rng.normal(size=(STEPS, EPISODES, AGENTS)),
        "next_observations": rng.normal(size=(STEPS, EPISODES, AGENTS, SEEN)),
        "states": np.zeros((STEPS, EPISODES, 0)),
        "next_states": np.zeros((STEPS, EPISODES, 0)),
        "terminated": ended,
        "ended": ended,
        "live": np.ones((STEPS, EPISODES)),
    }


def doubled(learner: Any, samples: dict[str, Any]) -> tuple[Any, Steps]:
    """Return module and steps in float64, after a few real steps, so that Adam has moments."""
    learner.learn(samples, {})
    module = learner.module[DEFAULT_MODULE_ID].unwrapped().double()
    for optimizer in learner._optimizer_parameters:
        for state in optimizer.state.values():
            for name in ("exp_avg", "exp_avg_sq"):
                state[name] = state[name].double()
    steps = Steps(**{name: torch.as_tensor(np.asarray(v, float)) for name, v in samples.items()})
    return module, steps


def test_the_meta_gradient_is_that_of_finite_differences(samples: dict[str, Any]) -> None:
    """The reference knows no graph: it takes the policy's step anew for each changed reward.

    Adam's second moment stays at what the unchanged reward made it, as the method has it.
    """
    learner = make_learner(grad_clip=None)
    module, steps = doubled(learner, samples)
    config = learner.config
    rows = learner.behaviour(module, steps) | learner.estimates(module, steps)
    flat = {name: row.flatten(0, 1) for name, row in rows.items()}
    chosen = torch.tensor([0, 3, 5, 8, 11, 14, 17, 20, 21, 23])
    weights = advantage_weights(steps.ended, gamma=GAMMA, lambda_=LAMBDA)
    minibatch = learner.taught(module, steps, flat, weights, chosen)
    found = learner.reward_gradients(module, minibatch, learner.policy_move(module, minibatch))
    count = len(list(module.reward.parameters()))

    policy = [*module.policy.parameters(), module.log_std]
    adam = learner.get_optimizer(DEFAULT_MODULE_ID, "policy").state
    paid = config.extrinsic_coeff * steps.rewards / module.extrinsic_scale.std
    with torch.no_grad():
        nexts = flat["mixed_td_errors"].view_as(paid) - paid + flat["mixed_values"].view_as(paid)
        nexts = nexts / GAMMA  # already 0 where the episode ended for good

    def surrogate(advantages: Tensor, columns: slice | Tensor) -> Tensor:
        observations = steps.observations.flatten(0, 1)[columns]
        actions = steps.actions.flatten(0, 1)[columns]
        new: Any = Normal(module.policy(module.seen(observations)), module.log_std.exp())
        ratio = (new.log_prob(actions).sum(-1) - flat["action_logp"][columns]).exp()
        clipped = ratio.clamp(1 - CLIP, 1 + CLIP)
        earned: Tensor = torch.min(ratio * advantages, clipped * advantages).mean()
        return earned

    def step_gradients() -> list[Tensor]:
        with torch.no_grad():
            own = module.intrinsic_rewards(steps.observations, steps.actions)
            mixed = generalised_advantages(
                paid + own,
                flat["mixed_values"].view_as(paid),
                nexts,
                torch.zeros_like(steps.ended),
                steps.ended,
                gamma=GAMMA,
                lambda_=LAMBDA,
            ).flatten(0, 1)[chosen]
            mixed = (mixed - mixed.mean()) / mixed.std(correction=0)
        return list(torch.autograd.grad(-surrogate(mixed, chosen), policy))

    second = [
        0.999 * adam[p]["exp_avg_sq"] + 0.001 * gradient.square()
        for p, gradient in zip(policy, step_gradients(), strict=True)
    ]

    def earned() -> float:
        """Return the task's objective after the policy's step; the policy is put back."""
        gradients, before = step_gradients(), [p.detach().clone() for p in policy]
        with torch.no_grad():
            for p, gradient, v in zip(policy, gradients, second, strict=True):
                taken = float(adam[p]["step"]) + 1.0
                first = (0.9 * adam[p]["exp_avg"] + 0.1 * gradient) / (1.0 - 0.9**taken)
                p -= RATE * first / ((v / (1.0 - 0.999**taken)).sqrt() + EPSILON)
            value = float(surrogate(flat["extrinsic_advantages"][chosen], chosen))
            for p, old in zip(policy, before, strict=True):
                p.copy_(old)
        return value

    expected = []
    for parameter in module.reward.parameters():
        entries = parameter.data.view(-1)
        for index in range(entries.numel()):
            ends = []
            for change in (1e-5, -1e-5):
                entries[index] += change
                ends.append(earned())
                entries[index] -= change
            expected.append((ends[0] - ends[1]) / 2e-5)
    gradient = -torch.cat([each.flatten() for each in found[:count]])
    assert float(gradient.abs().max()) > 1e-5
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-9)


@pytest.mark.parametrize("before", [0, 3])
def test_the_step_that_is_foreseen_is_the_one_that_is_taken(before: int) -> None:
    torch.manual_seed(0)
    parameters = [nn.Parameter(torch.randn(3, 2)), nn.Parameter(torch.randn(4))]
    optimizer = torch.optim.Adam(parameters, lr=0.1, eps=1e-5)
    for _ in range(before):
        for parameter in parameters:
            parameter.grad = torch.randn_like(parameter)
        optimizer.step()
    gradients = [torch.randn_like(parameter) for parameter in parameters]
    foreseen = after_adam_step(parameters, gradients, optimizer)
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = gradient
    optimizer.step()
    for parameter, moved in zip(parameters, foreseen, strict=True):
        np.testing.assert_allclose(moved.detach(), parameter.detach(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("limit", [0.5, 100.0])
def test_gradients_are_clipped_as_torch_clips_them(limit: float) -> None:
    torch.manual_seed(1)
    parameters = [nn.Parameter(torch.zeros(3, 2)), nn.Parameter(torch.zeros(4))]
    gradients = [torch.randn_like(parameter) for parameter in parameters]
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = gradient.clone()
    nn.utils.clip_grad_norm_(parameters, limit)
    for parameter, clipped in zip(parameters, clipped_by_norm(gradients, limit), strict=True):
        assert parameter.grad is not None
        np.testing.assert_allclose(clipped, parameter.grad, rtol=1e-5)


def test_the_learner_takes_the_step_that_its_reward_was_judged_by(samples: dict[str, Any]) -> None:
    learner = make_learner()
    module, steps = learner.module[DEFAULT_MODULE_ID].unwrapped(), Steps.of(samples)
    learner.learn(samples, {})
    rows = learner.behaviour(module, steps) | learner.estimates(module, steps)
    flat = {name: row.flatten(0, 1) for name, row in rows.items()}
    weights = advantage_weights(steps.ended, gamma=GAMMA, lambda_=LAMBDA)
    minibatch = learner.taught(module, steps, flat, weights, torch.arange(10))
    moved = learner.policy_move(module, minibatch)
    before = [p.detach().clone() for p in module.reward.parameters()]
    learner.step_both(module, learner.taught(module, steps, flat, weights, torch.arange(10)))
    policy = [*module.policy.parameters(), module.log_std]
    for parameter, foreseen in zip(policy, moved, strict=True):
        np.testing.assert_allclose(parameter.detach(), foreseen.detach(), rtol=1e-5, atol=1e-6)
    assert any(
        not torch.equal(old, new)
        for old, new in zip(before, module.reward.parameters(), strict=True)
    )
