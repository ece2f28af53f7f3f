"""The ledger: each learner where it is known what it should reach.

A baseline that is weak by mistake would make everything else here look good. So each is trained on
tasks where others have said what it reaches, with its authors' settings and a net of a known size.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from rolecast.baselines.budget_shares import within_shares
from rolecast.baselines.ddpg.published import LILLICRAP_SETTINGS
from rolecast.core.files import file_name
from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.methods import LearnerMethod
from rolecast.tune_configs.main_table import TABLE_HELD_OUT_SET

TD3_LATER_CODE: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "actor_lr": 3e-4,
        "critic_lr": 3e-4,
        "train_batch_size_per_learner": 256,
        "critic_hidden": (256, 256),
        "random_steps": 25_000,
        "num_steps_sampled_before_learning_starts": 25_000,
    }
)
"""TD3's settings in its authors' later code, for runs of a million steps."""

LATE_UPDATES: Final[Mapping[str, Any]] = MappingProxyType(
    {"random_steps": 1_000, "num_steps_sampled_before_learning_starts": 1_000}
)
"""No update before the policy acts."""

LEDGER_LEARNERS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = MappingProxyType(
    {
        **{
            name: (name, {})
            for name in (
                *("ddpg", "td3", "sac", "ppo", "mappo", "intrinsic_ppo"),
                *("maddpg", "facmac", "comix", "covdn"),
            )
        },
        "facmac nonmonotonic": ("facmac", {"mixer": "nonmonotonic"}),
        "ddpg 2016": ("ddpg", LILLICRAP_SETTINGS),
        "td3 later code": ("td3", TD3_LATER_CODE),
        "td3 late updates": ("td3", LATE_UPDATES),
        "independent ddpg": ("maddpg", {"critic_sees": "own"}),
    }
)
"""Label to algorithm and what differs from its defaults.

`maddpg` whose critics see their own agent alone is independent DDPG.
"""

GAME_LEARNERS: Final = ("independent ddpg", "maddpg", "facmac", "facmac nonmonotonic")
TEAM_LEARNERS: Final = ("maddpg", "facmac", "comix", "covdn", "ppo", "mappo")
HOPPER_LEARNERS: Final = (
    *("ppo", "sac", "td3", "td3 late updates", "td3 later code"),
    *("ddpg", "ddpg 2016", "intrinsic_ppo"),
)

GAMES_MODULE: Final = "python:rolecast.baselines.games"

GAME_SETTINGS: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "hidden": (32, 32),
        "critic_hidden": (32, 32),
        "actor_lr": 0.01,
        "critic_lr": 0.01,
        "gamma": 0.99,
        "train_batch_size_per_learner": 64,
        "random_steps": 800,
        "num_steps_sampled_before_learning_starts": 800,
        "noise_process": "gaussian",
        "exploration_noise": 0.1,
    }
)
"""A quicker pace than the defaults, which were chosen for a chase of 200,000 steps."""


def experiment(
    heading: str,
    task: str,
    env_steps: int,
    labels: Sequence[str],
    *,
    size: str = "small",
    settings: Mapping[str, Any] = MappingProxyType({}),
    test_episodes: int = 100,
    final_test_episodes: int = 1000,
    points: int = 10,
    seeds: int = 3,
) -> Experiment:
    """Return learners of one task, with nets of one size and what all are told."""
    return Experiment(
        name=file_name(f"ledger_{heading.replace(chr(39), '')}"),
        summary=f"Learners on {heading}",
        tasks=(task,),
        methods=tuple(_learner(label, {"size": size, **settings}, env_steps) for label in labels),
        seeds=seeds,
        env_steps=env_steps,
        points=points,
        test_episodes=test_episodes,
        final_test_episodes=final_test_episodes,
        held_out_set=TABLE_HELD_OUT_SET,
    )


def _learner(label: str, shared: Mapping[str, Any], env_steps: int) -> LearnerMethod:
    """Return a learner; what its authors chose for longer runs is cut to shares of the budget."""
    algorithm, own = LEDGER_LEARNERS[label]
    settings = {**shared, **within_shares(own, env_steps)}
    return LearnerMethod(algorithm=algorithm, settings=settings, label=label)


def _game(
    heading: str, game: str, env_steps: int, settings: Mapping[str, Any] = MappingProxyType({})
) -> Experiment:
    """Return a game of one step; all its plays are alike, so one held-out episode is enough."""
    return experiment(
        heading,
        f"{GAMES_MODULE}:{game}",
        env_steps,
        GAME_LEARNERS,
        settings=settings,
        test_episodes=1,
        final_test_episodes=1,
    )


TABLE: Final[Mapping[str, Sequence[Experiment]]] = MappingProxyType(
    {
        heading: (each,)
        for heading, each in {
            "Pendulum-v1": experiment(
                "Pendulum-v1",
                "gym:Pendulum-v1",
                20_000,
                ("ddpg", "ddpg 2016", "td3", "td3 later code", "sac"),
                size="paper",
            ),
            "hopper, small nets": experiment(
                "hopper, small nets", "hopper", 200_000, HOPPER_LEARNERS, test_episodes=20
            ),
            "hopper, authors' nets": experiment(
                "hopper, authors' nets",
                "hopper",
                200_000,
                HOPPER_LEARNERS,
                size="paper",
                test_episodes=20,
            ),
            "venture": _game(
                "venture", "venture", 6_000, {**GAME_SETTINGS, "updates_per_step": 0.25}
            ),
            "venture, defaults": _game("venture, defaults", "venture", 20_000),
            "ridge": _game("ridge", "ridge", 4_000, {**GAME_SETTINGS, "updates_per_step": 1.0}),
            "ridge, defaults": _game("ridge, defaults", "ridge", 20_000),
            "pred_prey_3": experiment("pred_prey_3", "pred_prey_3", 200_000, TEAM_LEARNERS),
            "pred_prey_3, 2M": experiment(
                "pred_prey_3, 2M", "pred_prey_3", 2_000_000, TEAM_LEARNERS
            ),
        }.items()
    }
)
"""Heading to its experiment, in the order of the ledger."""

QUICK_EXPERIMENT: Final = experiment(
    "Pendulum-v1, quick",
    "gym:Pendulum-v1",
    600,
    ("td3",),
    test_episodes=2,
    final_test_episodes=3,
    points=2,
    seeds=1,
)
"""A training of seconds, which shows that the command works."""

AUTHORS_TUNING: Final = "none: its authors' settings"
TEAM_TUNING: Final = "exploration and pace of updates chosen on predator-prey (its README)"
GAME_TUNING: Final = "nets, rates and pace for both games, the same for all; a handful of runs"

LEARNER_TUNING: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(
            ("maddpg", "facmac", "comix", "covdn", "facmac nonmonotonic", "independent ddpg"),
            TEAM_TUNING,
        ),
        "ddpg": "none: those of Tianshou's benchmark",
        "td3 later code": "none: those of its authors' later code",
        "td3 late updates": (
            "none: those of its authors' paper, with no update before the policy acts"
        ),
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
                "ddpg": "1272, deviation 663 (200k)",
                "td3": "2441, deviation 786 (200k, its authors' curves, 10 seeds)",
                "td3 later code": (
                    "887, deviation 649 (200k); its authors' own curves: 2441, deviation 786 "
                    "(200k, 10 seeds)"
                ),
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


def tuning_of(heading: str, label: str) -> str:
    """Return what was spent on choosing the settings of a learner under a heading."""
    return KNOWN_RETURNS[heading].tuning or LEARNER_TUNING.get(label, AUTHORS_TUNING)
