"""Scores of pairs of parameters: zero where they do not interact in the actions."""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
import torch

from rolecast.core.errors import ConfigError
from rolecast.core.types import Float
from rolecast.platform.optimizers.structure.hessians import hessian_scores


@dataclass(frozen=True)
class Space:
    """The part of a parameter space that scores need."""

    half_range: Float


class Ring:
    """Actions in which parameter i meets i + 1 alone: sums of products, times an observation.

    D = 5 parameters; two agents with two actions each see one number.
    """

    def __init__(self, half_range: float = 0.5) -> None:
        self.space = Space(np.full(5, half_range))

    def relaxed_act(self, weights: torch.Tensor, observations: torch.Tensor) -> torch.Tensor:
        seen = observations[..., 0]
        one = torch.tanh(weights[0] * weights[1] * seen) + weights[3] * weights[4]
        other = torch.sin(weights[1] + weights[2] * seen) + weights[0] ** 2 + 3.0 * weights[3]
        return torch.stack([one, other], dim=-1)


EDGES = {(0, 1), (1, 2), (3, 4)}
OFF_GRAPH = [(a, b) for a in range(5) for b in range(a + 1, 5) if (a, b) not in EDGES]


def sample(policies: int, states: int) -> tuple[Float, Float]:
    """Return weights [T, 5] and observations [S, 2, 1]."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(policies, 5)), rng.normal(size=(states, 2, 1))


def component_hessians(policy: Ring, weights: Float, observations: Float) -> Float:
    """Return the Hessian of each component of the actions, [S n da, D, D], one by one."""
    states = torch.as_tensor(observations)
    shape = policy.relaxed_act(torch.as_tensor(weights), states).shape
    ranges = torch.as_tensor(2.0 * policy.space.half_range)
    found = []
    for index in np.ndindex(*shape):

        def component(values: torch.Tensor, index: tuple[int, ...] = index) -> torch.Tensor:
            return policy.relaxed_act(values, states)[index]

        hessian = torch.autograd.functional.hessian(component, torch.as_tensor(weights))  # type: ignore[no-untyped-call]  # torch's own
        found.append((hessian * torch.outer(ranges, ranges)).numpy())
    return np.stack(found)


@pytest.mark.parametrize("score", ["rms", "signed"])
def test_pairs_that_do_not_interact_score_exactly_zero(score: str) -> None:
    """Proposition 1 of the paper, the other way round, for an object that is no policy of ours."""
    weights, observations = sample(6, 12)
    scores = hessian_scores(Ring(), weights, observations, score=score, seed=0)  # type: ignore[arg-type]  # what a score needs
    for pair in OFF_GRAPH:
        assert scores[pair] == 0.0
    for pair in EDGES:
        assert scores[pair] > 0.0
    np.testing.assert_array_equal(scores, scores.T)


def test_signed_scores_average_the_entries() -> None:
    """Over policies and, for each, its share of the states and all components of the actions."""
    weights, observations = sample(3, 6)
    expected = np.mean(
        [
            component_hessians(Ring(), point, share).mean(0)
            for point, share in zip(weights, np.split(observations, 3), strict=True)
        ],
        axis=0,
    )
    scores = hessian_scores(Ring(), weights, observations, score="signed", seed=0)  # type: ignore[arg-type]  # as above
    np.testing.assert_allclose(scores, np.abs(expected), atol=1e-12)


def test_rms_scores_estimate_the_root_mean_square_of_all_entries() -> None:
    """False alarm: 1e-6 for all 15 entries, by Bernstein's inequality, so at most; of 200 draws.

    Of 4 components there are 16 patterns of signs, so mean, variance and range of one estimate
    are known exactly. A score that is wrong by a factor of 2 is always seen.
    """
    weights, observations = sample(1, 1)
    parts = component_hessians(Ring(), weights[0], observations)
    signs = np.array(list(product((-1.0, 1.0), repeat=len(parts))))
    estimates = np.square(np.einsum("pc,cij->pij", signs, parts)) / len(parts)
    exact = np.square(parts).mean(0)
    np.testing.assert_allclose(estimates.mean(0), exact, atol=1e-12)

    share = np.log(2.0 * 15 / 1e-6) / 200
    range_part = np.abs(estimates - exact).max(0) * share / 3.0
    bound = range_part + np.sqrt(range_part**2 + 2.0 * estimates.var(0) * share)
    repeated, states = np.repeat(weights, 200, axis=0), np.tile(observations, (200, 1, 1))
    found = np.square(hessian_scores(Ring(), repeated, states, score="rms", seed=7))  # type: ignore[arg-type]  # as above
    assert (np.abs(found - exact) <= bound + 1e-12).all()
    assert (bound <= exact + 1e-12).all()


def test_a_single_component_needs_no_luck() -> None:
    class One(Ring):
        def relaxed_act(self, weights: torch.Tensor, observations: torch.Tensor) -> torch.Tensor:
            return super().relaxed_act(weights, observations)[:1, :1, :1]

    weights, observations = sample(4, 4)
    hessians = [
        component_hessians(One(), point, state[None])[0]
        for point, state in zip(weights, observations, strict=True)
    ]
    for seed in (0, 1):
        scores = hessian_scores(One(), weights, observations, score="rms", seed=seed)  # type: ignore[arg-type]  # as above
        np.testing.assert_allclose(scores, np.sqrt(np.mean(np.square(hessians), 0)), atol=1e-12)


def test_signed_scores_lose_a_pair_whose_sign_changes() -> None:
    """Why "rms" exists: mirrored weights cancel in the paper's average."""
    weights = np.array([[1.0, 0.7, 0.2, 0.1, 0.4], [-1.0, 0.7, 0.2, 0.1, 0.4]])
    weights = np.concatenate([weights, weights * [1.0, -1.0, 1.0, 1.0, 1.0]])
    observations = np.tile([[[0.8], [0.8]]], (4, 1, 1))

    class Product(Ring):
        def relaxed_act(self, weights: torch.Tensor, observations: torch.Tensor) -> torch.Tensor:
            return (weights[0] * weights[1] ** 2 * observations)[..., :1]

    signed, rms = (
        hessian_scores(Product(), weights, observations, score=score, seed=0)[0, 1]  # type: ignore[arg-type]  # as above
        for score in ("signed", "rms")
    )
    assert signed == pytest.approx(0.0, abs=1e-15)
    assert rms > 0.1


def test_fewer_states_than_policies_are_refused() -> None:
    weights, observations = sample(3, 2)
    with pytest.raises(ConfigError, match="Hessians is 2; expected at least 3, one for each"):
        hessian_scores(Ring(), weights, observations, score="rms", seed=0)  # type: ignore[arg-type]  # as above


def test_scores_are_in_units_of_the_cube() -> None:
    weights, observations = sample(3, 6)
    small, large = (
        hessian_scores(Ring(half_range), weights, observations, score="rms", seed=0)  # type: ignore[arg-type]  # as above
        for half_range in (0.5, 1.5)
    )
    np.testing.assert_allclose(large, 9.0 * small, rtol=1e-12)
