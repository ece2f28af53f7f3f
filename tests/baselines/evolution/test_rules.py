"""The steps of each strategy: against derivatives of the log density, and by hand on tiny cases."""

import numpy as np
import pytest
import torch

from rolecast.baselines.evolution.ars import Ars, ArsConfig
from rolecast.baselines.evolution.openai_es import OpenAiEs, OpenAiEsConfig
from rolecast.baselines.evolution.pgpe import Pgpe, PgpeConfig, pgpe_gradients
from rolecast.baselines.evolution.snes import Snes, SnesConfig
from rolecast.baselines.evolution.utilities import centered_ranks, nes_utilities
from rolecast.core.types import Float

MEAN = np.array([0.2, 0.5, 0.9])
SIGMA = np.array([0.1, 0.03, 0.2])


def score(draws: Float, utilities: Float) -> tuple[Float, Float]:
    """Differentiate sum(u log N(x; mean, sigma)) in mean and sigma, by autograd."""
    mean = torch.tensor(MEAN, requires_grad=True)
    sigma = torch.tensor(SIGMA, requires_grad=True)
    points = torch.from_numpy(MEAN + SIGMA * draws)
    densities = -torch.log(sigma) - ((points - mean) / sigma).square() / 2.0
    total = (torch.from_numpy(utilities)[:, None] * densities).sum()
    in_mean, in_sigma = torch.autograd.grad(total, (mean, sigma))
    return in_mean.numpy(), in_sigma.numpy()


def mirrored(pairs: int, dimension: int = 3) -> Float:
    """Return draws and their negatives, alternating."""
    draws = np.random.default_rng(pairs).standard_normal((pairs, 1, dimension))
    return np.asarray((draws * np.array([[1.0], [-1.0]])).reshape(2 * pairs, dimension))


def test_snes_follows_the_natural_gradient() -> None:
    """The Fisher matrix is 1 / sigma^2 in the mean and 2 in log sigma, so its inverse is known."""
    rule = Snes(SnesConfig(mean_rate=0.7, spread_rate=0.3), 3)
    rule.load_state_dict({"sigma": SIGMA})
    draws = np.random.default_rng(1).standard_normal((9, 3))
    returns = np.random.default_rng(2).standard_normal(9)
    in_mean, in_sigma = score(draws, nes_utilities(returns))
    moved = rule.step(MEAN, draws, returns)
    np.testing.assert_allclose(moved, MEAN + 0.7 * SIGMA**2 * in_mean, rtol=1e-10)
    in_log = SIGMA * in_sigma / 2.0
    np.testing.assert_allclose(rule.spread, SIGMA * np.exp(0.3 * in_log), rtol=1e-10)


def test_snes_has_its_authors_learning_rate() -> None:
    """In one dimension it is 3 / 5: two draws at 2 and -1, of utilities 0.5 and -0.5."""
    rule = Snes(SnesConfig(radius=0.1), 1)
    rule.step(np.array([0.5]), np.array([[2.0], [-1.0]]), np.array([5.0, 4.0]))
    assert rule.spread[0] == pytest.approx(0.1 * np.exp(0.5 * 0.6 * (0.5 * 3.0 - 0.5 * 0.0)))


def test_the_gradients_of_pgpe_are_those_of_the_log_density() -> None:
    """With mirrored pairs the estimate over pairs is the one over single draws."""
    draws, returns = mirrored(6), np.random.default_rng(3).standard_normal(12)
    utilities = centered_ranks(returns)
    in_mean, in_sigma = score(draws, utilities)
    found = pgpe_gradients(SIGMA, draws, utilities)
    np.testing.assert_allclose(found[0], SIGMA**2 * in_mean / 12, atol=1e-12)
    np.testing.assert_allclose(found[1], SIGMA**2 * in_sigma / 12, atol=1e-12)


def test_pgpe_moves_by_clipup_and_widens_by_its_rate() -> None:
    """One pair along the only axis, of ranks 0.5 and -0.5: uphill is plus, and sigma stays."""
    rule = Pgpe(PgpeConfig(radius=0.3, max_speed=0.1, speed_share=0.5), 1)
    draws = np.array([[2.0], [-2.0]])
    moved = rule.step(np.array([0.5]), draws, np.array([1.0, 0.0]))
    assert moved[0] == pytest.approx(0.5 + 0.5 * 0.1 * 0.3)
    assert rule.spread[0] == pytest.approx(0.3)


def test_pgpe_widens_where_far_pairs_pay_and_never_by_more_than_its_share() -> None:
    """Ranks of the far pair 0.5 and 1/6, of the near one -1/6 and -0.5: means 1/3 and -1/3.

    The gradient is sigma (1/3 (4 - 1) - 1/3 (0.25 - 1)) / 2 = 0.625 sigma.
    """
    draws = np.array([[2.0], [-2.0], [0.5], [-0.5]])
    returns = np.array([4.0, 3.0, 2.0, 1.0])
    found = []
    for rate in (0.1, 10.0):
        rule = Pgpe(PgpeConfig(radius=0.3, spread_rate=rate), 1)
        rule.step(np.array([0.5]), draws, returns)
        found.append(rule.spread[0])
    np.testing.assert_allclose(found, [0.3 * (1.0 + 0.0625), 0.3 * 1.2])


def test_openai_es_steps_by_adam_in_the_units_of_its_authors() -> None:
    """Adam's first step is its size in each coordinate: a hundredth, where noise is 0.02."""
    rule = OpenAiEs(OpenAiEsConfig(radius=0.2 * np.sqrt(2.0), decay=0.0), 2)
    draws = np.array([[1.0, -1.0], [-1.0, 1.0]])
    moved = rule.step(np.array([0.5, 0.4]), draws, np.array([3.0, 2.0]))
    np.testing.assert_allclose(moved, [0.5 + 0.1, 0.4 - 0.1], rtol=1e-6)
    np.testing.assert_allclose(rule.spread, [0.2, 0.2])


def test_the_gradient_of_openai_es_is_less_the_decay_of_the_weights() -> None:
    """Returns all alike leave the decay alone, which pulls every coordinate to the middle."""
    rule = OpenAiEs(OpenAiEsConfig(radius=0.2 * np.sqrt(2.0)), 2)
    moved = rule.step(np.array([0.9, 0.1]), mirrored(3, 2), np.zeros(6))
    np.testing.assert_allclose(moved, [0.8, 0.2], rtol=1e-3)


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (1.0, [(7.0 - 1.0) * 1.0, (2.0 - 4.0) * 3.0]),
        (0.5, [(7.0 - 1.0) * 1.0, 0.0]),
    ],
)
def test_ars_steps_along_its_best_directions(share: float, expected: list[float]) -> None:
    """Returns 7, 1 of the first direction and 2, 4 of the second; the spread of those used."""
    rule = Ars(ArsConfig(radius=0.1 * np.sqrt(2.0), step_size=0.5, top_share=share), 2)
    draws = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 3.0], [0.0, -3.0]])
    moved = rule.step(np.array([0.5, 0.5]), draws, np.array([7.0, 1.0, 2.0, 4.0]))
    used = np.array([7.0, 1.0, 2.0, 4.0][: round(4 * share)])
    step = 0.5 * 0.1 * np.array(expected) / (round(2 * share) * used.std())
    np.testing.assert_allclose(moved, 0.5 + step)
