"""RLlib's PPO loss over arrays of joint steps, with no episode object on the way."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
from ray.rllib.core import COMPONENT_OPTIMIZER, DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.evaluation.postprocessing import Postprocessing
from ray.rllib.utils.metrics import NUM_ENV_STEPS_SAMPLED_LIFETIME
from torch import Tensor, nn

from rolecast.baselines.ppo.module import STATES_COLUMN, PPOModule
from rolecast.baselines.rllib.settings import root_seed


def generalised_advantages(
    rewards: Tensor,
    values: Tensor,
    next_values: Tensor,
    terminated: Tensor,
    ended: Tensor,
    *,
    gamma: float,
    lambda_: float,
) -> Tensor:
    """Return advantages [T, B, n] of T steps, each worth what it led to.

    Args:
        rewards: [T, B, n], paid for each step.
        values: [T, B, n], of the observations that were acted on, in the unit of the return.
        next_values: [T, B, n], of the observations that came of it, before any new episode began.
        terminated: [T, B], 1 where the step ended its episode for good: nothing is to come.
        ended: [T, B], 1 where the next row belongs to another episode, terminated or truncated.
        gamma: discount of a step.
        lambda_: 0 trusts the values alone, 1 the rewards alone.
    Source: Schulman et al. 2016, equation 16. A truncated episode is bootstrapped by the value at
    its last state; so is the last row of all.
    """
    not_terminated = 1.0 - terminated.unsqueeze(-1)
    decay = gamma * lambda_ * (1.0 - ended.unsqueeze(-1))
    # Equation 16: the sum of (gamma lambda)^l delta_{t+l}, delta = r + gamma V(s') - V(s).
    td_errors = rewards + gamma * not_terminated * next_values - values
    advantages = td_errors.clone()
    for step in range(len(rewards) - 2, -1, -1):
        advantages[step] += decay[step] * advantages[step + 1]
    return advantages


def advantage_weights(ended: Tensor, *, gamma: float, lambda_: float) -> Tensor:
    """Return the weights [B, T, T] of each later TD error in each advantage.

    The advantage of step t is `sum over u of weights[b, t, u] * td_error[u]`: the estimate of
    `generalised_advantages`, written as the linear function of the rewards that it is.

    Args:
        ended: [T, B], 1 where the next row belongs to another episode.
        gamma: discount of a step.
        lambda_: as above.
    """
    steps = len(ended)
    weights = ended.new_zeros(ended.shape[1], steps, steps)
    for step in range(steps - 1, -1, -1):
        weights[:, step, step] = 1.0
        if step + 1 < steps:
            decay = gamma * lambda_ * (1.0 - ended[step])
            weights[:, step, step + 1 :] = decay[:, None] * weights[:, step + 1, step + 1 :]
    return weights


MIN_ADVANTAGE_STD: Final = 1e-4
"""Advantages that hardly differ are not blown up; RLlib's own figure."""


@dataclass(frozen=True, kw_only=True)
class Steps:
    """What T steps of B episodes were, as tensors: one batch to learn from."""

    observations: Tensor
    """[T, B, n, do], acted on."""

    actions: Tensor
    """[T, B, n, da], as drawn, before the task clipped them."""

    rewards: Tensor
    """[T, B, n], as paid."""

    next_observations: Tensor
    """[T, B, n, do], that came of it, before any new episode began."""

    states: Tensor
    """[T, B, S], of the world before the step; S is 0 where nobody reads it."""

    next_states: Tensor
    """[T, B, S], after it."""

    terminated: Tensor
    """[T, B], 1 where nothing was to come."""

    ended: Tensor
    """[T, B], 1 where the next row belongs to another episode."""

    live: Tensor
    """[T, B], 1 where an episode ran; 0 where one had ended and waited for the others."""

    @classmethod
    def of(cls, samples: Mapping[str, NDArray[Any]], device: torch.device | str = "cpu") -> "Steps":
        """Read the arrays of a runner, or of several laid side by side along B, to a device."""
        return cls(
            **{
                name: torch.as_tensor(np.asarray(samples[name], dtype=np.float32)).to(device)
                for name in cls.__dataclass_fields__
            }
        )


