"""When a local search goes back to its start, and that it never loses a good one."""

from typing import Any

import numpy as np
import pytest

from rolecast.core.types import Float
from rolecast.platform.optimizers.local_gp.config import LocalGpConfig
from rolecast.platform.optimizers.local_gp.constants import SEARCH_CONSTANTS
from rolecast.platform.optimizers.local_gp.restart import StartRule
from rolecast.platform.optimizers.local_gp.search import LocalSearch

DIMENSION = 20
START = np.full(DIMENSION, 0.5)


def rule(enabled: bool = True) -> StartRule:
    return StartRule(START, enabled=enabled)


def hear(
    found: StartRule,
    start: float,
    best: float,
    spent: float,
    count: int = SEARCH_CONSTANTS.restart_evaluations,
) -> bool:
    """Tell of so many points, the best of which earns `best`, and of the start if it is asked."""
    drawn = found.with_start(np.random.default_rng(0).random((count + 1, DIMENSION)))
    returns = np.append(np.linspace(best, best - 5.0, count), start)
    asked = found.among(drawn)[-1]
    stop = count + int(asked)
    return found.should_restart(drawn[:stop], returns[:stop], spent)


def test_it_goes_back_half_as_wide_as_long_as_all_are_worse_than_the_start() -> None:
    found = rule()
    widths = []
    for look in range(1, 9):
        back = hear(
            found, start=9.0, best=1.0, spent=1.01 * look * SEARCH_CONSTANTS.restart_interval
        )
        assert back is (2 <= look <= 5)  # the first time the start is only asked for again
        widths.append(found.width)
    assert widths == [1.0, 0.5, 0.25, 0.125, *[SEARCH_CONSTANTS.least_restart_width] * 4]


@pytest.mark.parametrize(
    ("start", "best"), [(9.0, 9.0), (9.0, 10.0), (0.0, -3.0), (-1.0, -3.0), (-1.0, 2.0)]
)
def test_it_goes_on_where_the_start_is_no_better_or_earns_nothing(
    start: float, best: float
) -> None:
    found = rule()
    assert not hear(found, start, best, spent=0.5)
    assert found.width == 1.0


def test_it_has_patience() -> None:
    found = rule()
    assert not hear(found, 9.0, 1.0, spent=0.9 * SEARCH_CONSTANTS.restart_interval)
    assert not hear(found, 9.0, 10.0, spent=1.1 * SEARCH_CONSTANTS.restart_interval)
    assert not hear(found, 9.0, 1.0, spent=2.0 * SEARCH_CONSTANTS.restart_interval)
    assert not hear(found, 9.0, 1.0, spent=2.2 * SEARCH_CONSTANTS.restart_interval)
    assert hear(found, 9.0, 1.0, spent=2.3 * SEARCH_CONSTANTS.restart_interval)


def test_a_lucky_evaluation_of_the_start_is_no_reason_to_go_back() -> None:
    found = rule()
    assert not hear(found, start=9.0, best=1.0, spent=0.5)
    assert not hear(found, start=-9.0, best=1.0, spent=0.51)
    assert found.explain() == {"start_return": 0.0, "start_width": 1.0}
    drawn = np.random.default_rng(0).random((3, DIMENSION))
    assert not found.among(found.with_start(drawn)).any()


def test_small_batches_are_looked_at_together() -> None:
    found = rule()
    assert not hear(found, 9.0, 1.0, spent=0.5, count=SEARCH_CONSTANTS.restart_evaluations - 2)
    assert not hear(found, 9.0, 1.0, spent=0.5, count=1)
    assert not hear(found, 9.0, 1.0, spent=0.5, count=1)
    assert hear(found, 9.0, 1.0, spent=0.5, count=1)
    assert not hear(found, 9.0, 9.5, spent=0.8, count=2)
    assert not hear(found, 9.0, 1.0, spent=0.9, count=SEARCH_CONSTANTS.restart_evaluations - 2)


def test_the_start_is_asked_once_unless_it_must_be_confirmed() -> None:
    found, drawn = rule(), np.random.default_rng(0).random((3, DIMENSION))
    asked = [found.among(found.with_start(drawn.copy())).sum() for _ in range(3)]
    assert asked == [1, 0, 0]
    assert not rule(enabled=False).among(rule(enabled=False).with_start(drawn)).any()


def test_while_its_confirmation_is_awaited_the_start_is_not_asked_again() -> None:
    found = rule()
    assert not hear(found, start=9.0, best=1.0, spent=0.5)
    drawn = np.random.default_rng(0).random((4, DIMENSION))
    asked = []
    for look in range(4):  # batches of others come in while the start is still played
        asked.append(found.among(found.with_start(drawn.copy())).any())
        found.should_restart(drawn, np.full(4, 1.0), 0.6 + 0.1 * look)
    assert asked == [True, False, False, False]
    found.forget_pending()
    assert found.among(found.with_start(drawn.copy())).any()


