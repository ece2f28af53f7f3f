"""The learner against a loss written out by hand, and on a problem whose answer is known."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.utils.metrics import NUM_ENV_STEPS_SAMPLED_LIFETIME
from torch.distributions import Normal

from rolecast.baselines.ppo.learner import PPOLearner, Steps, generalised_advantages

Samples = dict[str, np.ndarray[Any, Any]]
Make = Callable[..., PPOLearner]


def module_of(learner: PPOLearner) -> Any:
    return learner._module[DEFAULT_MODULE_ID].unwrapped()


def weights_of(learner: PPOLearner) -> torch.Tensor:
    return torch.cat([p.detach().flatten() for p in module_of(learner).parameters()])


@pytest.mark.parametrize("centralised", [False, True])
def test_the_loss_is_that_of_the_paper(
    make_learner: Make, samples: Samples, centralised: bool
) -> None:
    """Equation 9 of Schulman et al. 2017, mean over the steps of all agents, written out."""
    learner = make_learner(
        centralised_critic=centralised,
        entropy_coeff=0.03,
        vf_loss_coeff=0.7,
        clip_param=0.1,
        gamma=0.9,
    )
    module, steps = module_of(learner), Steps.of(samples)
    rows = learner.behaviour(module, steps) | learner.estimates(module, steps)
    with torch.no_grad():  # a policy other than the one that acted
        for parameter in module.parameters():
            parameter += 0.05 * torch.randn(parameter.shape)
        found = learner.loss_of({name: row.flatten(0, 1) for name, row in rows.items()})

        values = module.compute_values({"obs": steps.observations})
        new: Any = Normal(module.policy(module.seen(steps.observations)), module.log_std.exp())
        old_means, old_logs = rows["action_dist_inputs"].chunk(2, dim=-1)
        old: Any = Normal(old_means, old_logs.exp())
        actions = steps.actions
        ratio = (new.log_prob(actions) - old.log_prob(actions)).sum(-1).exp()
        advantages = rows["advantages"]
        assert float(advantages.mean()) == pytest.approx(0.0, abs=1e-5)
        assert float(advantages.std(correction=0)) == pytest.approx(1.0, abs=1e-4)
        surrogate = torch.min(ratio * advantages, ratio.clamp(0.9, 1.1) * advantages)
        missed = (values - rows["value_targets"]).square()
        expected = (-surrogate + 0.7 * missed - 0.03 * new.entropy().sum(-1)).mean()
    assert (ratio - 1.0).abs().max() > 0.1
    assert float(found) == pytest.approx(float(expected), rel=1e-5)


def test_estimates_are_advantages_in_the_unit_of_the_return(
    make_learner: Make, samples: Samples
) -> None:
    learner = make_learner(gamma=0.9, lambda_=0.8)
    module, steps = module_of(learner), Steps.of(samples)
    values = module.state_values(steps.observations).detach()
    advantages = generalised_advantages(
        steps.rewards,
        values,
        module.state_values(steps.next_observations).detach(),
        steps.terminated,
        steps.ended,
        gamma=0.9,
        lambda_=0.8,
    )
    rows = learner.estimates(module, steps)
    meant = module.value_scale.from_unit(rows["value_targets"])
    np.testing.assert_allclose(meant, advantages + values, rtol=1e-4, atol=1e-5)


def test_what_waits_for_other_episodes_teaches_nothing(
    make_learner: Make, samples: Samples
) -> None:
    samples["ended"][7, 2], samples["terminated"][7, 2] = True, False
    samples["live"][8:10, 2] = 0.0
    samples["ended"][9, 2] = True
    one, other = make_learner(), make_learner()
    one.learn(samples, {})
    for name in ("observations", "actions", "rewards", "next_observations"):
        samples[name][8:10, 2] = 77.0
    other.learn(samples, {})
    np.testing.assert_array_equal(weights_of(one), weights_of(other))


@pytest.mark.parametrize("centralised", [False, True])
def test_padding_of_smaller_agents_teaches_nothing(
    make_learner: Make, samples: Samples, centralised: bool
) -> None:
    """The first of two agents acts by one number of two."""
    settings = {"own_sizes": (1, 2), "entropy_coeff": 0.03, "centralised_critic": centralised}
    one, other = (make_learner(**settings, use_kl_loss=True) for _ in range(2))
    one.learn(samples, {})
    samples["actions"][:, :, 0, 1] = 3.0
    other.learn(samples, {})
    np.testing.assert_allclose(weights_of(one), weights_of(other), rtol=1e-4, atol=1e-6)
    samples["actions"][:, :, 1, 1] = 3.0
    other.learn(samples, {})
    assert not np.allclose(weights_of(one), weights_of(other), atol=1e-3)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"use_kl_loss": True},
        {"lr": [[0, 3e-3], [200, 1e-5]]},
        {"entropy_coeff": [[0, 0.1], [200, 0.0]]},
    ],
)
def test_a_restored_learner_learns_what_the_original_would_have(
    make_learner: Make, samples: Samples, settings: dict[str, Any]
) -> None:
    original, restored = (make_learner(seed=seed, **settings) for seed in (0, 5))
    original.learn(samples, {NUM_ENV_STEPS_SAMPLED_LIFETIME: 60})
    for _ in range(3):  # it has learned for longer
        restored.learn(samples, {})
    restored.set_state(original.get_state())
    for learner in (original, restored):
        learner.learn(samples, {NUM_ENV_STEPS_SAMPLED_LIFETIME: 120})
    np.testing.assert_array_equal(weights_of(original), weights_of(restored))
    np.testing.assert_array_equal(
        module_of(original).normaliser.variance, module_of(restored).normaliser.variance
    )


def test_a_state_of_before_env_steps_were_kept_is_restored(make_learner: Make) -> None:
    state = make_learner().get_state()
    del state["env_steps"]
    make_learner(seed=5).set_state(state)


def test_gradients_that_are_not_finite_are_an_error(make_learner: Make, samples: Samples) -> None:
    samples["rewards"][3, 3] = np.inf
    with pytest.raises(RuntimeError, match="non-finite"):
        make_learner().learn(samples, {})


def test_agents_learn_the_action_that_pays_where_they_are(make_learner: Make) -> None:
    """Each agent is paid for acting as its own observation says; the mean action is known."""
    learner = make_learner(num_epochs=5, minibatch_size=64, lr=5e-3, gamma=0.0)
    module, rng = module_of(learner), np.random.default_rng(0)

    def wanted(observations: torch.Tensor) -> torch.Tensor:
        return torch.stack([0.5 * observations[..., 0], -0.3 * observations[..., 1]], dim=-1)

    for _ in range(25):
        observations = torch.from_numpy(rng.uniform(-1.0, 1.0, size=(8, 32, 2, 3))).float()
        inputs = module.distribution_inputs(observations).detach()
        means, logs = inputs.chunk(2, dim=-1)
        actions = means + logs.exp() * torch.from_numpy(rng.normal(size=means.shape)).float()
        rewards = -100.0 * (actions - wanted(observations)).square().sum(-1)
        learner.learn(
            {
                "observations": observations.numpy(),
                "actions": actions.numpy(),
                "rewards": rewards.numpy(),
                "next_observations": observations.numpy(),
                "states": np.zeros((8, 32, 0)),
                "next_states": np.zeros((8, 32, 0)),
                "terminated": np.ones((8, 32)),
                "ended": np.ones((8, 32)),
                "live": np.ones((8, 32)),
            },
            {},
        )
    missed = (module.act(observations) - wanted(observations)).abs().mean()
    assert float(missed.detach()) < 0.05
