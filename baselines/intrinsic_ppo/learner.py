"""PPO on a mixed reward, and the learned part of it moved to what makes PPO's step earn more."""

from collections.abc import Sequence
from typing import Any

import torch
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.evaluation.postprocessing import Postprocessing
from torch import Tensor, nn
from torch.optim import Adam

from rolecast.baselines.intrinsic_ppo.module import IntrinsicPPOModule
from rolecast.baselines.ppo.learner import (
    PPOLearner,
    Steps,
    advantage_weights,
    generalised_advantages,
    standardised,
)
from rolecast.baselines.ppo.module import STATES_COLUMN, PPOModule


def after_adam_step(
    parameters: Sequence[nn.Parameter], gradients: Sequence[Tensor], optimizer: Adam
) -> list[Tensor]:
    """Return the parameters as `optimizer.step()` would leave them, differentiable in gradients.

    Args:
        parameters: of the optimiser's only group, in its order.
        gradients: of these, with the graph that made them; already clipped.
        optimizer: Adam without weight decay or AMSGrad; it is not changed.
    Returns:
        As many tensors of the same shapes.
    Source: Zheng et al. 2018, whose published code holds the second moment fixed: in it the
    gradient counts as a constant. With it moving, the first step would be the gradient's sign,
    through which no gradient passes.
    """
    (group,) = optimizer.param_groups
    beta1, beta2 = group["betas"]
    moved = []
    for parameter, gradient in zip(parameters, gradients, strict=True):
        state = optimizer.state.get(parameter, {})
        taken = float(state["step"]) + 1.0 if state else 1.0
        first, second = state.get("exp_avg", 0.0), state.get("exp_avg_sq", 0.0)
        first = beta1 * first + (1.0 - beta1) * gradient
        second = beta2 * second + (1.0 - beta2) * gradient.detach().square()
        scale = (second / (1.0 - beta2**taken)).sqrt() + group["eps"]
        moved.append(parameter - group["lr"] * (first / (1.0 - beta1**taken)) / scale)
    return moved


def clipped_by_norm(gradients: Sequence[Tensor], limit: float) -> list[Tensor]:
    """Return gradients scaled so that their norm together is at most `limit`, differentiably."""
    norm = torch.stack([gradient.square().sum() for gradient in gradients]).sum().sqrt()
    scale = (limit / (norm + 1e-6)).clamp(max=1.0)
    return [gradient * scale for gradient in gradients]


def clipped_surrogate(
    log_probabilities: Tensor, old_log_probabilities: Tensor, advantages: Tensor, clip: float
) -> Tensor:
    """Return the objective of PPO to be raised, a mean over all rows.

    Source: Schulman et al. 2017, equation 7.
    """
    # Equation 7: E[min(r A, clip(r, 1 - epsilon, 1 + epsilon) A)].
    ratio = (log_probabilities - old_log_probabilities).exp()
    return torch.min(ratio * advantages, ratio.clamp(1.0 - clip, 1.0 + clip) * advantages).mean()


EXTRINSIC_ADVANTAGES = "extrinsic_advantages"
EXTRINSIC_TARGETS = "extrinsic_targets"
MIXED_TD_ERRORS = "mixed_td_errors"
MIXED_VALUES = "mixed_values"


