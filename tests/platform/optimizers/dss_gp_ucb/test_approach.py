"""How near its start a local search begins, and that it never loses a good start."""

from typing import Any

import numpy as np
import pytest

from rolecast.envs.spec import Float
from rolecast.platform.optimizers.dss_gp_ucb.approach import ENOUGH, NARROWEST, Approach
from rolecast.platform.optimizers.dss_gp_ucb.config import LocalGpConfig
from rolecast.platform.optimizers.dss_gp_ucb.local_search import LocalSearch

DIMENSION = 20
RADIUS = 0.2


def cloud(radius: float, count: int = ENOUGH, seed: int = 0) -> Float:
    """Return points at exactly that distance from the middle."""
    steps = np.random.default_rng(seed).standard_normal((count, DIMENSION))
    return np.asarray(0.5 + radius * steps / np.linalg.norm(steps, axis=1, keepdims=True))


def approach(wanted: bool = True) -> Approach:
    return Approach(np.full(DIMENSION, 0.5), wanted=wanted)


def hear(found: Approach, start: float, best: float, count: int = ENOUGH) -> bool:
    """Tell of the start and of so many points of the cloud, the best of which earns `best`."""
    drawn = found.with_start(cloud(found.width * RADIUS, count + 1))
    returns = np.linspace(best - 5.0, best, count)
    return found.heard(drawn, np.append(returns, start), found.width * RADIUS)


def test_the_cloud_is_halved_while_all_of_it_is_worse_than_the_start() -> None:
    found = approach()
    widths = []
    while hear(found, start=9.0, best=1.0):
        widths.append(found.width)
    assert widths == [0.5, 0.25, 0.125, NARROWEST]
    assert not found.is_open


@pytest.mark.parametrize(
    ("start", "best"), [(9.0, 9.0), (9.0, 10.0), (0.0, -3.0), (-1.0, -3.0), (-1.0, 2.0)]
)
def test_it_stays_as_wide_where_the_start_is_no_better_or_earns_nothing(
    start: float, best: float
) -> None:
    found = approach()
    assert not hear(found, start, best)
    assert not found.is_open
    assert found.width == 1.0


def test_small_batches_say_as_much_as_one_of_all_their_points() -> None:
    found = approach()
    assert not hear(found, start=9.0, best=1.0, count=ENOUGH - 2)
    rest = cloud(RADIUS, 2, seed=1)
    assert found.heard(rest, np.ones(2), RADIUS)
    assert found.width == 0.5


def test_one_point_as_good_decides_at_once() -> None:
    found = approach()
    assert not hear(found, start=9.0, best=9.0, count=2)
    assert not found.is_open


def test_the_start_is_asked_once_a_width_and_never_when_all_is_decided() -> None:
    found, drawn = approach(), cloud(RADIUS)
    assert found.is_start(found.with_start(drawn.copy())).sum() == 1
    assert found.is_start(found.with_start(drawn.copy())).sum() == 0
    found.heard(np.full((1, DIMENSION), 0.5), np.array([9.0]), RADIUS)
    assert found.heard(drawn, np.zeros(ENOUGH), RADIUS)
    assert found.is_start(found.with_start(drawn.copy())).sum() == 1
    assert approach(wanted=False).is_start(drawn).sum() == 0


def test_points_of_a_wider_cloud_decide_nothing() -> None:
    found = approach()
    assert not hear(found, start=9.0, best=1.0, count=ENOUGH - 1)
    assert not found.heard(cloud(2.0 * RADIUS), np.full(ENOUGH, 99.0), RADIUS)
    assert found.is_open


def test_it_continues_from_its_state_at_any_point() -> None:
    whole, parts = approach(), approach()
    for count in (ENOUGH, ENOUGH - 2, ENOUGH, 3, ENOUGH):
        restored = approach()
        restored.load_state_dict(parts.state_dict())
        parts = restored
        assert hear(parts, 9.0, 1.0, count) == hear(whole, 9.0, 1.0, count)
        assert parts.state_dict() == whole.state_dict()
        assert parts.explain() == whole.explain()


def search(seed: int, **settings: Any) -> LocalSearch:
    """Return a search as a policy's is: with groups."""
    groups = tuple(range(DIMENSION))
    return LocalSearch(LocalGpConfig(groups=groups, **settings), dimension=DIMENSION, seed=seed)


def stands(candidates: Float, rng: np.random.Generator) -> Float:
    """Return returns of a robot that stands at the middle, and falls 0.05 from it.

    Within, it earns more along the first coordinate: 100 in the middle, 110 at most.
    """
    moved = candidates - 0.5
    upright = np.linalg.norm(moved, axis=1) < 0.05
    falls = rng.normal(-50.0, 10.0, len(candidates))
    return np.asarray(np.where(upright, 100.0 + 200.0 * moved[:, 0], falls))


def found_by(seed: int, **settings: Any) -> float:
    optimizer, rng = search(seed, **settings), np.random.default_rng(seed)
    for _ in range(40):
        asked = optimizer.ask(15)
        optimizer.tell(asked, stands(asked, rng))
    return float(stands(optimizer.best()[None], rng)[0])


@pytest.mark.parametrize("seed", range(3))
def test_a_search_that_begins_standing_ends_standing_and_higher(seed: int) -> None:
    assert found_by(seed) > 100.0
    assert found_by(seed, heed_start=False) < 0.0


def test_the_schedule_counts_what_was_told_of_wider_clouds() -> None:
    optimizer = search(0, radius=0.2, final_radius=0.02, evaluations=100)
    for _ in range(2):
        asked = optimizer.ask(15)
        optimizer.tell(asked, np.where((asked == 0.5).all(1), 100.0, -50.0))
    width = optimizer.explain()["start_width"]
    assert width == 0.25
    assert optimizer.radius == pytest.approx(0.2 * 0.1 ** (30 / 100) * width)
    assert optimizer.explain()["start_return"] == 100.0


@pytest.mark.parametrize("told", [1, 2, 3, 4])
def test_a_restored_search_goes_on_as_if_it_had_not_stopped(told: int) -> None:
    whole, parts = search(0), search(0)
    returns = np.random.default_rng(0), np.random.default_rng(0)
    for batch in range(6):
        if batch == told:
            restored = search(1)
            restored.load_state_dict(parts.state_dict())
            parts = restored
        asked = whole.ask(15), parts.ask(15)
        np.testing.assert_array_equal(*asked)
        whole.tell(asked[0], stands(asked[0], returns[0]))
        parts.tell(asked[1], stands(asked[1], returns[1]))
