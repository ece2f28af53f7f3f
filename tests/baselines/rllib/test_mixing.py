"""Mixers: what they compute, and which of them never fall when a utility rises."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from rolecast.baselines.rllib.mixing import MIXER_NAMES, StateMixer, make_mixer
from rolecast.core.errors import RequestError


def slopes(mixer: nn.Module, *, agents: int, state_size: int) -> Tensor:
    """Return d value / d utility [B, n] at many random utilities and states."""
    generator = torch.Generator().manual_seed(3)
    utilities = 5 * torch.randn((2000, agents), generator=generator)
    utilities.requires_grad_()
    state = 3 * torch.randn((2000, state_size), generator=generator)
    (gradient,) = torch.autograd.grad(mixer(utilities, state).sum(), utilities)
    return gradient


def mixer_of(name: str, *, hypernet: int = 8) -> nn.Module:
    torch.manual_seed(11)
    return make_mixer(name, agents=3, state_size=5, embedding=16, hypernet=hypernet)


@pytest.mark.parametrize("hypernet", [0, 8])
def test_the_monotonic_mixer_never_falls_when_a_utility_rises(hypernet: int) -> None:
    assert slopes(mixer_of("monotonic", hypernet=hypernet), agents=3, state_size=5).min() >= 0


@pytest.mark.parametrize("hypernet", [0, 8])
def test_the_nonmonotonic_mixer_falls_for_every_agent_somewhere(hypernet: int) -> None:
    gradient = slopes(mixer_of("nonmonotonic", hypernet=hypernet), agents=3, state_size=5)
    assert (gradient.min(dim=0).values < 0).all()
    assert (gradient.max(dim=0).values > 0).all()


def test_the_sum_does_not_look_at_the_state() -> None:
    utilities = torch.tensor([[1.0, 2.0, -4.0]])
    assert mixer_of("sum")(utilities, torch.randn(1, 5)).item() == -1.0


def test_a_state_mixer_computes_its_formula() -> None:
    """Two agents, two hidden units, weights set by hand; numbers worked out with numpy."""
    mixer = StateMixer(2, 1, embedding=2, hypernet=0, monotonic=True)
    # Rows: W1 by agent, then w2, b1, and the hidden layer of v.
    reads = [1.0, -2.0, 0.5, 0.0, -1.0, 2.0, 0.0, 1.0, 1.0, 1.0]
    offsets = [0.0, 0.0, 0.0, -1.0, 0.0, 1.0, 0.5, 0.0, 1.0, 1.0]
    with torch.no_grad():
        mixer.reader.weight.copy_(torch.tensor(reads)[:, None])
        mixer.reader.bias.copy_(torch.tensor(offsets))
        mixer.value.weight.fill_(1.0)
        mixer.value.bias.fill_(1.0)
    # State 2: W1 = |[[2, -4], [1, -1]]|, b1 = [0.5, 2], w2 = |[-2, 5]|; u = [1, -3].
    hidden = np.array([1 * 2 - 3 * 1 + 0.5, 1 * 4 - 3 * 1 + 2])
    elu = np.where(hidden > 0, hidden, np.exp(hidden) - 1)
    state_value = 1 + 2 * max(2 * 1 + 1, 0)
    expected = elu @ np.array([2.0, 5.0]) + state_value
    found = mixer(torch.tensor([[1.0, -3.0]]), torch.tensor([[2.0]]))
    np.testing.assert_allclose(found.detach().numpy(), [expected], rtol=1e-6)


@pytest.mark.parametrize("name", MIXER_NAMES)
def test_a_value_depends_on_its_own_row_alone(name: str) -> None:
    mixer = mixer_of(name)
    utilities, state = torch.randn(7, 3), torch.randn(7, 5)
    alone = mixer(utilities[2:3], state[2:3])
    together = mixer(utilities, state)[2:3]
    np.testing.assert_allclose(together.detach(), alone.detach(), rtol=1e-5)


def test_an_unknown_mixer_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(RequestError, match=r"mixer 'monotone' does not exist.*'monotonic'"):
        make_mixer("monotone", agents=2, state_size=1, embedding=4, hypernet=0)


def test_a_mixer_of_no_width_is_refused() -> None:
    with pytest.raises(RequestError, match=r"StateMixer\.embedding is 0; expected an integer >= 1"):
        make_mixer("monotonic", agents=2, state_size=1, embedding=0, hypernet=0)
