"""A comparison as data: tasks x reward settings x methods x seeds, checked when it is built."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from math import ceil
from typing import Any, Final, Self

from rolecast.core.errors import ConfigError, unknown_name
from rolecast.core.files import file_name
from rolecast.core.types import Seeds
from rolecast.core.validation import (
    COUNT_OR_ZERO,
    POSITIVE_INTEGER,
    Rules,
    check,
    make_plain,
    one_of,
)
from rolecast.platform.rollout.held_out import (
    DEVELOPMENT_SET,
    HELD_OUT_SETS,
    SEARCH_HELD_OUT_SEED,
    held_out_seeds,
)
from rolecast.platform.tuning.methods import (
    LearnerMethod,
    Method,
    SearchMethod,
    method_from_json,
    method_to_json,
)
from rolecast.platform.tuning.rewards import reward_name

EXPERIMENT_FILE: Final = "experiment.json"
"""What the folder of a comparison has from its beginning on."""

PAPER_TABLES: Final = ("table1", "table4", "table5", "table7", "table8")
"""Those of returns."""

LEAST_EPISODES: Final = 10
"""Held-out episodes that a small share of an experiment keeps at least."""


@dataclass(frozen=True, kw_only=True)
class TrialPlan:
    """One trial."""

    trial: str
    """Readable name, unique in its experiment, fit for a folder."""

    task: str
    """Id without reward settings."""

    reward: str
    """Name of the reward settings."""

    method: str
    """Label of the method."""

    policy: str
    """Name of the policy of a search; of a learner, its size."""

    seed: int
    """Root of all randomness of the trial."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """Methods side by side: every task, reward setting and seed with each, at one budget."""

    name: str
    """Short name, fit for a folder."""

    summary: str = ""
    """One line that says what is compared."""

    tasks: tuple[str, ...]
    """Task ids, without reward settings."""

    rewards: tuple[str, ...] = ("dense",)
    """Reward settings: "dense", "sparse=5", "delay=5", or several joined by "&"."""

    methods: tuple[Method, ...]
    """Searches and learners, of different labels."""

    seeds: int = 5
    """Number of seeds, 0 to seeds - 1, of each task, reward setting and method."""

    env_steps: int
    """Budget of a trial in steps of the task, training episodes together."""

    points: int = 20
    """Evaluation points, equally spaced over the budget."""

    test_episodes: int = 100
    """Held-out episodes at each point."""

    final_test_episodes: int = 1000
    """Held-out episodes at the last point."""

    held_out_seed: int = SEARCH_HELD_OUT_SEED
    """Which part of a set of held-out episodes the trials are scored on; the same for all."""

    held_out_set: str = DEVELOPMENT_SET
    """Set of held-out episodes: "development", or "sealed", which is for result tables alone."""

    workers: int = 0
    """Processes beside a trial's own that run its episodes, a core each."""

    retries: int = 2
    """Times that a trial that crashed is taken up again before it counts as failed."""

    paper: str = ""
    """Table of the paper whose rows and columns these are, one of `PAPER_TABLES`; empty if none."""

    def __post_init__(self) -> None:
        make_plain(self)
        if not isinstance(self.name, str) or not re.fullmatch(r"[A-Za-z0-9_.-]+", self.name):
            raise ConfigError("Experiment.name", self.name, "letters, digits, '_', '.' and '-'")
        for name, kind in (("tasks", str), ("rewards", str), ("methods", Method)):
            value = getattr(self, name)
            right = isinstance(value, tuple) and value
            if not (right and all(isinstance(each, kind) for each in value)):
                raise ConfigError(f"Experiment.{name}", value, f"a tuple of {_words(kind)}")
        if self.paper and self.paper not in PAPER_TABLES:
            raise unknown_name("table of the paper", str(self.paper), PAPER_TABLES)
        object.__setattr__(self, "rewards", tuple(reward_name(each) for each in self.rewards))
        check("Experiment", vars(self), _FIELD_RULES)
        for name, values in (
            ("tasks", self.tasks),
            ("rewards", self.rewards),
            ("methods", [method.label for method in self.methods]),
        ):
            if len(set(values)) < len(values):
                raise ConfigError(f"Experiment.{name}", list(values), "no name twice")
        for method in self.methods:
            for own in ("tasks", "rewards"):
                for each in getattr(method, own):
                    if each not in getattr(self, own):
                        what = f"{own[:-1]} of method {method.label!r}:"
                        raise unknown_name(what, each, getattr(self, own))
        names = [plan.trial for plan in self.trials()]
        if len(set(names)) < len(names):
            raise ConfigError("Experiment.tasks", list(self.tasks), "names that differ in a folder")

    def method(self, label: str) -> Method:
        """Return the method of a label."""
        return next(method for method in self.methods if method.label == label)

    def trials(self) -> tuple[TrialPlan, ...]:
        """Return all trials, a whole seed first, so that what is interrupted can be compared."""
        return tuple(
            TrialPlan(
                trial=file_name(f"{task}-{reward}-{method.label}-seed{seed}"),
                task=task,
                reward=reward,
                method=method.label,
                policy=method.policy,
                seed=seed,
            )
            for seed in range(self.seeds)
            for task in self.tasks
            for reward in self.rewards
            for method in self.methods
            if task in (method.tasks or (task,)) and reward in (method.rewards or (reward,))
        )

    def scaled(self, *, budget_fraction: float = 1.0, seeds: int | None = None) -> Self:
        """Return the same experiment, smaller.

        Args:
            budget_fraction: of the budgets, and of the held-out episodes, of which at least ten
                stay; in (0, 1].
            seeds: another number of them.
        Raises:
            ConfigError: a value is out of its range.
        """
        number = isinstance(budget_fraction, int | float)
        if not number or not 0.0 < budget_fraction <= 1.0:
            raise ConfigError("budget_fraction", budget_fraction, "a number in (0, 1]")

        def cut(count: int, least: int = 1) -> int:
            return max(ceil(round(count * budget_fraction, 9)), min(least, count))

        methods = tuple(
            replace(method, evaluations=cut(method.evaluations))
            if isinstance(method, SearchMethod) and method.evaluations is not None
            else method
            for method in self.methods
        )
        return replace(
            self,
            methods=methods,
            env_steps=cut(self.env_steps),
            test_episodes=cut(self.test_episodes, LEAST_EPISODES),
            final_test_episodes=cut(self.final_test_episodes, LEAST_EPISODES),
            seeds=self.seeds if seeds is None else seeds,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the experiment as JSON values."""
        values = asdict(self) | {"methods": [method_to_json(each) for each in self.methods]}
        plain: dict[str, Any] = json.loads(json.dumps(values))
        return plain

    @property
    def scored_as_searches(self) -> bool:
        """Whether a search's own test is of the episodes that the trials are scored on."""
        own = (DEVELOPMENT_SET, SEARCH_HELD_OUT_SEED)
        return (self.held_out_set, self.held_out_seed) == own

    def held_out_seeds(self, episodes: int) -> Seeds:
        """Return the seeds [episodes] on which all trials are scored."""
        return held_out_seeds(self.held_out_set, self.held_out_seed, episodes)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Undo `to_json`.

        Raises:
            RequestError: a setting is not known to this version, or has a wrong value.
        """
        known = [each.name for each in fields(cls)]
        for name in values:
            if name not in known:
                raise unknown_name("setting of an experiment", name, known)
        return cls(
            **{
                **values,
                "tasks": tuple(values["tasks"]),
                "rewards": tuple(values["rewards"]),
                "methods": tuple(method_from_json(each) for each in values["methods"]),
            }
        )


_FIELD_RULES: Final[Rules] = {
    "seeds": POSITIVE_INTEGER,
    "env_steps": POSITIVE_INTEGER,
    "points": POSITIVE_INTEGER,
    "test_episodes": POSITIVE_INTEGER,
    "final_test_episodes": POSITIVE_INTEGER,
    "held_out_seed": COUNT_OR_ZERO,
    "held_out_set": one_of(*HELD_OUT_SETS),
    "workers": COUNT_OR_ZERO,
    "retries": COUNT_OR_ZERO,
}


def _words(kind: Any) -> str:
    if kind is str:
        return "names, at least one"
    return f"{SearchMethod.__name__} and {LearnerMethod.__name__} values, at least one"
