"""The networks of PPO, with a learned reward and a critic of the task's own reward."""

import torch
from torch import Tensor
from torch.func import functional_call

from rolecast.baselines.ppo.module import PPOModule, tanh_layers
from rolecast.baselines.ppo.normaliser import ValueScale


class IntrinsicPPOModule(PPOModule):
    """`critic` values the training reward, a mixture; `extrinsic_critic` what the task pays.

    Settings, besides those of `PPOModule`: `reward_hidden`.
    """

    def setup(self) -> None:
        """Build the networks."""
        super().setup()
        seen, acts = self.observation_space.shape[1], self.action_space.shape[1]
        settings = self.model_config
        self.reward = tanh_layers([seen + acts, *(settings["reward_hidden"] or (64, 64)), 1], 1.0)
        self.extrinsic_critic = self.new_critic()
        self.extrinsic_scale = ValueScale(float(settings["value_decay"]))

    def get_non_inference_attributes(self) -> list[str]:
        """Return what the runners have no use for."""
        own = ["reward", "extrinsic_critic", "extrinsic_scale"]
        return [*super().get_non_inference_attributes(), *own]

    def intrinsic_rewards(self, observations: Tensor, actions: Tensor) -> Tensor:
        """Return rewards [..., n] in (-1, 1) of what each agent saw [..., n, do] and did."""
        inputs = torch.cat([self.seen(observations), actions], dim=-1)
        return torch.tanh(self.reward(inputs).squeeze(-1))

    def extrinsic_outputs(self, observations: Tensor, states: Tensor | None = None) -> Tensor:
        """Return values [..., n] of the task's own reward, in the critic's unit."""
        return self.outputs_of(self.extrinsic_critic, observations, states)

    def extrinsic_values(self, observations: Tensor, states: Tensor | None = None) -> Tensor:
        """Return values [..., n] of the task's own reward, in the unit of the return."""
        return self.extrinsic_scale.from_unit(self.extrinsic_outputs(observations, states))

    def moved_distribution_inputs(self, moved: list[Tensor], observations: Tensor) -> Tensor:
        """Return what `distribution_inputs` would with other parameters of the policy.

        Args:
            moved: as the learner's group "policy": the network's parameters, then `log_std`.
            observations: [..., do].
        """
        *layers, log_std = moved
        names = [name for name, _ in self.policy.named_parameters()]
        parameters = dict(zip(names, layers, strict=True))
        means: Tensor = functional_call(self.policy, parameters, (self.seen(observations),))
        return torch.cat([means, log_std.expand_as(means)], dim=-1)
