"""The losses of G2ANet: those of MADDPG, for a policy whose gates are drawn while it learns."""

from typing import cast

import torch
from torch import Tensor

from rolecast.baselines.g2anet.module import G2ANetModule
from rolecast.baselines.maddpg.learner import MADDPGLearner


class G2ANetLearner(MADDPGLearner):
    """MADDPG whose policy's loss draws the gates of its attention.

    What follows, in the target of the critics, is done by the likelier gates, as in an episode.

    Source: Liu et al. (2020). Differs: the paper learns by policy gradients on the actions taken;
    here the critics' gradient passes through action, attention and gates.
    """

    def policy_actions(self, obs: Tensor) -> Tensor:
        """Return the policy's actions [N, n, da], whose gates the learner's generator draws."""
        net = cast(G2ANetModule, self.net)
        shape = (*obs.shape[:-1], net.agents)
        uniform = torch.rand(shape, generator=self.generator)
        return net.act_by_drawn_gates(obs, uniform.to(obs.device))
