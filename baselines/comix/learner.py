"""The loss of COMIX and COVDN."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from rolecast.baselines.comix.module import COMIXModule
from rolecast.baselines.rllib.learner import Tensors
from rolecast.baselines.teams import TeamLearner, team_reward


class COMIXLearner(TeamLearner[COMIXModule]):
    """Q-learning of the mixed value; each agent's best action is looked for in its utility.

    Source: COMIX, Peng et al. (2020, arXiv 2003.06709v1); QMIX, Rashid et al. (2018).
    """

    def parameter_groups(self) -> dict[str, tuple[Sequence[nn.Parameter], float]]:
        """Return utility and mixer as one group."""
        net = self.net
        both = [*net.actor.parameters(), *net.critic.parameters()]
        return {"critic": (both, self.config.critic_lr)}

    def critic_loss(self, batch: Tensors) -> Tensor:
        """Return the mean squared error of the mixed value."""
        net, following = self.net, batch["next_observations"]
        utility, mixer = net.targets["actor"], net.targets["critic"]
        with torch.no_grad():
            numbers = net.search.draw(net.action_size, self.generator).to(following.device)
            best = net.act(following, utility, numbers)
            coming = net.value(following, best, utility, mixer)
        going_on = 1.0 - batch["terminated"]
        target: Tensor = team_reward(batch) + self.config.gamma * going_on * coming
        value: Tensor = net.value(batch["observations"], batch["actions"])
        return (value - target).square().mean()
