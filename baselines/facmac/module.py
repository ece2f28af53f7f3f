"""The networks of FACMAC: a policy that all agents share, and the factored critic."""

from torch import nn

from rolecast.baselines.facmac.critic import FactoredCritic
from rolecast.baselines.rllib.module import JointModule


class FACMACModule(JointModule):
    """Shared policy, factored critic, and slow copies of both."""

    def build_critics(self) -> nn.Module:
        """Return the critic."""
        return FactoredCritic(
            self.agents,
            self.observation_size,
            self.action_size,
            self.critic_hidden,
            mixer=self.settings["mixer"],
            embedding=self.settings["mixing_embedding"],
            hypernet=self.settings["mixing_hypernet"],
        )