@pytest.mark.parametrize("asked", [True, False])
def test_a_state_of_an_earlier_version_says_only_whether_the_start_was_asked(
    *, asked: bool
) -> None:
    found = rule()
    hear(found, start=9.0, best=10.0, spent=0.5)
    state = found.state_dict()
    del state["requests"]
    restored = rule()
    restored.load_state_dict(state | {"asked": asked})
    drawn = np.random.default_rng(0).random((3, DIMENSION))
    assert restored.among(restored.with_start(drawn.copy())).any() is np.bool_(not asked)
    assert not restored.among(restored.with_start(drawn.copy())).any()


def test_an_earlier_state_of_a_search_without_restarts_never_asks_for_the_start() -> None:
    found = rule(enabled=False)
    state = found.state_dict()
    del state["requests"]
    found.load_state_dict(state | {"asked": True})
    found.forget_pending()
    drawn = np.random.default_rng(0).random((3, DIMENSION))
    assert not found.among(found.with_start(drawn)).any()


def test_it_continues_from_its_state_at_any_point() -> None:
    whole, parts = rule(), rule()
    for look, count in enumerate(
        (SEARCH_CONSTANTS.restart_evaluations, 4, 20, 3, SEARCH_CONSTANTS.restart_evaluations)
    ):
        restored = rule()
        restored.load_state_dict(parts.state_dict())
        parts = restored
        spent = 0.07 * look
        assert hear(parts, 9.0, 1.0, spent, count) == hear(whole, 9.0, 1.0, spent, count)
        assert parts.explain() == whole.explain()
        np.testing.assert_equal(parts.state_dict(), whole.state_dict())
    assert whole.width < 1.0


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


def stumbles(candidates: Float, rng: np.random.Generator) -> Float:
    """Return returns of a robot that does better far out, though not at once: 10 in the middle."""
    moved = candidates - 0.5
    length = np.linalg.norm(moved, axis=1)
    return np.asarray(10.0 - 200.0 * length + 4000.0 * np.maximum(moved[:, 0], 0.0))


def run(optimizer: LocalSearch, function: Any, seed: int, batches: int = 40) -> Float:
    rng = np.random.default_rng(seed)
    for batch in range(batches):
        optimizer.pace(batch / batches)
        asked = optimizer.ask(15)
        optimizer.tell(asked, function(asked, rng))
    return np.asarray(optimizer.best())


@pytest.mark.parametrize("seed", range(3))
def test_a_search_that_begins_standing_ends_standing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    heeding, wide = search(seed), search(seed, restart_at_centre=False)
    assert stands(run(heeding, stands, seed)[None], rng)[0] > 95.0
    assert stands(run(wide, stands, seed)[None], rng)[0] < 0.0


@pytest.mark.parametrize("seed", range(3))
def test_a_search_whose_cloud_climbs_past_the_start_stays_wide(seed: int) -> None:
    optimizer = search(seed)
    best = run(optimizer, stumbles, seed)
    assert optimizer.explain()["start_width"] == 1.0
    assert optimizer.explain()["start_return"] == 10.0
    assert stumbles(best[None], np.random.default_rng(0))[0] > 300.0


@pytest.mark.parametrize("acquisition", ["cloud", "ucb", "log_ei", "thompson"])
def test_the_start_is_asked_for_where_much_is_told_before(acquisition: str) -> None:
    """A process chooses from the first ask on then, but it does not choose the start."""
    optimizer, told = search(0, acquisition=acquisition), np.random.default_rng(0)
    candidates = told.random((80, DIMENSION))
    optimizer.tell(candidates, candidates.sum(1))
    assert (optimizer.ask(15) == START).all(1).sum() == 1


def test_going_back_forgets_all_but_the_start_and_how_much_is_spent() -> None:
    optimizer = search(0, radius=0.2, final_radius=0.02, evaluations=100)
    for kept in (15, 2, 3):
        asked = optimizer.ask(15)
        optimizer.tell(asked, np.where((asked == START).all(1), 100.0, -50.0))
        assert len(optimizer.state_dict()["data"]["rows"]) == kept
    np.testing.assert_array_equal(optimizer.best(), START)
    assert optimizer.radius == pytest.approx(0.2 * 0.1 ** (45 / 100) * 0.25)


@pytest.mark.parametrize("told", [1, 2, 3, 5])
def test_a_restored_search_goes_on_as_if_it_had_not_stopped(told: int) -> None:
    whole, parts = search(0, evaluations=200), search(0, evaluations=200)
    returns = np.random.default_rng(0), np.random.default_rng(0)
    for batch in range(9):
        if batch == told:
            restored = search(1, evaluations=200)
            restored.load_state_dict(parts.state_dict())
            parts = restored
        asked = whole.ask(15), parts.ask(15)
        np.testing.assert_array_equal(*asked)
        whole.tell(asked[0], stands(asked[0], returns[0]))
        parts.tell(asked[1], stands(asked[1], returns[1]))
