"""Running statistics against NumPy's over all rows at once."""

import numpy as np
import pytest
import torch
from torch import nn

from rolecast.baselines.ppo.normaliser import RunningNormaliser, ValueScale


def test_statistics_of_pieces_are_those_of_all_rows() -> None:
    rows = np.random.default_rng(0).normal([3.0, -100.0], [0.5, 20.0], size=(500, 2))
    normaliser = RunningNormaliser(2)
    for piece in np.split(rows, [7, 8, 300]):
        normaliser.see(torch.from_numpy(piece))
    np.testing.assert_allclose(normaliser.mean, rows.mean(axis=0), rtol=1e-5)
    np.testing.assert_allclose(normaliser.std, rows.std(axis=0), rtol=1e-5)


def test_before_the_first_row_nothing_is_changed() -> None:
    rows = torch.tensor([[5.0, -3.0]])
    np.testing.assert_array_equal(RunningNormaliser(2)(rows), rows)


def test_a_number_that_was_constant_is_not_blown_up_when_it_moves() -> None:
    rows = torch.randn((100, 2), generator=torch.Generator().manual_seed(0))
    rows[:, 1] = 3.0
    normaliser = RunningNormaliser(2)
    normaliser.see(rows)
    assert normaliser(torch.tensor([0.0, 3.0]))[1] == 0.0
    assert float(normaliser(torch.tensor([0.0, 4.0]))[1]) == pytest.approx(1.0, rel=1e-3)


def test_a_layer_can_take_the_normalisation_into_its_weights() -> None:
    rows = torch.from_numpy(np.random.default_rng(1).normal(7.0, 3.0, size=(64, 4))).float()
    normaliser, layer = RunningNormaliser(4), nn.Linear(4, 3)
    normaliser.see(rows)
    with torch.no_grad():
        found, expected = normaliser.folded(layer)(rows), layer(normaliser(rows))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_new_targets_do_not_change_what_a_critic_means() -> None:
    rng = np.random.default_rng(2)
    scale, last = ValueScale(0.9), nn.Linear(5, 2)
    inputs = torch.from_numpy(rng.normal(size=(10, 5))).float()
    scale.see(torch.from_numpy(rng.normal(10.0, 4.0, size=200)), last)
    meant = scale.from_unit(last(inputs)).detach()
    scale.see(torch.from_numpy(rng.normal(-300.0, 50.0, size=200)), last)
    after = scale.from_unit(last(inputs)).detach()
    np.testing.assert_allclose(after, meant, rtol=1e-4, atol=1e-3)


def test_first_targets_set_the_unit() -> None:
    targets = torch.tensor([10.0, 14.0, 18.0])
    scale = ValueScale(0.9)
    scale.see(targets, nn.Linear(1, 1))
    units = scale.to_unit(targets)
    assert float(units.mean()) == pytest.approx(0.0, abs=1e-6)
    assert float(units.std(correction=0)) == pytest.approx(1.0, rel=1e-5)
