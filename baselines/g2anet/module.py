"""The networks of G2ANet: an attending policy that all agents share, and MADDPG's critics."""

from typing import Final

import torch
from torch import Tensor, nn

from rolecast.baselines.g2anet.actor import AttentionActor, small_width
from rolecast.baselines.g2anet.graph import attention_in_graph
from rolecast.baselines.maddpg.module import MADDPGModule
from rolecast.policies.export.onnx.graph import Graph

PAPER_ENCODER: Final = (64,)
"""Widths of the encoder where those of MADDPG's policy are twice these, its default."""


class G2ANetModule(MADDPGModule):
    """Shared attending policy, one critic an agent, and target copies of all.

    A single agent has nobody to attend to; its policy is MADDPG's.
    """

    @property
    def hidden(self) -> tuple[int, ...]:
        """Widths of the encoder; those of MADDPG's policy for a single agent."""
        widths = super().hidden
        if self.agents == 1 or self.settings["hidden"] is not None:
            return widths
        if self.settings["size"] == "small":
            numbered = self.agents if self.settings["agent_id"] else 0
            return (small_width(self.agents, self.observation_size + numbered, self.action_size),)
        return PAPER_ENCODER if widths == 2 * PAPER_ENCODER else widths

    def build_actor(self) -> nn.Module:
        """Return the network that acts."""
        if self.agents == 1:
            return super().build_actor()
        return AttentionActor(
            self.agents,
            self.observation_size,
            self.hidden,
            self.action_size,
            agent_id=self.settings["agent_id"],
            temperature=self.settings["gate_temperature"],
        )

    def act_by_drawn_gates(self, observations: Tensor, uniform: Tensor) -> Tensor:
        """Return actions [..., n, da] whose gates are drawn and have a gradient.

        Args:
            observations: [..., n, do].
            uniform: [..., n, n], uniform in [0, 1).
        """
        if self.agents == 1:
            return self.act(observations)
        logistic = torch.logit(uniform, eps=torch.finfo(uniform.dtype).eps)
        actions: Tensor = torch.tanh(self.actor(observations, logistic))
        return actions

    def act_in_graph(self, graph: Graph, observations: str) -> str:
        """Add greedy actions [N, n, da] of observations [N, n, do] to an ONNX graph."""
        if isinstance(self.actor, AttentionActor):
            return graph.add("Tanh", attention_in_graph(graph, self.actor, observations))
        return super().act_in_graph(graph, observations)
