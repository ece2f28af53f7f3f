"""The policy of G2ANet: each agent attends to what the others observe, through gates that it opens.

Source: Liu et al. (2020), "Multi-agent game abstraction via graph attention neural network", in
the sections on hard and on soft attention. Differs: no recurrent unit in the encoder, as policies
here have no memory.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import sqrt
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional

from rolecast.baselines.rllib.networks import mlp, policy_widths
from rolecast.baselines.rllib.team_actor import AgentNumbers

SHUT_SCORE: Final = -1e9
"""Score of an agent behind a shut gate: below all scores, and finite."""

OPEN_LOG_ODDS: Final = 2.0
"""Bias of the gates when training starts: each is open with a probability near 0.88.

Agents act by the likelier state of a gate, so that at first nearly all gates are open. With a bias
near 0 the seed decides, and a whole team may start with all gates shut.
"""


class AttentionActor(nn.Module):
    """One network for all agents, which reads what all observe: [..., n, do] to [..., n, da].

    An observation is encoded to h_i. Hard attention opens or shuts a gate for each ordered pair of
    agents. Soft attention weighs the encodings behind open gates; their sum is the message x_i. The
    action is linear in h_i and x_i.

    Differs: a gate is a perceptron of h_i, h_j and the mean of all h but h_i, in place of a
    bidirectional LSTM over the pairs of agent i. An LSTM depends on the order of agents, and has
    more weights than the whole small policy. Weights are normalised over open gates alone, so that
    no encoding passes a shut gate; the gate is computed from both agents and the mean of the
    others. Gates start open, see `OPEN_LOG_ODDS`. The values are the encodings themselves, as in
    the paper's equations.
    """

    others: Tensor
    """[n, n], 1 where two agents differ."""

    def __init__(
        self,
        agents: int,
        observation_size: int,
        hidden: Sequence[int],
        action_size: int,
        *,
        agent_id: bool = False,
        temperature: float = 1.0,
    ) -> None:
        """Draw the weights.

        Args:
            agents: n >= 2.
            observation_size: do.
            hidden: widths of the encoder; queries, keys and gates are half as wide as the last.
            action_size: da.
            agent_id: whether the encoder reads which agent it encodes for.
            temperature: of the Gumbel softmax, above 0; near 0 the relaxed gate is nearly a step.
        """
        super().__init__()
        width, half = hidden[-1], _half(hidden[-1])
        inputs = observation_size + (agents if agent_id else 0)
        self.temperature = temperature
        self.numbers: nn.Module = AgentNumbers(agents) if agent_id else nn.Identity()
        self.encoder = nn.Sequential(*mlp(inputs, hidden[:-1], width), nn.ReLU(inplace=True))
        self.query = nn.Linear(width, half, bias=False)
        self.key = nn.Linear(width, half, bias=False)
        self.gate_hidden = nn.Linear(3 * width, half)
        self.gate_output = nn.Linear(half, 1)
        nn.init.constant_(self.gate_output.bias, OPEN_LOG_ODDS)
        self.head = nn.Linear(2 * width, action_size)
        self.register_buffer("others", 1.0 - torch.eye(agents), persistent=False)

    def forward(self, observations: Tensor, gate_noise: Tensor | None = None) -> Tensor:
        """Return [..., n, da] for observations [..., n, do], before the tanh.

        Args:
            observations: [..., n, do].
            gate_noise: [..., n, n], logistic, for gates that are drawn; None for the likelier state
                of each gate.
        """
        encoded = self.encode(observations)
        weights = self.weights(encoded, self.gates(self.log_odds(encoded), gate_noise))
        messages = weights @ encoded  # x_i = sum over j of w_ij h_j
        actions: Tensor = self.head(torch.cat((encoded, messages), dim=-1))
        return actions

    def encode(self, observations: Tensor) -> Tensor:
        """Return h [..., n, width] of observations [..., n, do]."""
        encoded: Tensor = self.encoder(self.numbers(observations))
        return encoded

    def log_odds(self, encoded: Tensor) -> Tensor:
        """Return [..., n, n], log-odds that the gate of agent i (row) to agent j is open.

        They are the difference of the paper's two logits. Its Gumbel softmax depends on no more.
        """
        own, other, rest = self.gate_hidden.weight.chunk(3, dim=1)
        mean_of_others = (self.others @ encoded) / (len(self.others) - 1)
        of_row = functional.linear(encoded, own, self.gate_hidden.bias)
        of_row = of_row + functional.linear(mean_of_others, rest)
        of_column = functional.linear(encoded, other)
        hidden = torch.relu(of_row.unsqueeze(-2) + of_column.unsqueeze(-3))
        log_odds: Tensor = self.gate_output(hidden).squeeze(-1)
        return log_odds

    def gates(self, log_odds: Tensor, noise: Tensor | None = None) -> Tensor:
        """Return [..., n, n], 1 for an open gate and 0 for a shut one; none to an agent itself.

        The gradient is that of the Gumbel softmax: the straight-through estimator of Jang, Gu and
        Poole (2017). The difference of two Gumbel variables is logistic.

        Args:
            log_odds: [..., n, n].
            noise: [..., n, n], logistic; None for the likelier state, which has no gradient.
        """
        drawn = log_odds if noise is None else log_odds + noise
        hard = (drawn > 0.0).to(log_odds.dtype)
        if noise is not None:
            relaxed = torch.sigmoid(drawn / self.temperature)
            hard = hard + (relaxed - relaxed.detach())
        return hard * self.others

    def weights(self, encoded: Tensor, gates: Tensor) -> Tensor:
        """Return attention weights [..., n, n] of agent i (row) on agent j.

        They sum to 1 over the open gates of an agent, and are all 0 where none is open.

        The gradient of message x_i for gate j is w_j (h_j - x_i): a gate that opens takes weight
        from the others. For a shut gate w_j is the weight that j would have, and the gradient is
        the exact change of x_i when the gate opens. For the only open gate it is 0; such a gate
        learns from draws that shut it.

        Args:
            encoded: [..., n, width].
            gates: [..., n, n], 0 or 1.
        """
        queries, keys = self.query(encoded), self.key(encoded)
        scores = queries @ keys.transpose(-1, -2) / sqrt(keys.shape[-1])
        opened = gates.detach() > 0.0
        masked = scores.masked_fill(~opened, SHUT_SCORE)
        weights = torch.softmax(masked, dim=-1) * opened
        if not gates.requires_grad:
            return weights
        held, log_total = weights.detach(), masked.detach().logsumexp(dim=-1, keepdim=True)
        would_be = torch.where(opened, held, torch.sigmoid(scores.detach() - log_total))
        change = (gates - gates.detach()) * would_be  # 0, and has the gradient of the gates
        return weights + change - held * change.sum(dim=-1, keepdim=True)


def small_width(agents: int, inputs: int, outputs: int) -> int:
    """Return the width of the encoder that makes a policy as large as the small ones of a team.

    It is the greatest for which the policy has no more weights than the shared 14-14 perceptron.

    Args:
        agents: n >= 2.
        inputs: numbers that the encoder takes.
        outputs: da.
    """
    widths = (inputs, *policy_widths("small", agents, ()), outputs)
    most = sum((fan_in + 1) * fan_out for fan_in, fan_out in pairwise(widths))
    width = 1
    while _weights(inputs, width + 1, outputs) <= most:
        width += 1
    return width


def _weights(inputs: int, width: int, outputs: int) -> int:
    """Return how many weights an actor with an encoder of one layer has."""
    half = _half(width)
    encoder, head = (inputs + 1) * width, (2 * width + 1) * outputs
    return encoder + 2 * width * half + (3 * width + 1) * half + half + 1 + head


def _half(width: int) -> int:
    """Return the width of queries, keys and gates."""
    return max(1, width // 2)