class PPOLearner(PPOTorchLearner):
    """Learns from `Steps`: estimates advantages itself, then minimises RLlib's PPO loss.

    Policy and critic have an optimiser each. Clipping of the gradient's norm (`grad_clip`) holds
    for each alone, and a critic far off does not slow the policy.
    """

    config: Any
    _module: Any
    _optimizer_parameters: dict[Any, Any]
    _shuffler: np.random.Generator

    def build(self) -> None:
        """Build networks and optimisers, and the generator that shuffles."""
        self._env_steps = 0
        super().build()
        self._shuffler = np.random.default_rng([root_seed(self.config.seed), 1])

    def configure_optimizers_for_module(self, module_id: str, config: Any = None) -> None:
        """Register Adam for the policy and Adam for the critic."""
        module = self._module[module_id].unwrapped()
        for name, parameters in self.parameter_groups(module).items():
            self.register_optimizer(
                module_id=module_id,
                optimizer_name=name,
                optimizer=torch.optim.Adam(parameters, eps=config.adam_epsilon, fused=True),
                params=parameters,
                lr_or_lr_schedule=self.learning_rate(name),
            )

    def learning_rate(self, group: str) -> Any:
        """Return the rate or schedule of a group of parameters."""
        return self.config.lr

    def parameter_groups(self, module: PPOModule) -> dict[str, list[nn.Parameter]]:
        """Return the parameters of each optimiser by its name."""
        return {
            "policy": [*module.policy.parameters(), module.log_std],
            "critic": list(module.critic.parameters()),
        }

    def learn(self, samples: Mapping[str, NDArray[Any]], timesteps: Mapping[str, Any]) -> Any:
        """Run all epochs over one batch.

        Args:
            samples: arrays named as the fields of `Steps`.
            timesteps: NUM_ENV_STEPS_SAMPLED_LIFETIME, by which schedules move.
        Returns:
            RLlib's results of a learner.
        """
        self.before_gradient_based_update(timesteps=dict(timesteps))
        module: PPOModule = self._module[DEFAULT_MODULE_ID].unwrapped()
        steps = Steps.of(samples, self._device)  # type: ignore[arg-type]  # RLlib's is None so far
        seen = steps.observations[steps.live > 0].flatten(0, 1)
        seen_states = steps.states[steps.live > 0]
        first = bool(module.normaliser.count == 0)
        rows = self.behaviour(module, steps)
        if first:
            module.see(seen, seen_states)
        rows |= self.estimates(module, steps)
        self.run_epochs(module, steps, {name: row.flatten(0, 1) for name, row in rows.items()})
        if not first:
            module.see(seen, seen_states)
        self._weights_seq_no += 1
        self._env_steps = int(timesteps.get(NUM_ENV_STEPS_SAMPLED_LIFETIME, 0))
        self.after_gradient_based_update(timesteps=dict(timesteps))
        return self.metrics.reduce()

    @torch.no_grad()
    def behaviour(self, module: PPOModule, steps: Steps) -> dict[str, Tensor]:
        """Return what the actions [T, B, ...] were drawn from: the policy before it learns."""
        inputs = module.distribution_inputs(steps.observations)
        distribution: Any = module.get_exploration_action_dist_cls().from_logits(inputs)
        return {
            Columns.OBS: steps.observations,
            STATES_COLUMN: steps.states,
            Columns.ACTIONS: steps.actions,
            Columns.ACTION_DIST_INPUTS: inputs,
            Columns.ACTION_LOGP: distribution.logp(steps.actions),
        }

    @torch.no_grad()
    def estimates(self, module: PPOModule, steps: Steps) -> dict[str, Tensor]:
        """Return advantages [T, B, n], and value targets in the critic's unit, moved to them."""
        values = module.state_values(steps.observations, steps.states)
        advantages = generalised_advantages(
            steps.rewards,
            values,
            module.state_values(steps.next_observations, steps.next_states),
            steps.terminated,
            steps.ended,
            gamma=self.config.gamma,
            lambda_=self.config.lambda_,
        )
        targets = advantages + values
        live = steps.live > 0
        module.value_scale.see(targets[live], module.critic[-1])
        return {
            Postprocessing.ADVANTAGES: standardised(advantages, advantages[live]),
            Postprocessing.VALUE_TARGETS: module.value_scale.to_unit(targets),
        }

    def run_epochs(self, module: PPOModule, steps: Steps, rows: dict[str, Tensor]) -> None:
        """Take a gradient step for each minibatch of rows [T * B, ...] of each epoch."""
        for indices in self.minibatches(steps):
            minibatch = {name: row[indices] for name, row in rows.items()}
            self.descend(self.loss_of(minibatch))

    def minibatches(self, steps: Steps) -> list[Tensor]:
        """Return the rows of [T * B] of each minibatch of each epoch; all live ones once an epoch.

        A minibatch has `minibatch_size` joint steps, or up to twice that where they do not divide.
        """
        live = np.flatnonzero(steps.live.flatten().cpu().numpy())
        pieces = max(len(live) // (self.config.minibatch_size or len(live)), 1)
        return [
            torch.from_numpy(piece)
            for _ in range(self.config.num_epochs)
            for piece in np.array_split(self._shuffler.permutation(live), pieces)
        ]

    def loss_of(self, minibatch: dict[str, Tensor]) -> Tensor:
        """Return RLlib's PPO loss (Schulman et al. 2017, equation 9, and KL) of rows [M, ...]."""
        batch = {DEFAULT_MODULE_ID: minibatch}
        forward = self._module.forward_train(batch)
        loss: Tensor = self.compute_losses(fwd_out=forward, batch=batch)[DEFAULT_MODULE_ID]
        return loss

    def descend(self, loss: Tensor) -> None:
        """Take one step of all optimisers.

        Raises:
            RuntimeError: a gradient is not finite. RLlib would make it 0 and go on.
        """
        optimizers = list(self._optimizer_parameters.items())
        for optimizer, _ in optimizers:
            optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it so
        for optimizer, parameters in optimizers:
            self.step(optimizer, parameters)

    def step(self, optimizer: torch.optim.Optimizer, parameters: list[nn.Parameter]) -> None:
        """Take one step along the gradients of some parameters, clipped to `grad_clip`."""
        limit = self.config.grad_clip or float("inf")
        nn.utils.clip_grad_norm_(parameters, limit, error_if_nonfinite=True)
        optimizer.step()

    def get_state(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Return RLlib's state, with what it leaves out: shuffler, KL coefficient, env steps."""
        state: dict[str, Any] = super().get_state(*args, **kwargs)
        state["shuffler"] = self._shuffler.bit_generator.state
        state["kl_coeff"] = float(self.curr_kl_coeffs_per_module[DEFAULT_MODULE_ID])
        state["env_steps"] = self._env_steps
        return state

    def set_state(self, state: dict[str, Any]) -> None:
        """Continue from a state of `get_state`, be it behind this one."""
        if COMPONENT_OPTIMIZER in state:
            self._weights_seq_no = 0  # else RLlib keeps weights that are newer
        super().set_state(state)
        if "shuffler" in state:
            self._shuffler.bit_generator.state = state["shuffler"]
            coefficient: Any = self.curr_kl_coeffs_per_module[DEFAULT_MODULE_ID]
            coefficient.data.fill_(state["kl_coeff"])
        if "env_steps" in state:  # the schedule of entropy_coeff is in no state of RLlib's
            self._env_steps = int(state["env_steps"])
            scheduler = self.entropy_coeff_schedulers_per_module[DEFAULT_MODULE_ID]
            scheduler.update(timestep=self._env_steps)


def standardised(advantages: Tensor, among: Tensor) -> Tensor:
    """Return advantages so scaled that `among` would have mean 0 and deviation 1."""
    return (advantages - among.mean()) / among.std(correction=0).clamp(min=MIN_ADVANTAGE_STD)
