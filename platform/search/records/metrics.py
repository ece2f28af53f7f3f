"""The one metric vocabulary of every trial: names, meanings, and the figures after a batch."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from rolecast.core.rounding import mean_and_error

if TYPE_CHECKING:
    from rolecast.platform.search.planning.budget import Budget
    from rolecast.platform.search.records.history import Batch  # loads pyarrow

BELIEF_PREFIX: Final = "optimizer/"
"""Before the name of what an optimiser explains of itself."""

METRIC_VOCABULARY: Final[Mapping[str, str]] = MappingProxyType(
    {
        "env_steps": "steps of all training episodes so far, and of the random play in which a "
        "search found symmetries; a joint step of n agents is one",
        "policy_evaluations": "candidates evaluated so far; of a learner, training episodes ended",
        "episode_return_mean": "mean return, as earned, of the training episodes since the report "
        "before; of a search, of its last batch",
        "episode_return_stderr": "its standard error over these episodes, or over the candidates",
        "observed_return_mean": "the same mean as paid to the learner by the reward settings",
        "best_return": "highest mean return so far of an evaluation, or of the training episodes "
        "between two reports: a maximum of noisy means, so higher than any policy earns on average",
        "test_return": "mean return as earned, on held-out episodes, of the policy that would be "
        "handed over now: the incumbent, or the learner's without exploration",
        "test_return_stderr": "its standard error over these episodes",
        "wall_time_s": "seconds of training or searching, held-out scoring left out",
        "timesteps_total": "env_steps, by the name that Tune takes for its horizontal axis",
    }
)
"""What every report of every trial has: name to meaning. After a batch of a search, a report has
no held-out score."""


def batch_metrics(
    last: "Batch", *, budget: "Budget", best_return: float, beliefs: Mapping[str, float]
) -> dict[str, float]:
    """Return the figures after a batch.

    Args:
        last: the batch.
        budget: of the search.
        best_return: highest mean return of an evaluation so far, a maximum of noisy means.
        beliefs: what the optimiser explains; reported after `BELIEF_PREFIX`.
    """
    spent, (mean, error) = last.spent_after, mean_and_error(last.means)
    metrics = {
        "env_steps": budget.env_steps(spent),
        "policy_evaluations": spent.evaluations,
        "episode_return_mean": mean,
        "observed_return_mean": float(last.observed_means.mean()),
        "best_return": best_return,
        "wall_time_s": last.wall_time_s,
    }
    if error is not None:
        metrics["episode_return_stderr"] = error
    return metrics | {BELIEF_PREFIX + name: value for name, value in beliefs.items()}
