"""What every optimiser of the registry keeps, whatever is asked and told in whatever order."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rolecast.core.errors import ConfigError, RequestError
from rolecast.core.types import Float
from rolecast.platform.optimizers.protocol import Explains, Optimizer
from rolecast.platform.optimizers.registry import BASELINES, make_optimizer
from tests.platform.optimizers.conftest import DIMENSION, NAMES, SETTINGS, Make

SameState = Callable[[Any, Any], None]


def slope(points: Float) -> Float:
    """Highest in the corner at 0, where clipped searches would repeat themselves."""
    return np.asarray(-np.square(points).sum(1))


def run(optimizer: Optimizer, sizes: list[int]) -> list[Float]:
    """Ask for batches of these sizes and tell what the slope pays; return them."""
    asked = []
    for q in sizes:
        asked.append(optimizer.ask(q))
        optimizer.tell(asked[-1], slope(asked[-1]), np.full(q, 0.1))
    return asked


def test_candidates_have_their_shape_and_stay_in_the_cube(make: Make) -> None:
    for batch, q in zip(run(make(), [5, 1, 17, 2, 40]), [5, 1, 17, 2, 40], strict=True):
        assert batch.shape == (q, DIMENSION)
        assert batch.dtype == np.float64
        assert batch.min() >= 0.0
        assert batch.max() <= 1.0


def test_no_candidate_repeats_one_before(make: Make) -> None:
    asked = np.concatenate(run(make(), [6] * 15))
    assert len(np.unique(asked, axis=0)) == len(asked)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dimension", [2, 3])
def test_no_candidate_repeats_one_before_in_a_corner_of_few_dimensions(
    name: str, dimension: int
) -> None:
    settings = SETTINGS.get(name, [{}])[0] if name in BASELINES else {}
    asked = np.concatenate(run(make_optimizer(name, dimension=dimension, **settings), [6] * 10))
    assert len(np.unique(asked, axis=0)) == len(asked)


def test_two_asks_in_a_row_share_no_candidate(make: Make) -> None:
    optimizer = make()
    run(optimizer, [8])
    asked = np.concatenate([optimizer.ask(3) for _ in range(4)])
    assert len(np.unique(asked, axis=0)) == 12


def test_the_same_seed_asks_the_same_and_another_seed_another(make: Make) -> None:
    """But for the middle of the cube, which a local search may ask for with any seed."""
    one, same, other = (np.concatenate(run(make(seed), [7, 7, 7])) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    drawn = one[(one != 0.5).any(-1)]
    assert len(drawn) >= len(one) - 1
    assert not (drawn[:, None] == other).all(-1).any()


def test_tells_come_in_any_order_and_of_points_never_asked(make: Make) -> None:
    optimizer, rng = make(), np.random.default_rng(0)
    optimizer.tell(rng.random((3, DIMENSION)), np.array([1.0, 2.0, 3.0]))
    asked = optimizer.ask(12)
    for part in (asked[9:], asked[:2], rng.random((5, DIMENSION)), asked[2:9]):
        optimizer.tell(part, slope(part), None if len(part) == 5 else np.zeros(len(part)))
        assert optimizer.best().shape == (DIMENSION,)
    assert optimizer.ask(4).shape == (4, DIMENSION)


def test_what_is_told_may_be_changed_afterwards(make: Make, same_state: SameState) -> None:
    optimizer = make()
    asked = optimizer.ask(8)
    returns, errors = slope(asked), np.ones(8)
    optimizer.tell(asked, returns, errors)
    state = optimizer.state_dict()
    asked[:], returns[:], errors[:] = 0.5, 1e6, 7.0
    optimizer.best()[:] = 0.25
    same_state(optimizer.state_dict(), state)


def test_the_incumbent_is_in_the_cube_and_does_not_wander_by_itself(make: Make) -> None:
    optimizer = make()
    run(optimizer, [10] * 4)
    best = optimizer.best()
    assert best.shape == (DIMENSION,)
    assert ((best >= 0.0) & (best <= 1.0)).all()
    np.testing.assert_array_equal(optimizer.best(), best)


def test_there_is_no_incumbent_before_the_first_tell(make: Make) -> None:
    optimizer = make()
    with pytest.raises(RequestError, match="needs at least one evaluation"):
        optimizer.best()
    optimizer.ask(3)
    with pytest.raises(RequestError, match="needs at least one evaluation"):
        optimizer.best()


@pytest.mark.parametrize("value", [0.0, 0.7, -3.0])
@pytest.mark.parametrize("stderr", [None, 0.0, 0.2])
def test_returns_that_are_all_alike_harm_nothing(
    make: Make, value: float, stderr: float | None
) -> None:
    optimizer = make()
    for _ in range(4):
        asked = optimizer.ask(8)
        errors = None if stderr is None else np.full(8, stderr)
        optimizer.tell(asked, np.full(8, value), errors)
    assert np.isfinite(optimizer.ask(8)).all()
    assert np.isfinite(optimizer.best()).all()


def test_a_single_evaluation_is_enough_to_go_on(make: Make) -> None:
    optimizer = make()
    optimizer.tell(np.full((1, DIMENSION), 0.3), np.array([2.0]))
    assert optimizer.best().shape == (DIMENSION,)
    assert optimizer.ask(2).shape == (2, DIMENSION)


POINTS = np.full((2, DIMENSION), 0.5)
PAID = np.array([1.0, 2.0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((POINTS, np.array([1.0, np.nan])), r"returns\[1\] is nan; expected a finite number"),
        ((POINTS, np.array([-np.inf, 1.0])), r"returns\[0\] is -inf; expected a finite number"),
        ((POINTS * np.nan, PAID), "outside"),
        ((POINTS + 0.6, PAID), "outside"),
        ((POINTS - 0.6, PAID), "outside"),
        ((POINTS[:, 1:], PAID), "expected shape"),
        ((POINTS[0], PAID), "expected shape"),
        ((POINTS, PAID[:1]), "tell.returns is .*expected shape"),
        ((POINTS, PAID[:, None]), "tell.returns is .*expected shape"),
        ((POINTS, PAID, np.ones(3)), "tell.stderrs is .*expected shape"),
        ((POINTS, PAID, np.array([1.0, -1.0])), "negative or infinite"),
        ((POINTS, PAID, np.array([np.inf, 1.0])), "negative or infinite"),
    ],
)
def test_a_wrong_tell_is_refused_and_changes_nothing(
    make: Make, same_state: SameState, arguments: tuple[Float, ...], message: str
) -> None:
    optimizer = make()
    run(optimizer, [8, 8])
    state = optimizer.state_dict()
    with pytest.raises(RequestError, match=message):
        optimizer.tell(*arguments)
    same_state(optimizer.state_dict(), state)


@pytest.mark.parametrize("q", [0, -2, 1.5])
def test_a_wrong_batch_size_is_refused_and_changes_nothing(
    make: Make, same_state: SameState, q: float
) -> None:
    optimizer = make()
    for sizes in ([], [8]):
        run(optimizer, sizes)
        state = optimizer.state_dict()
        with pytest.raises(ConfigError, match=f"ask.q is {q}; expected an integer >= 1"):
            optimizer.ask(q)  # type: ignore[arg-type]  # what is tested
        same_state(optimizer.state_dict(), state)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dimension", [0, -1])
def test_no_cube_has_fewer_than_one_dimension(name: str, dimension: int) -> None:
    with pytest.raises(ConfigError, match=f"dimension is {dimension}; expected an integer >="):
        make_optimizer(name, dimension=dimension)


def test_what_it_explains_is_named_numbers(make: Make) -> None:
    optimizer = make()
    run(optimizer, [8, 8])
    explained = optimizer.explain() if isinstance(optimizer, Explains) else {}
    assert all(type(name) is str and type(value) is float for name, value in explained.items())
