"""The loss of COMIX and COVDN."""

import torch
from torch import Tensor
from torch.nn import functional

from rolecast.baselines.comix.module import COMIXModule
from rolecast.baselines.rllib.learner import Tensors
from rolecast.baselines.teams import ValueLearner


class COMIXLearner(ValueLearner[COMIXModule]):
    """Q-learning of the mixed value; each agent's action is the best that a search finds.

    Source: COMIX, Peng et al. (2020, arXiv 2003.06709v1); QMIX, Rashid et al. (2018).
    """

    def critic_loss(self, batch: Tensors) -> Tensor:
        """Return the mean squared TD error of the mixed value."""
        net, next_obs = self.net, batch["next_observations"]
        utility, mixer = net.targets["actor"], net.targets["critic"]
        with torch.no_grad():
            noise = net.search.draw(net.action_size, self.generator).to(next_obs.device)
            # COMIX, section 3: each agent's argmax by the cross-entropy method.
            best_actions = net.act(next_obs, utility, noise)
            next_state = net.state_of(batch, "next_")
            next_value = net.value(next_obs, best_actions, next_state, utility, mixer)
        value: Tensor = net.value(batch["observations"], batch["actions"], net.state_of(batch))
        # QMIX, equation 6: the squared error of Q_tot against r + gamma max Q'_tot.
        return functional.mse_loss(value, self.bellman_target(batch, next_value))
