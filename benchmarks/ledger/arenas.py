"""Which baseline learns what, and what is known of it elsewhere: the arenas of the ledger.

A baseline that is weak by mistake would make everything else here look good. So each is trained on
tasks where others have said what it reaches, with its authors' settings and a net of a known size.
"""

from collections.abc import Mapping
from typing import Any, Final

from rolecast.benchmarks.ledger.cells import CONTESTANTS, Arena, Cell

GAME_CONTESTANTS: Final = ("independent ddpg", "maddpg", "facmac", "facmac nonmonotonic")
TEAM_CONTESTANTS: Final = ("maddpg", "facmac", "comix", "covdn", "ppo", "mappo")
HOPPER_CONTESTANTS: Final = (
    "ppo",
    "sac",
    "td3",
    "td3 2018",
    "ddpg",
    "ddpg tianshou",
    "intrinsic_ppo",
)
GAME: Final = "python:rolecast.baselines.games"
GAME_SETTINGS: Final[Mapping[str, Any]] = {
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
"""A quicker pace than the defaults, which were chosen for a chase of 200,000 steps."""

GAME_TUNING: Final = "nets, rates and pace for both games, the same for all; a handful of runs"

GAME_LINES: Final[Mapping[str, Mapping[str, float]]] = {
    "venture": {"best": 1.0, "without trust": 0.0},
    "ridge": {"best": 1.0},
}
"""Returns to compare with, by game."""


def _game(game: str, *, env_steps: int, goal: str, updates_per_step: float | None = None) -> Arena:
    """Return a game of one step, at a pace of its own, or None for the defaults."""
    paced = updates_per_step is not None
    return Arena(
        name=game if paced else f"{game}, defaults",
        task=f"{GAME}:{game}",
        size="small",
        env_steps=env_steps,
        contestants=GAME_CONTESTANTS,
        goal=goal,
        lines=GAME_LINES[game],
        test_episodes=1,
        final_test_episodes=1,
        settings={**GAME_SETTINGS, "updates_per_step": updates_per_step} if paced else {},
        tuning=GAME_TUNING if paced else None,
    )


ARENAS: Final = (
    Arena(
        name="Pendulum-v1",
        task="gym:Pendulum-v1",
        size="paper",
        env_steps=20_000,
        contestants=("ddpg", "td3", "sac"),
        goal="above -200 within 20,000 env steps",
        lines={"goal": -200.0},
        published={"ddpg": "-152.1 (20k)", "td3": "-151.9 (20k)", "sac": "-157.0 (20k)"},
        source="RL Baselines3 Zoo, benchmark.md, one tuned run each, of 750 episodes",
    ),
    Arena(
        name="hopper, small nets",
        task="hopper",
        size="small",
        env_steps=200_000,
        contestants=HOPPER_CONTESTANTS,
        goal="within the range of the paper's table 4, which has the same nets and budget",
        test_episodes=20,
    ),
    Arena(
        name="hopper, authors' nets",
        task="hopper",
        size="paper",
        env_steps=200_000,
        contestants=HOPPER_CONTESTANTS,
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
        test_episodes=20,
    ),
    _game(
        "venture",
        env_steps=6_000,
        goal="centralised learners near the best return 1, independent ones near 0",
        updates_per_step=0.25,
    ),
    _game(
        "venture",
        env_steps=20_000,
        goal="the same with the defaults for predator-prey, three times as long",
    ),
    _game(
        "ridge",
        env_steps=4_000,
        goal=(
            "near the best return 1 where the policies climb one joint value together "
            "(facmac nonmonotonic), and a standstill where each climbs alone"
        ),
        updates_per_step=1.0,
    ),
    _game(
        "ridge",
        env_steps=20_000,
        goal="the same with the defaults for predator-prey: 2,400 updates in place of 3,200",
    ),
    Arena(
        name="pred_prey_3",
        task="pred_prey_3",
        size="small",
        env_steps=200_000,
        contestants=TEAM_CONTESTANTS,
        goal="far above random; chase and the searches beside it",
    ),
    Arena(
        name="pred_prey_3, 2M",
        task="pred_prey_3",
        size="small",
        env_steps=2_000_000,
        contestants=TEAM_CONTESTANTS,
        goal="what ten times the budget, the paper's, brings",
    ),
)
"""In the order of the ledger. Plays of the two games are all alike, so one is enough."""

QUICK: Final = Arena(
    name="Pendulum-v1, quick",
    task="gym:Pendulum-v1",
    size="small",
    env_steps=600,
    contestants=("td3",),
    goal="none: it shows that the command works",
    test_episodes=2,
    final_test_episodes=3,
)


def all_cells(seeds: int) -> list[Cell]:
    """Return the cells of the whole ledger, a whole seed of an arena first."""
    return [
        Cell(arena=arena, contestant=CONTESTANTS[label], seed=seed)
        for arena in ARENAS
        for seed in range(seeds)
        for label in arena.contestants
    ]


def quick_cells() -> list[Cell]:
    """Return a training of seconds."""
    return [Cell(arena=QUICK, contestant=CONTESTANTS["td3"], seed=0, points=2)]
