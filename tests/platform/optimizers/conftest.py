"""Every optimiser of the registry, with the settings that change its behaviour, small and quick."""

from collections.abc import Iterator
from typing import Any, Final, Protocol

import pytest

from rolecast.core.threads import OneThread
from rolecast.platform.optimizers.protocol import Optimizer
from rolecast.platform.optimizers.registry import BASELINES, OPTIMIZERS, make_optimizer

CLIQUES: Final = ((0, 1, 2), (2, 3), (4, 5))
LOCAL: Final[dict[str, Any]] = {
    "narrowing": "schedule",
    "lengthscale": "cloud",
    "radius": 0.4,
    "final_radius": 0.1,
    "step": 0.5,
    "evaluations": 200,
    "relevance_start": 20,
    "relevance_end": 400,
}
"""A local search of a short budget as for a policy, whose every part soon has its say."""

SURROGATE: Final[dict[str, Any]] = {"initial": 8, "max_points": 40, "refit": 3.0, "fit_steps": 5}
"""A competitor's process, fitted seldom."""

ACQUISITION: Final[dict[str, Any]] = {
    **SURROGATE,
    "restarts": 1,
    "raw_samples": 8,
    "ascent_steps": 5,
    "draws": 16,
    "greedy": False,
}
"""A competitor's acquisition function, climbed a few steps."""

FOREST: Final[dict[str, Any]] = {
    "initial": 8,
    "max_points": 100,
    "refit": 1.5,
    "fit_steps": 8,
    "lengthscale": 0.3,
    "resolution": 6,
    "zooms": 2,
}
"""An additive process, whose lengthscales of each dimension need more than a few points."""

SETTINGS: Final[dict[str, list[dict[str, Any]]]] = {
    "dss_gp_ucb": [
        {**LOCAL, "configuration": "local", "cliques": CLIQUES},
        {"configuration": "local", "cliques": CLIQUES, "acquisition": "log_ei"},
        {"cliques": CLIQUES},
        {"configuration": "paper", "cliques": CLIQUES, "pool": 32, "max_points": 60},
    ],
    "local_gp": [
        {**LOCAL, "outcome_transform": "rank", "groups": (0, 0, 1, 1, 2, 2)},
        {},
        {"acquisition": "ucb"},
        {**LOCAL, "acquisition": "thompson"},
    ],
    "gp_ucb": [{"pool": 32, "max_points": 60}],
    "duets": [{"agents": 4, "rounds": 20}, {"kernel": "matern52", "standardise": False}],
    "cmaes": [
        {"separable": True},
        {"separable": False},
        {"separable": False, "lr_adapt": True, "population": 7},
    ],
    "turbo": [
        {**SURROGATE, "candidates": 64},
        {**SURROGATE, "candidates": 32, "trust_regions": 3, "centre": "observed"},
    ],
    "logei": [ACQUISITION],
    # A linear process needs many points: each tells of the whole cube.
    "spherical_linear": [{**ACQUISITION, "max_points": 150, "refit": 1.5, "fit_steps": 20}],
    "linebo": [
        {**SURROGATE, "queries": 5, "probes": 4},
        {**SURROGATE, "queries": 5, "direction": "coordinate"},
        {**SURROGATE, "queries": 5, "direction": "random"},
    ],
    "saasbo": [ACQUISITION],
    "baxus": [{**SURROGATE, "candidates": 64, "evaluations": 60}],
    "alebo": [{**ACQUISITION, "embedding": 6, "matrices": 2}],
    "treebo": [{**FOREST, "gibbs_steps": 20}],
    "rducb": [FOREST],
    "gibo": [
        {
            **SURROGATE,
            "samples": 8,
            "step": 1.0,
            "raw_samples": 8,
            "restarts": 1,
            "ascent_steps": 2,
        }
    ],
    "pgpe": [{"ascent": "clipup"}, {"ascent": "adam", "population": 8}],
}
"""Settings to test by; an optimiser that is not named here is tested as it is."""

NAMES: Final = (*OPTIMIZERS, *BASELINES)
"""All that come with the project; what else is installed here has tests of its own."""

CASES: Final = [(name, settings) for name in NAMES for settings in SETTINGS.get(name, [{}])]
DIMENSION: Final = 6
"""D of all cases."""


class Make(Protocol):
    """Builds the optimiser of a case."""

    def __call__(self, seed: int = 0) -> Optimizer: ...


ONE_THREAD: Final = OneThread()


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Compute as a search does: with more threads small matrices take longer, not less long."""
    with ONE_THREAD():
        yield


def case_id(case: tuple[str, dict[str, Any]]) -> str:
    """Name a case."""
    name, settings = case
    telling = (
        "configuration",
        "separable",
        "lr_adapt",
        "ascent",
        "trust_regions",
        "direction",
        "narrowing",
        "acquisition",
        "kernel",
    )
    chosen = [key for key in telling if key in settings]
    return "-".join([name, *(f"{key}={settings[key]}" for key in chosen)])


@pytest.fixture(params=CASES, ids=case_id)
def make(request: pytest.FixtureRequest) -> Make:
    """Return a function from a seed to the optimiser of one case, in 6 dimensions."""
    name, settings = request.param

    def build(seed: int = 0) -> Optimizer:
        return make_optimizer(name, dimension=DIMENSION, seed=seed, **settings)

    return build
