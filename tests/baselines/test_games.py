"""The games pay what their rules say, and their best plays are the best."""

import numpy as np
import pytest
from scipy.optimize import minimize

from rolecast.core.types import Float
from rolecast.envs.check import check_task
from rolecast.envs.registry import make_task

GAMES = ("venture", "ridge")


def returns(name: str, plays: Float) -> Float:
    """Return the returns [B] of plays [B, steps, 2] of open-loop actions."""
    task = make_task(f"python:rolecast.baselines.games:{name}")
    task.reset(np.arange(len(plays), dtype=np.uint64))
    total = np.zeros(len(plays))
    for step in range(plays.shape[1]):
        _, reward, done, _ = task.step(plays[:, step, :, None])
        total += reward
    assert done.all()
    return total


@pytest.mark.parametrize(
    ("name", "play", "earned"),
    [
        ("venture", [[1.0, 0.3], [0.2, -0.2]], 1.0),
        ("venture", [[-1.0, 0.3], [0.9, 0.9]], 0.0),
        ("venture", [[0.0, 0.0], [0.2, 0.8]], 0.5 * (1 - 7) - 0.125),
        ("ridge", [[1.0, 1.0]], 1.0),
        ("ridge", [[0.5, 0.0]], 0.25 - 1.0),
    ],
)
def test_a_play_pays_what_the_rules_say(name: str, play: list[list[float]], earned: float) -> None:
    np.testing.assert_allclose(returns(name, np.array([play])), [earned], atol=1e-12)


@pytest.mark.parametrize("name", GAMES)
def test_no_play_earns_more_than_the_best_one(name: str) -> None:
    steps = {"venture": 2, "ridge": 1}[name]

    def loss(flat: Float) -> float:
        return -float(returns(name, flat.reshape(1, steps, 2))[0])

    starts = np.random.default_rng(0).uniform(-1, 1, (20, steps * 2))
    best = max(-minimize(loss, start, bounds=[(-1, 1)] * start.size).fun for start in starts)
    assert best == pytest.approx(1.0, abs=1e-6)


def test_a_stake_with_a_partner_who_acts_at_random_is_a_loss() -> None:
    """Mean of the second step's payment over 100,001 partners in even steps; by hand -1.61 s."""
    partners = np.linspace(-1, 1, 100_001)
    plays = np.zeros((partners.size, 2, 2))
    plays[:, 0, 0], plays[:, 1, 0], plays[:, 1, 1] = 1.0, 0.2, partners
    assert returns("venture", plays).mean() == pytest.approx(1 - 7 * (1 / 3 + 1 / 25), abs=1e-3)


@pytest.mark.parametrize("name", GAMES)
def test_games_keep_the_contract_of_tasks(name: str) -> None:
    report = check_task(f"python:rolecast.baselines.games:{name}")
    assert report.ok, report
