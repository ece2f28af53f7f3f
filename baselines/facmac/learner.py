"""The losses of FACMAC."""

from torch import Tensor

from rolecast.baselines.facmac.module import FACMACModule
from rolecast.baselines.rllib.learner import Tensors
from rolecast.baselines.teams import TeamLearner, team_reward


class FACMACLearner(TeamLearner[FACMACModule]):
    """One value of the joint action, which all agents climb together.

    Source: Peng et al. (2021, equations 6 and 7).
    """

    def critic_loss(self, batch: Tensors) -> Tensor:
        """Return the mean squared error of the joint value."""
        net, following = self.net, batch["next_observations"]
        coming = net.targets["critic"](following, net.act(following, net.targets["actor"]))
        going_on = 1.0 - batch["terminated"]
        target: Tensor = team_reward(batch) + self.config.gamma * going_on * coming.detach()
        value: Tensor = net.critic(batch["observations"], batch["actions"])
        return (value - target).square().mean()

    def actor_loss(self, batch: Tensors) -> Tensor:
        """Return minus the mean value of what all agents choose now, plus the penalty."""
        net, observations = self.net, batch["observations"]
        chosen = net.act(observations)
        joint: Tensor = net.critic(observations, chosen)
        penalty: Tensor = self.config.action_penalty * chosen.square().mean()
        return penalty - joint.mean()
