"""A cell of the ledger: which baseline learns, where and with which seed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from rolecast.platform.reports.comparison.paper import paper_number

UNTUNED: Final = "none: its authors' settings"
TEAM_TUNED: Final = "exploration and pace of updates chosen on predator-prey (its README)"


@dataclass(frozen=True, kw_only=True)
class Arena:
    """What is learned, and for how long."""

    name: str
    """As the ledger names it."""

    task: str
    """Task id, reward settings included."""

    size: str
    """Of the policy's net: "small", as the paper's; "paper", its authors'."""

    env_steps: int
    """Budget of one training."""

    contestants: tuple[str, ...]
    """Labels of those who learn it."""

    goal: str
    """What was hoped for, in words."""

    lines: Mapping[str, float] = field(default_factory=dict)
    """Returns to compare with, by what earns them."""

    published: Mapping[str, str] = field(default_factory=dict)
    """Contestant to what others have printed, with budget."""

    source: str = ""
    """Where that was printed."""

    test_episodes: int = 100
    """Held-out episodes at each point."""

    final_test_episodes: int = 1000
    """Held-out episodes at the end."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    """What all who learn it are told, before their own settings."""

    tuning: str | None = None
    """What was spent on choosing these; None for what is said of each contestant."""


@dataclass(frozen=True, kw_only=True)
class Contestant:
    """Who learns."""

    label: str
    """As the ledger names it."""

    algorithm: str
    """Name among the learning methods."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    """What differs from its defaults, beside the size."""

    tuning: str = UNTUNED
    """What was spent on choosing settings."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One training with one seed."""

    arena: Arena
    contestant: Contestant
    seed: int
    points: int = 10
    """Equally spaced env steps at which the policy is scored."""

    @property
    def key(self) -> str:
        """What tells this cell from all others."""
        return f"{self.arena.name} / {self.contestant.label} / {self.seed}"

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of the algorithm."""
        return {"size": self.arena.size, **self.arena.settings, **self.contestant.settings}

    @property
    def tuning(self) -> str:
        """What was spent on choosing the settings."""
        return self.arena.tuning or self.contestant.tuning

    @property
    def paper(self) -> str:
        """What the DSS-GP-UCB paper prints for the same task, net and budget; empty if nothing."""
        found = paper_number(self.arena.task, "dense", self.contestant.algorithm, self.arena.size)
        return "" if found is None else f"{found.text} (table {found.table})"


CONTESTANTS: Final[Mapping[str, Contestant]] = {
    each.label: each
    for each in (
        *(
            Contestant(label=name, algorithm=name)
            for name in ("ddpg", "td3", "sac", "ppo", "mappo", "intrinsic_ppo")
        ),
        *(
            Contestant(label=name, algorithm=name, tuning=TEAM_TUNED)
            for name in ("maddpg", "facmac", "comix", "covdn")
        ),
        Contestant(
            label="facmac nonmonotonic",
            algorithm="facmac",
            settings={"mixer": "nonmonotonic"},
            tuning=TEAM_TUNED,
        ),
        Contestant(
            label="ddpg tianshou",
            algorithm="ddpg",
            settings={
                "tau": 0.005,
                "actor_lr": 1e-3,
                "critic_lr": 1e-3,
                "train_batch_size_per_learner": 256,
                "noise_process": "gaussian",
                "exploration_noise": 0.1,
                "critic_hidden": (256, 256),
                "last_layer": None,
            },
            tuning="none: those of Tianshou's benchmark",
        ),
        Contestant(
            label="td3 2018",
            algorithm="td3",
            settings={
                "actor_lr": 1e-3,
                "critic_lr": 1e-3,
                "train_batch_size_per_learner": 100,
                "critic_hidden": (400, 300),
                "random_steps": 1_000,
                "num_steps_sampled_before_learning_starts": 1_000,
            },
            tuning="none: those of its authors' paper, not of their later code",
        ),
        Contestant(
            label="independent ddpg",
            algorithm="maddpg",
            settings={"critic_sees": "own"},
            tuning=TEAM_TUNED,
        ),
    )
}
"""By label. `maddpg` whose critics see their own agent alone is independent DDPG."""
