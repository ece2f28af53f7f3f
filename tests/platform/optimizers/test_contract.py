"""Every optimiser of the registry passes the contract that plug-ins inherit, and more."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import qmc

from rolecast.core.errors import ConfigError
from rolecast.core.types import Float
from rolecast.platform.optimizers.protocol import Optimizer
from rolecast.platform.optimizers.registry import BASELINES, make_optimizer
from rolecast.testing import OptimizerContract
from rolecast.testing.optimizers import asked_by
from tests.platform.optimizers.conftest import DIMENSION, NAMES, SETTINGS, Make


class TestRegistry(OptimizerContract):
    """The shipped contract over all names and settings."""

    dimension = DIMENSION

    @pytest.fixture(autouse=True)
    def case(self, make: Make) -> None:
        self._make = make

    def make(self, seed: int = 0) -> Optimizer:
        return self._make(seed)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dimension", [2, 3])
def test_no_candidate_repeats_one_before_in_a_corner_of_few_dimensions(
    name: str, dimension: int
) -> None:
    settings = SETTINGS.get(name, [{}])[0] if name in BASELINES else {}
    optimizer = make_optimizer(name, dimension=dimension, **settings)
    asked = np.concatenate(asked_by(optimizer, [6] * 10))
    assert len(np.unique(asked, axis=0)) == len(asked)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dimension", [0, -1])
def test_no_cube_has_fewer_than_one_dimension(name: str, dimension: int) -> None:
    with pytest.raises(ConfigError, match=f"dimension is {dimension}; expected an integer >="):
        make_optimizer(name, dimension=dimension)


def test_a_batch_size_may_be_an_integer_of_numpy(make: Make) -> None:
    """Asked before the first evaluation and after thirty."""
    optimizer, same = make(), make()
    for q in (30, 3):
        asked = optimizer.ask(np.int64(q))  # type: ignore[arg-type]  # what is tested
        np.testing.assert_array_equal(asked, same.ask(q))
        for each in (optimizer, same):
            each.tell(asked, asked.sum(1))


@pytest.mark.parametrize("penalty", [-1e100, -1e30])
def test_values_of_the_greatest_size_leave_candidates_in_the_cube(
    make: Make, penalty: float
) -> None:
    optimizer = make()
    for _ in range(4):
        asked = optimizer.ask(12)
        optimizer.tell(asked, np.where(np.arange(12) < 3, penalty, asked.sum(1)))
    for points in (optimizer.ask(4), optimizer.best()):
        assert ((points >= 0.0) & (points <= 1.0)).all()


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("gp_ucb", {}),
        ("dss_gp_ucb", {"cliques": ((0, 1),)}),
        ("dss_gp_ucb", {"configuration": "paper"}),
    ],
)
def test_dimensions_beyond_sobol_points_are_refused_before_anything_is_paid_for(
    name: str, settings: dict[str, Any]
) -> None:
    expected = "dimension is 21202; expected at most 21201, those of Sobol points"
    with pytest.raises(ConfigError, match=expected):
        make_optimizer(name, dimension=21202, **settings)
    qmc.Sobol(21201)


class Repeats:
    """An optimiser that is wrong: it asks for one point again and again."""

    def ask(self, q: int) -> Float:
        return np.full((max(int(q), 0), DIMENSION), 0.5)

    def tell(self, candidates: Float, returns: Float, stderrs: Float | None = None) -> None:
        """Forget them."""

    def state_dict(self) -> dict[str, int]:
        return {}


def test_an_optimizer_that_repeats_itself_fails_the_contract() -> None:
    class Broken(OptimizerContract):
        def make(self, seed: int = 0) -> Optimizer:
            return Repeats()  # type: ignore[return-value]  # what is tested

    with pytest.raises(AssertionError):
        Broken().test_no_candidate_repeats_one_before()
    with pytest.raises(AssertionError, match="expected RequestError"):
        Broken().test_a_wrong_batch_size_is_refused_and_changes_nothing()
