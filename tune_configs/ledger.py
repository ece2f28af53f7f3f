"""The ledger: each learner where it is known what it should reach.

A baseline that is weak by mistake would make everything else here look good. So each is trained on
tasks where others have said what it reaches, with its authors' settings and a net of a known size.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from rolecast.core.files import file_name
from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.methods import LearnerMethod
from rolecast.tune_configs.main_table import TABLE_HELD_OUT_SET

TIANSHOU_DDPG: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "tau": 0.005,
        "actor_lr": 1e-3,
        "critic_lr": 1e-3,
        "train_batch_size_per_learner": 256,
        "noise_process": "gaussian",
        "exploration_noise": 0.1,
        "critic_hidden": (256, 256),
        "last_layer": None,
    }
)
"""DDPG's settings in Tianshou's benchmark."""

TD3_OF_2018: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "actor_lr": 1e-3,
        "critic_lr": 1e-3,
        "train_batch_size_per_learner": 100,
        "critic_hidden": (400, 300),
        "random_steps": 1_000,
        "num_steps_sampled_before_learning_starts": 1_000,
    }
)
"""TD3's settings in its authors' paper, not in their later code."""

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
        "ddpg tianshou": ("ddpg", TIANSHOU_DDPG),
        "td3 2018": ("td3", TD3_OF_2018),
        "independent ddpg": ("maddpg", {"critic_sees": "own"}),
    }
)
"""Label to algorithm and what differs from its defaults.

`maddpg` whose critics see their own agent alone is independent DDPG.
"""

GAME_LEARNERS: Final = ("independent ddpg", "maddpg", "facmac", "facmac nonmonotonic")
TEAM_LEARNERS: Final = ("maddpg", "facmac", "comix", "covdn", "ppo", "mappo")
HOPPER_LEARNERS: Final = (
    *("ppo", "sac", "td3", "td3 2018"),
    *("ddpg", "ddpg tianshou", "intrinsic_ppo"),
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
        methods=tuple(_learner(label, {"size": size, **settings}) for label in labels),
        seeds=seeds,
        env_steps=env_steps,
        points=points,
        test_episodes=test_episodes,
        final_test_episodes=final_test_episodes,
        held_out_set=TABLE_HELD_OUT_SET,
    )


def _learner(label: str, shared: Mapping[str, Any]) -> LearnerMethod:
    algorithm, own = LEDGER_LEARNERS[label]
    return LearnerMethod(algorithm=algorithm, settings={**shared, **own}, label=label)


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
                "Pendulum-v1", "gym:Pendulum-v1", 20_000, ("ddpg", "td3", "sac"), size="paper"
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
