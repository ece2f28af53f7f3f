"""The losses of MADDPG."""

from typing import cast

from torch import Tensor

from rolecast.baselines.maddpg.module import AgentCritics, MADDPGModule
from rolecast.baselines.rllib.learner import Tensors
from rolecast.baselines.teams import TeamLearner


class MADDPGLearner(TeamLearner[MADDPGModule]):
    """Every agent has a critic of its own, and follows it while the others act as they did.

    Source: Lowe et al. (2017, equations 5 and 6, algorithm 1).
    """

    def critic_loss(self, batch: Tensors) -> Tensor:
        """Return the sum over agents of each critic's mean squared error."""
        net, following = self.net, batch["next_observations"]
        coming = net.targets["critic"](following, net.act(following, net.targets["actor"]))
        going_on = 1.0 - batch["terminated"].unsqueeze(1)
        target: Tensor = batch["rewards"] + self.config.gamma * going_on * coming.detach()
        value: Tensor = net.critic(batch["observations"], batch["actions"])
        return (value - target).square().mean(dim=0).sum()

    def actor_loss(self, batch: Tensors) -> Tensor:
        """Return minus the mean value of each agent's own choice, plus the penalty on actions."""
        net, observations = self.net, batch["observations"]
        chosen = net.act(observations)
        critics = cast(AgentCritics, net.critic)
        value = critics.of_own_choice(observations, batch["actions"], chosen)
        penalty: Tensor = self.config.action_penalty * chosen.square().mean()
        return penalty - value.mean()
