"""The attention of G2ANet: gates, weights, messages, and what they may not depend on."""

from typing import Any

import pytest
import torch
from torch import Tensor

from rolecast.baselines.g2anet.actor import AttentionActor, small_width
from rolecast.baselines.rllib.networks import mlp

AGENTS, OBSERVED, ACTED, ROWS = 4, 5, 2, 60


def actor(agents: int = AGENTS, **options: Any) -> AttentionActor:
    """An actor whose gates are open about half of the time."""
    torch.manual_seed(2)
    net = AttentionActor(agents, OBSERVED, (9, 8), ACTED, **options)
    with torch.no_grad():
        net.gate_output.weight.mul_(4.0)
        net.gate_output.bias.zero_()
        net.gate_output.bias.sub_(net.log_odds(net.encode(observations(agents))).median())
        net.query.weight.mul_(4.0)
    return net


def observations(agents: int = AGENTS) -> Tensor:
    return torch.randn(ROWS, agents, OBSERVED, generator=torch.Generator().manual_seed(5))


def greedy(net: AttentionActor, seen: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return encodings, gates and weights."""
    encoded = net.encode(seen)
    gates = net.gates(net.log_odds(encoded))
    return encoded, gates, net.weights(encoded, gates)


def test_weights_sum_to_one_over_open_gates_and_without_one_the_message_is_zero() -> None:
    net = actor()
    encoded, gates, weights = greedy(net, observations())
    opened = gates.sum(dim=-1)
    assert set(opened.flatten().tolist()) == {0.0, 1.0, 2.0, 3.0}, "the test needs all cases"
    assert torch.equal(weights.sum(dim=-1)[opened == 0.0], torch.zeros(int((opened == 0.0).sum())))
    torch.testing.assert_close(weights.sum(dim=-1), (opened > 0.0).float())
    assert (weights[gates == 0.0] == 0.0).all()
    assert not torch.diagonal(gates, dim1=1, dim2=2).any()
    alone = net.head(torch.cat((encoded, torch.zeros_like(encoded)), dim=-1))
    acted = net(observations())
    assert torch.equal(acted[opened == 0.0], alone[opened == 0.0])
    assert not torch.isclose(acted, alone).all(dim=-1)[opened > 0.0].any()


def test_weights_are_the_softmax_of_scaled_dot_products() -> None:
    net = actor()
    encoded, gates, weights = greedy(net, observations())
    for row in range(ROWS):
        for agent in range(AGENTS):
            behind = torch.nonzero(gates[row, agent])[:, 0]
            query = net.query.weight @ encoded[row, agent]
            keys = encoded[row, behind] @ net.key.weight.T
            wanted = torch.softmax(keys @ query / 4**0.5, dim=0)
            torch.testing.assert_close(weights[row, agent, behind], wanted)


@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_scores_of_any_size_give_finite_weights_and_gradients(shift: float) -> None:
    net = actor()
    with torch.no_grad():
        net.query.weight.add_(shift)
    noise = torch.zeros(ROWS, AGENTS, AGENTS)
    net(observations(), noise).square().sum().backward()
    for name, parameter in net.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name


def test_agents_that_change_places_change_their_actions_with_them() -> None:
    net, seen = actor(), observations()
    order = torch.tensor([2, 0, 3, 1])
    torch.testing.assert_close(net(seen[:, order]), net(seen)[:, order])
    numbered = actor(agent_id=True)
    assert not torch.allclose(numbered(seen[:, order]), numbered(seen)[:, order])


def test_no_encoding_passes_a_shut_gate() -> None:
    """One observation changes so little that no gate does: gates too are computed from it."""
    net, seen = actor().double(), observations().double()
    _, gates, _ = greedy(net, seen)
    heard = 0
    for changed in range(AGENTS):
        other = seen.clone()
        other[:, changed] += 1e-7
        assert torch.equal(greedy(net, other)[1], gates)
        differs = (net(other) != net(seen)).any(dim=-1)
        listens = gates[:, :, changed] > 0.0
        listens[:, changed] = True
        assert torch.equal(differs, listens)
        heard += int(listens.sum())
    assert ROWS * AGENTS < heard < ROWS * AGENTS**2


def test_the_gate_of_a_pair_depends_on_the_agents_beside_it() -> None:
    net, seen = actor(), observations()
    before = net.log_odds(net.encode(seen))
    seen[:, 3] += 1.0
    after = net.log_odds(net.encode(seen))
    assert (before[:, 0, 1] != after[:, 0, 1]).all()


def test_drawn_gates_are_open_with_the_probability_of_their_log_odds() -> None:
    """Two gates, 200,000 draws. False alarm: 1e-6 a gate, 2e-6 a seed.

    A fault of 0.01 in one probability is missed less than once in 100,000 seeds.
    """
    net, count = actor(2), 200_000
    log_odds = torch.tensor([[0.0, -1.5], [0.75, 0.0]])
    uniform = torch.rand(count, 2, 2, generator=torch.Generator().manual_seed(1))
    gates = net.gates(log_odds, torch.logit(uniform, eps=1e-7))
    assert set(gates.flatten().tolist()) == {0.0, 1.0}
    for row, column in ((0, 1), (1, 0)):
        wanted = torch.sigmoid(log_odds[row, column]).item()
        deviation = (wanted * (1.0 - wanted) / count) ** 0.5
        assert abs(gates[:, row, column].mean().item() - wanted) < 4.89 * deviation
    assert torch.equal(net.gates(log_odds), torch.tensor([[0.0, 0.0], [1.0, 0.0]]))


def logistic_noise() -> Tensor:
    uniform = torch.rand(ROWS, AGENTS, AGENTS, generator=torch.Generator().manual_seed(1))
    return torch.logit(uniform)


def test_the_gradient_of_a_gate_is_the_relaxed_gates() -> None:
    net, noise = actor(temperature=0.5), logistic_noise()
    log_odds = net.log_odds(net.encode(observations())).detach().requires_grad_()
    (gradient,) = torch.autograd.grad(net.gates(log_odds, noise).sum(), log_odds)
    relaxed = torch.sigmoid((log_odds.detach() + noise) / 0.5)
    torch.testing.assert_close(gradient, relaxed * (1.0 - relaxed) / 0.5 * net.others)
    for layer in (net.gate_output, net.gate_hidden):
        net.zero_grad()
        net(observations(), noise).square().sum().backward()
        assert layer.weight.grad is not None
        assert layer.weight.grad.abs().sum() > 0.0


def drawn_messages(net: AttentionActor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return encodings, drawn gates, their weights, and gradients for the gates [ROWS, n, n].

    They are those of the messages along a direction that is drawn once.
    """
    encoded = net.encode(observations().double()).detach()
    gates = net.gates(net.log_odds(encoded), logistic_noise()).detach().requires_grad_()
    weights = net.weights(encoded, gates)
    (gradient,) = torch.autograd.grad((weights @ encoded * along(encoded)).sum(), gates)
    return encoded, gates.detach(), weights.detach(), gradient


def along(encoded: Tensor) -> Tensor:
    """Return a direction for each message [ROWS, n, width]."""
    generator = torch.Generator().manual_seed(4)
    return torch.randn(encoded.shape, generator=generator).double()


@pytest.mark.parametrize("other", range(AGENTS))
def test_the_gradient_of_a_shut_gate_is_the_change_of_the_message_when_it_opens(other: int) -> None:
    net = actor().double()
    encoded, gates, weights, gradient = drawn_messages(net)
    opened = gates.clone()
    opened[:, :, other] = 1.0
    change = (net.weights(encoded, opened) - weights) @ encoded
    wanted = (change * along(encoded)).sum(dim=-1)
    shut = gates[:, :, other] == 0.0
    shut[:, other] = False
    lonely = shut & ~gates.any(dim=-1)
    assert 0 < int(lonely.sum()) < int(shut.sum()), "the test needs agents with and without a gate"
    torch.testing.assert_close(gradient[:, :, other][shut], wanted[shut])


def test_the_gradient_of_an_open_gate_is_that_of_the_normalised_weights() -> None:
    """Weights are g_j exp(s_j) / sum over k of g_k exp(s_k); autograd differentiates that too."""
    net = actor().double()
    encoded, gates, weights, gradient = drawn_messages(net)
    scores = net.query(encoded) @ net.key(encoded).transpose(-1, -2) / net.key.out_features**0.5
    free = gates.clone().requires_grad_()
    mass = free * scores.detach().exp()
    normalised = mass / mass.sum(dim=-1, keepdim=True)
    rows = gates.any(dim=-1)
    torch.testing.assert_close(normalised.detach()[rows], weights[rows])
    told = (normalised @ encoded * along(encoded))[rows].sum()
    (wanted,) = torch.autograd.grad(told, free)
    opened = gates > 0.0
    torch.testing.assert_close(gradient[opened], wanted[opened])


def test_greedy_gates_and_gates_drawn_without_luck_give_the_same_actions() -> None:
    net, seen = actor(), observations()
    assert torch.equal(net(seen), net(seen, torch.zeros(ROWS, AGENTS, AGENTS)))


@pytest.mark.parametrize("seed", range(20))
def test_nearly_all_gates_are_open_at_first(seed: int) -> None:
    torch.manual_seed(seed)
    net = AttentionActor(3, 16, (10,), 2)
    gates = net.gates(net.log_odds(net.encode(torch.randn(200, 3, 16))))
    assert gates.sum() >= 0.98 * 200 * 3 * 2


@pytest.mark.parametrize("layer", ["encoder.0", "query", "key", "head"])
def test_all_but_the_gates_have_the_exact_gradient(layer: str) -> None:
    """Central differences in float64 along one direction, with drawn gates.

    Gates are steps; they do not depend on the encoder here.
    """
    net, seen, noise = actor().double(), observations().double(), logistic_noise()
    with torch.no_grad():
        net.gate_output.weight.zero_()
        net.gate_output.bias.zero_()
    weight: Any = net.get_submodule(layer).weight
    direction = torch.randn(weight.shape, generator=torch.Generator().manual_seed(3)).double()
    net(seen, noise).square().sum().backward()
    ends = []
    for step in (1e-6, -2e-6):
        with torch.no_grad():
            weight.add_(step * direction)
            ends.append(net(seen, noise).square().sum().item())
    slope = (ends[0] - ends[1]) / 2e-6
    assert abs(slope) > 1e-3
    assert (weight.grad * direction).sum().item() == pytest.approx(slope, rel=1e-5)


@pytest.mark.parametrize(
    ("inputs", "outputs", "width", "weights"), [(16, 2, 10, 473), (1, 1, 9, 226), (60, 3, 11, 1026)]
)
def test_a_small_actor_has_no_more_weights_than_the_small_perceptron(
    inputs: int, outputs: int, width: int, weights: int
) -> None:
    """478 weights for predator-prey with 16 observations and 2 actions, of which 473 are used."""

    def counted(net: torch.nn.Module) -> int:
        return sum(parameter.numel() for parameter in net.parameters())

    assert small_width(3, inputs, outputs) == width
    assert counted(AttentionActor(3, inputs, (width,), outputs)) == weights
    most = counted(mlp(inputs, (14, 14), outputs))
    assert weights <= most < counted(AttentionActor(3, inputs, (width + 1,), outputs))
