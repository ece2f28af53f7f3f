"""A batch told in parts: the search learns from it as from one told at once, to the last bit."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rolecast.core.types import Float
from rolecast.platform.optimizers.local_gp.config import LocalGpConfig
from rolecast.platform.optimizers.local_gp.starts import SeveralStarts
from rolecast.platform.optimizers.protocol import Optimizer

POLICY: dict[str, Any] = {"groups": (0, 0, 1, 1), "evaluations": 160}
SETTINGS: list[dict[str, Any]] = [
    {},
    {"evaluations": 160, "acquisition": "log_ei"},
    {"starts": 3, "evaluations": 160},
    POLICY | {"radius": 0.4, "ties": (1, 1, 2, 2)},
]


def build(settings: dict[str, Any]) -> Optimizer:
    return LocalGpConfig(**settings).build(dimension=4, seed=0)


def whole(optimizer: Optimizer) -> Optimizer:
    return optimizer


def looked_at(optimizer: Optimizer) -> Optimizer:
    optimizer.best()
    return optimizer


def saved(optimizer: Optimizer) -> Optimizer:
    optimizer.state_dict()
    return optimizer


def returns(points: Float) -> Float:
    """Return a summit far from the middle, with noise that depends on the point alone."""
    return np.asarray(3.0 - np.square(points - 0.3).sum(1) + 0.05 * np.sin(1e4 * points.sum(1)))


def asked(
    settings: dict[str, Any], part: int, between: Callable[[Optimizer], Optimizer] = whole
) -> Float:
    """Return 16 batches of 10 [160, D], told in parts, with something between the parts."""
    optimizer, batches = build(settings), []
    for _ in range(16):
        batches.append(optimizer.ask(10))
        for first in range(0, 10, part):
            rows = batches[-1][first : first + part]
            optimizer.tell(rows, returns(rows), np.full(len(rows), 0.05))
            optimizer = between(optimizer)
    return np.concatenate([*batches, optimizer.best()[None]])


@pytest.mark.parametrize("between", [whole, looked_at, saved])
@pytest.mark.parametrize("part", [1, 4])
@pytest.mark.parametrize("settings", SETTINGS)
def test_a_batch_may_be_told_in_parts(
    settings: dict[str, Any], part: int, between: Callable[[Optimizer], Optimizer]
) -> None:
    np.testing.assert_array_equal(asked(settings, part, between), asked(settings, 10))


@pytest.mark.parametrize("settings", SETTINGS)
def test_a_state_between_two_parts_is_enough_to_go_on(settings: dict[str, Any]) -> None:
    def restored(optimizer: Optimizer) -> Optimizer:
        found = build(settings)
        found.load_state_dict(optimizer.state_dict())
        return found

    np.testing.assert_array_equal(asked(settings, 4, restored), asked(settings, 10))


@pytest.mark.parametrize("settings", [POLICY, {"restart_at_centre": True, "evaluations": 192}])
def test_a_batch_in_parts_returns_to_the_start_as_a_whole_one_does(
    settings: dict[str, Any],
) -> None:
    """The middle of the cube is best, so that the search returns there again and again."""

    def widths(part: int) -> tuple[list[float], int, list[int]]:
        optimizer = LocalGpConfig(**settings, radius=0.4).build(dimension=4, seed=0)
        assert not isinstance(optimizer, SeveralStarts)
        found = []
        for _ in range(16):
            points = optimizer.ask(12)
            values = 5.0 - 100.0 * np.abs(points - 0.5).sum(1)
            for first in range(0, 12, part):
                rows = slice(first, first + part)
                optimizer.tell(points[rows], values[rows], np.full(part, 0.05))
                optimizer.best()
            found.append(optimizer.explain()["start_width"])  # type: ignore[attr-defined]  # has it
        state = optimizer.state_dict()
        return found, state["counts"][2], state["groups"].tolist()

    assert widths(12)[0][-1] < 0.5
    assert widths(12)[1] == 16 * 12
    assert widths(3) == widths(12)


@pytest.mark.parametrize("settings", [each for each in SETTINGS if "starts" not in each])
def test_the_share_of_the_budget_set_between_two_parts_holds(settings: dict[str, Any]) -> None:
    optimizer: Any = build(settings)
    points = optimizer.ask(8)
    optimizer.tell(points[:4], returns(points[:4]), np.full(4, 0.05))
    optimizer.pace(0.7)
    optimizer.tell(points[4:], returns(points[4:]), np.full(4, 0.05))
    assert optimizer.state_dict()["cloud"]["spent"] == 0.7


def test_asking_ends_a_batch() -> None:
    """Values that come one at a time, each followed by an ask, move the centre one by one."""
    optimizer = LocalGpConfig().build(dimension=2, seed=0)
    for point in optimizer.ask(8):
        optimizer.tell(point[None], returns(point[None]))
        optimizer.ask(1)
    assert optimizer.state_dict()["counts"][1] == 8
