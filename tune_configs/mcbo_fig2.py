"""Figures 2 and 4 to 8 of the MCBO paper: nine settings of six causal tasks, every beta and rival.

The figures are subsets of the same trials (`PAPER_FIGURES`). `rolecast bench causal` runs them by
`rolecast.causal_search` and scores them by expected rewards; `rolecast compare mcbo_fig2` runs them
as any comparison, by held-out returns and with 32 samples of the noise everywhere.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.methods import SearchMethod

HARD_TASKS: Final = ("causal:toy", "causal:psa")
NOISY_TASKS: Final = tuple(
    f"causal:{name}?noise=1" for name in ("dropwave", "alpine2", "rosenbrock")
)
NETWORK_TASKS: Final = (
    *(f"causal:{name}" for name in ("dropwave", "alpine2", "rosenbrock", "ackley")),
    *NOISY_TASKS,
)
BETA_GRID: Final = (0.05, 0.5, 5.0)

PAPER_SAMPLES: Final[Mapping[str, int]] = MappingProxyType({"causal:dropwave?noise=1": 128})
"""Samples of the noise by which the paper's MCBO takes expectations, where not the default 32."""

PAPER_FIGURES: Final[Mapping[str, str]] = MappingProxyType(
    {"average": "figures 2, 4 and 5", "best": "figures 6 and 7", "seconds": "figure 8"}
)
"""Where the paper shows what of the trials: figures 5 and 7 with every beta, the others with the
beta that is best on the other tasks."""

BANDED_METHODS: Final = ("mcbo", "causal_gp_ucb")
"""Methods with a setting beta."""


def _method(optimizer: str, tasks: tuple[str, ...] = (), beta: float | None = None) -> SearchMethod:
    return SearchMethod(
        optimizer=optimizer,
        policy="constant",
        optimizer_settings={} if beta is None else {"beta": beta},
        episodes=1,
        batch_size=1,
        tasks=tasks,
        label=optimizer if beta is None else f"{optimizer}_{beta:g}",
    )


EXPERIMENT: Final = Experiment(
    name="mcbo_fig2",
    summary="model-based causal Bayesian optimisation and its rivals on causal graphs",
    tasks=(*HARD_TASKS, *NETWORK_TASKS),
    methods=(
        *(_method("mcbo", beta=beta) for beta in BETA_GRID),
        _method("eifn"),
        *(_method(name, HARD_TASKS) for name in ("eicbo", "cbo")),
        *(_method("causal_gp_ucb", NETWORK_TASKS, beta) for beta in BETA_GRID),
        _method("causal_random"),
    ),
    seeds=20,
    env_steps=120,
    points=10,
)
