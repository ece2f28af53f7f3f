"""Every optimiser is better than random search where there is something to learn."""

from typing import Any

import numpy as np
import pytest

from rolecast.core.types import Float
from rolecast.platform.optimizers.protocol import Optimizer
from rolecast.platform.optimizers.registry import make_optimizer
from tests.platform.optimizers.conftest import CASES, DIMENSION, NAMES, case_id

SUMMIT = np.array([0.8, 0.2, 0.75, 0.3, 0.25, 0.7])
NOISE = 0.05
SEEDS = range(8)


def height(points: Float) -> Float:
    """0 at the summit, smooth, about -1 on average."""
    return np.asarray(-np.square(points - SUMMIT).sum(-1))


def heights_of_best(searches: list[Optimizer], q: int = 10) -> Float:
    """Search for 150 noisy evaluations, q at once; return what each incumbent is truly worth."""
    for seed, optimizer in enumerate(searches):
        rng = np.random.default_rng((seed, 1))
        for _ in range(150 // q):
            asked = optimizer.ask(q)
            returns = height(asked) + NOISE * rng.normal(size=q)
            optimizer.tell(asked, returns, np.full(q, NOISE))
    return np.array([height(optimizer.best()) for optimizer in searches])


@pytest.fixture(scope="module")
def of_random() -> Float:
    """What random search finds, by seed."""
    return heights_of_best(
        [make_optimizer("random", dimension=DIMENSION, seed=seed) for seed in SEEDS]
    )


@pytest.mark.parametrize("case", [case for case in CASES if case[0] != "random"], ids=case_id)
def test_it_finds_more_than_random_search_of_the_same_budget(
    case: tuple[str, dict[str, Any]], of_random: Float
) -> None:
    """Paired by seed, t > 2 over 8 seeds: a search no better than random passes 1 time in 23.

    False alarm: 2.1 % for PGPE, 0.8 % with Adam, 1.3 % for full CMA-ES, some 2 % for LineBO in
    random directions (16 seeds), below 0.3 % for the others, by resampling 60 to 100 seeds.
    """
    name, settings = case
    if name == "duets":  # It ends with the last of its rounds: 10 agents share the budget.
        settings = {**settings, "agents": 10, "rounds": 15}
    searches = [make_optimizer(name, dimension=DIMENSION, seed=seed, **settings) for seed in SEEDS]
    # A competitor's process costs the more time, the more often it is asked; one splits its bins
    # only after batches without gain, and lines in random directions need many anchors.
    few = {"baxus": 5}.get(name, 10 if settings.get("direction") == "random" else 30)
    q = few if "fit_steps" in settings else 10
    gained = heights_of_best(searches, q) - of_random
    assert gained.mean() > 2.0 * gained.std(ddof=1) / np.sqrt(len(SEEDS))


def test_every_optimizer_of_the_registry_is_a_case() -> None:
    assert {name for name, _ in CASES} == set(NAMES)
