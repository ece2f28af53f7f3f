"""The trainings of the ledger: what is known of each elsewhere, and the rows that they become."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from rolecast.benchmarks.experiment_table import (
    ExperimentTable,
    TableTrial,
    TrialEnd,
    run_missing_trials,
    trials_of,
)
from rolecast.benchmarks.result_table import Row, place
from rolecast.platform.tuning.experiment import Experiment, TrialPlan
from rolecast.platform.tuning.learner import MethodFactory
from rolecast.platform.tuning.methods import LearnerMethod
from rolecast.tune_configs.ledger import LEDGER_LEARNERS, QUICK_EXPERIMENT, TABLE

LEDGER_FILTERS: Final = ("arena", "contestant", "seed")
"""Kinds of filter: "arena" is a heading, "contestant" a learner's label."""

AUTHORS_TUNING: Final = "none: its authors' settings"
TEAM_TUNING: Final = "exploration and pace of updates chosen on predator-prey (its README)"
GAME_TUNING: Final = "nets, rates and pace for both games, the same for all; a handful of runs"

LEARNER_TUNING: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(
            ("maddpg", "facmac", "comix", "covdn", "facmac nonmonotonic", "independent ddpg"),
            TEAM_TUNING,
        ),
        "ddpg tianshou": "none: those of Tianshou's benchmark",
        "td3 2018": "none: those of its authors' paper, not of their later code",
    }
)
"""Label to what was spent on choosing settings; `AUTHORS_TUNING` for the others."""


@dataclass(frozen=True, kw_only=True)
class KnownReturns:
    """What others have reached under a heading, and what was hoped for here."""

    goal: str
    """What was hoped for, in words."""

    lines: Mapping[str, float] = field(default_factory=dict)
    """Returns to compare with, by what earns them."""

    published: Mapping[str, str] = field(default_factory=dict)
    """Label to what others have printed, with budget."""

    source: str = ""
    """Where that was printed."""

    tuning: str | None = None
    """What was spent on choosing the settings of all; None for what is said of each learner."""


KNOWN_RETURNS: Final[Mapping[str, KnownReturns]] = MappingProxyType(
    {
        "Pendulum-v1": KnownReturns(
            goal="above -200 within 20,000 env steps",
            lines={"goal": -200.0},
            published={"ddpg": "-152.1 (20k)", "td3": "-151.9 (20k)", "sac": "-157.0 (20k)"},
            source="RL Baselines3 Zoo, benchmark.md, one tuned run each, of 750 episodes",
        ),
        "hopper, small nets": KnownReturns(
            goal="within the range of the paper's table 4, which has the same nets and budget"
        ),
        "hopper, authors' nets": KnownReturns(
            goal="within the range of published curves at the same budget",
            published={
                "ddpg tianshou": "1272, deviation 663 (200k)",
                "td3": "887, deviation 649 (200k)",
                "sac": "3234, deviation 314 (200k)",
                "ppo": "556, deviation 145 (215k)",
            },
            source=(
                "Tianshou, examples/mujoco/benchmark/Hopper-v3, test_rew_10seeds.csv: mean and "
                "deviation of 10 seeds, 10 episodes each"
            ),
        ),
        "venture": KnownReturns(
            goal="centralised learners near the best return 1, independent ones near 0",
            lines={"best": 1.0, "without trust": 0.0},
            tuning=GAME_TUNING,
        ),
        "venture, defaults": KnownReturns(
            goal="the same with the defaults for predator-prey, three times as long",
            lines={"best": 1.0, "without trust": 0.0},
        ),
        "ridge": KnownReturns(
            goal=(
                "near the best return 1 where the policies climb one joint value together "
                "(facmac nonmonotonic), and a standstill where each climbs alone"
            ),
            lines={"best": 1.0},
            tuning=GAME_TUNING,
        ),
        "ridge, defaults": KnownReturns(
            goal="the same with the defaults for predator-prey: 2,400 updates in place of 3,200",
            lines={"best": 1.0},
        ),
        "pred_prey_3": KnownReturns(goal="far above random; chase and the searches beside it"),
        "pred_prey_3, 2M": KnownReturns(goal="what ten times the budget, the paper's, brings"),
        "Pendulum-v1, quick": KnownReturns(goal="none: it shows that the command works"),
    }
)
"""By heading."""

