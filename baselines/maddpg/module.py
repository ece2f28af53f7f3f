"""The networks of MADDPG: a policy that all agents share, and a critic for each."""

from torch import nn

from rolecast.baselines.maddpg.critics import AgentCritics
from rolecast.baselines.rllib.module import JointModule


class MADDPGModule(JointModule):
    """Shared policy, one critic an agent, and slow copies of all."""

    def build_critics(self) -> nn.Module:
        """Return the critics."""
        return AgentCritics(
            self.agents,
            self.observation_size,
            self.action_size,
            self.critic_hidden,
            self.settings["critic_sees"],
        )