class IntrinsicPPOLearner(PPOLearner):
    """Algorithm 1 of Zheng et al. 2018, in every minibatch.

    The policy takes PPO's step on the mixed reward. The learned reward then follows the gradient of
    the task's own objective at the new policy, on the same rows.
    """

    def parameter_groups(self, module: PPOModule) -> dict[str, list[nn.Parameter]]:
        """Return the groups of PPO, and the learned reward with its critic."""
        assert isinstance(module, IntrinsicPPOModule)
        own = [*module.reward.parameters(), *module.extrinsic_critic.parameters()]
        return {**super().parameter_groups(module), "intrinsic": own}

    def learning_rate(self, group: str) -> Any:
        """Return the rate or schedule of a group of parameters."""
        return self.config.intrinsic_lr if group == "intrinsic" else super().learning_rate(group)

    @torch.no_grad()
    def estimates(self, module: PPOModule, steps: Steps) -> dict[str, Tensor]:
        """Return, [T, B, n], all of the estimates that the learned reward does not change."""
        assert isinstance(module, IntrinsicPPOModule)
        config = self.config
        discounts = {"gamma": config.gamma, "lambda_": config.lambda_}
        ends = (steps.terminated, steps.ended)
        values = module.extrinsic_values(steps.observations, steps.states)
        next_values = module.extrinsic_values(steps.next_observations, steps.next_states)
        advantages = generalised_advantages(steps.rewards, values, next_values, *ends, **discounts)
        targets = advantages + values
        live = steps.live > 0
        module.extrinsic_scale.see(targets[live], module.extrinsic_critic[-1])

        paid = config.extrinsic_coeff * steps.rewards / module.extrinsic_scale.std.float()
        mixed = module.state_values(steps.observations, steps.states)
        mixed_next_values = module.state_values(steps.next_observations, steps.next_states)
        not_terminated = 1.0 - steps.terminated.unsqueeze(-1)
        own = config.intrinsic_coeff * module.intrinsic_rewards(steps.observations, steps.actions)
        mixed_targets = mixed + generalised_advantages(
            paid + own, mixed, mixed_next_values, *ends, **discounts
        )
        module.value_scale.see(mixed_targets[live], module.critic[-1])
        return {
            EXTRINSIC_ADVANTAGES: standardised(advantages, advantages[live]),
            EXTRINSIC_TARGETS: module.extrinsic_scale.to_unit(targets),
            MIXED_TD_ERRORS: paid + config.gamma * not_terminated * mixed_next_values - mixed,
            MIXED_VALUES: mixed,
        }

    def run_epochs(self, module: PPOModule, steps: Steps, rows: dict[str, Tensor]) -> None:
        """Step policy and reward for each minibatch of rows [T * B, ...] of each epoch."""
        assert isinstance(module, IntrinsicPPOModule)
        config = self.config
        weights = advantage_weights(steps.ended, gamma=config.gamma, lambda_=config.lambda_)
        for indices in self.minibatches(steps):
            self.step_both(module, self.taught(module, steps, rows, weights, indices))

    def taught(
        self,
        module: IntrinsicPPOModule,
        steps: Steps,
        rows: dict[str, Tensor],
        weights: Tensor,
        indices: Tensor,
    ) -> dict[str, Tensor]:
        """Return some rows with the advantages of the mixed reward, as a function of its net.

        Args:
            module: the networks.
            steps: all steps, as the advantage of one depends on rewards after it.
            rows: of `behaviour` and `estimates`, [T * B, ...].
            weights: [B, T, T], of `advantage_weights`.
            indices: [M], of the rows.
        """
        own = module.intrinsic_rewards(steps.observations, steps.actions)
        paid = rows[MIXED_TD_ERRORS].view_as(steps.rewards)
        # GAE (Schulman et al. 2016, equation 16) of the mixed reward, linear in its intrinsic part.
        td_errors = (paid + self.config.intrinsic_coeff * own).transpose(0, 1)
        advantages = (weights @ td_errors).transpose(0, 1).flatten(0, 1)[indices]
        minibatch = {name: row[indices] for name, row in rows.items()}
        targets = advantages.detach() + minibatch[MIXED_VALUES]
        return minibatch | {
            Postprocessing.ADVANTAGES: standardised(advantages, advantages),
            Postprocessing.VALUE_TARGETS: module.value_scale.to_unit(targets),
        }

    def step_both(self, module: IntrinsicPPOModule, minibatch: dict[str, Tensor]) -> None:
        """Step the reward by its effect on the policy's step, then take the policy's step.

        Args:
            module: the networks.
            minibatch: rows [M, ...]; the advantages carry the graph of the learned reward.
        """
        own = self.reward_gradients(module, minibatch, self.policy_move(module, minibatch))
        for name, parameters in self.parameter_groups(module).items():
            if name == "intrinsic":
                for parameter, gradient in zip(parameters, own, strict=True):
                    parameter.grad = gradient
            self.step(self.get_optimizer(DEFAULT_MODULE_ID, name), parameters)

    def policy_move(self, module: IntrinsicPPOModule, minibatch: dict[str, Tensor]) -> list[Tensor]:
        """Return the policy's parameters after PPO's step on the mixed reward, as a function of it.

        The gradients of policy and critic are left in their `grad`.
        """
        groups = self.parameter_groups(module)
        policy, critic = groups["policy"], groups["critic"]
        loss = self.loss_of(minibatch)
        gradients = torch.autograd.grad(loss, [*policy, *critic], create_graph=True)
        for parameter, gradient in zip([*policy, *critic], gradients, strict=True):
            parameter.grad = gradient.detach()
        moves = list(gradients[: len(policy)])
        if self.config.grad_clip:
            moves = clipped_by_norm(moves, self.config.grad_clip)
        adam: Any = self.get_optimizer(DEFAULT_MODULE_ID, "policy")
        return after_adam_step(policy, moves, adam)

    def reward_gradients(
        self, module: IntrinsicPPOModule, minibatch: dict[str, Tensor], moved: list[Tensor]
    ) -> tuple[Tensor, ...]:
        """Return the gradients of the reward's loss and its critic's, in the optimiser's order.

        Args:
            module: the networks.
            minibatch: rows [M, ...].
            moved: the policy's parameters after its step, with the graph of the learned reward.
        """
        config = self.config
        inputs = module.moved_distribution_inputs(moved, minibatch[Columns.OBS])
        distribution: Any = module.get_train_action_dist_cls().from_logits(inputs)
        objective = clipped_surrogate(
            distribution.logp(minibatch[Columns.ACTIONS]),
            minibatch[Columns.ACTION_LOGP],
            minibatch[EXTRINSIC_ADVANTAGES],
            config.clip_param,
        )
        outputs = module.extrinsic_outputs(minibatch[Columns.OBS], minibatch[STATES_COLUMN])
        value_loss = (outputs - minibatch[EXTRINSIC_TARGETS]).square().mean()
        # Zheng et al. 2018, algorithm 1: the gradient of the extrinsic objective at the new policy.
        loss = config.vf_loss_coeff * value_loss - objective
        return torch.autograd.grad(loss, self.parameter_groups(module)["intrinsic"])