LEDGER_SECTIONS: Final[Mapping[str, Experiment]] = MappingProxyType(
    {heading: experiments[0] for heading, experiments in TABLE.items()}
    | {"Pendulum-v1, quick": QUICK_EXPERIMENT}
)
"""Heading to experiment; the quick one is last."""


def ledger_trials(seeds: int) -> list[TableTrial]:
    """Return the trainings of the whole ledger, a whole seed of a heading first."""
    return trials_of(TABLE, seeds, _key, _names)


def quick_ledger_trials() -> list[TableTrial]:
    """Return a training of seconds."""
    return trials_of({"Pendulum-v1, quick": [QUICK_EXPERIMENT]}, 1, _key, _names)


def _key(heading: str, experiment: Experiment, plan: TrialPlan) -> str:
    return f"{heading} / {plan.method} / {plan.seed}"


def _names(heading: str, experiment: Experiment, plan: TrialPlan) -> Mapping[str, str]:
    return {"arena": heading, "contestant": plan.method, "seed": str(plan.seed)}


def run_ledger(
    trials: Sequence[TableTrial],
    path: Path,
    *,
    processes: int,
    note: Callable[[str], None],
    methods: Mapping[str, MethodFactory] = MappingProxyType({}),
) -> list[Row]:
    """Train what baselines.json lacks; return all its rows; see `run_missing_trials`."""
    table = ExperimentTable(row=ledger_result, order=_order, line=_line, keeps_unfinished=True)
    return run_missing_trials(trials, path, table, processes=processes, note=note, methods=methods)


def ledger_result(trial: TableTrial, end: TrialEnd) -> Row:
    """Return the row of a training, JSON values, as far as it came."""
    from rolecast import __version__

    method, experiment, last = trial.method, trial.experiment, end.points[-1]
    assert isinstance(method, LearnerMethod)
    return {
        "arena": trial.heading,
        "task": trial.plan.task,
        "contestant": method.label,
        "algorithm": method.algorithm,
        "settings": dict(method.settings),
        "tuning": tuning_of(trial.heading, method.label),
        "seed": trial.plan.seed,
        "parameters": end.parameters,
        "env_steps": last["env_steps"],
        "test_return": last["test_return"],
        "test_return_stderr": _error(last),
        "test_episodes": (
            experiment.final_test_episodes if last["done"] else experiment.test_episodes
        ),
        "curve": [
            {
                "seconds": round(point["wall_time_s"], 1),
                "test_return": point["test_return"],
                "test_return_stderr": _error(point),
                "env_steps": point["env_steps"],
            }
            for point in end.points
        ],
        "train_seconds": round(last["wall_time_s"], 1),
        "score_seconds": round(end.seconds - last["wall_time_s"], 1),
        "rolecast": __version__,
        "commit": " ".join(end.commits) or None,
    }


def _error(point: Mapping[str, Any]) -> float:
    """Return the standard error of a score; 0 of a single episode."""
    return 0.0 if point["test_return_stderr"] is None else float(point["test_return_stderr"])


def tuning_of(heading: str, label: str) -> str:
    """Return what was spent on choosing the settings of a learner under a heading."""
    return KNOWN_RETURNS[heading].tuning or LEARNER_TUNING.get(label, AUTHORS_TUNING)


def _line(row: Row) -> str:
    return f"{row['test_return']:.1f} in {row['train_seconds']:.0f} s"


def _order(row: Row) -> tuple[int, int, int]:
    """Sort rows as the ledger does; what it does not know comes last."""
    return (
        place(row["arena"], [*LEDGER_SECTIONS]),
        place(row["contestant"], [*LEDGER_LEARNERS]),
        row["seed"],
    )
