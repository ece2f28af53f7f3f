"""When the cloud of a local search narrows, and when it widens again."""

from dataclasses import replace

import numpy as np
import pytest

from rolecast.platform.optimizers.local_gp.trust_region import (
    POLICY_DEFAULTS,
    TrustRegion,
    black_box_defaults,
)

DIMENSION = 8
REACH = replace(black_box_defaults(DIMENSION, "progress"), radius=1.0, final_radius=0.01)


def cloud() -> TrustRegion:
    return TrustRegion(REACH, evaluations=1, dimension=DIMENSION)


@pytest.mark.parametrize(("budget", "radius"), [(1000, 0.134), (4000, 0.134), (8000, 0.164)])
def test_a_policys_small_budget_is_the_beginning_of_a_schedule(budget: int, radius: float) -> None:
    narrowing = TrustRegion(POLICY_DEFAULTS, evaluations=4000, dimension=DIMENSION)
    narrowing.pace(1000 / budget)
    assert narrowing.radius(1000) == pytest.approx(radius, abs=5e-4)


def test_it_narrows_while_moves_cancel_and_no_further_than_it_may() -> None:
    narrowing = cloud()
    there = np.eye(DIMENSION)[0]
    radii = []
    for turn in range(40):
        narrowing.update(there if turn % 2 else -there)
        radii.append(narrowing.radius(0))
    assert (np.diff(radii) <= 0.0).all()
    assert radii[4] < 0.5
    assert radii[-1] == REACH.final_radius


def test_it_widens_while_moves_add_up_and_no_further_than_at_first() -> None:
    widening = cloud()
    for _ in range(6):
        widening.update(np.zeros(DIMENSION))
    narrow = widening.radius(0)
    radii = []
    for _ in range(40):
        widening.update(np.eye(DIMENSION)[0])
        radii.append(widening.radius(0))
    assert narrow < 0.1
    assert radii[-1] == REACH.radius


def test_random_moves_are_no_progress() -> None:
    """Their average has length sqrt(0.3 / 1.7) = 0.42: a factor of 0.85 a batch."""
    rng, wandering = np.random.default_rng(0), cloud()
    for _ in range(200):
        move = rng.standard_normal(DIMENSION)
        wandering.update(move / np.linalg.norm(move))
    assert wandering.radius(0) == REACH.final_radius


@pytest.mark.parametrize("turns", [3, 9])
def test_it_goes_on_from_a_state(turns: int) -> None:
    one, other = cloud(), cloud()
    for turn in range(turns):
        one.update(np.eye(DIMENSION)[turn % 2])
    other.load_state_dict(one.state_dict())
    for each in (one, other):
        each.update(np.full(DIMENSION, 0.1))
    assert one.radius(0) == other.radius(0)
