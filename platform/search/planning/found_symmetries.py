"""Symmetries that a search looks for before it begins, where nobody has declared them."""

from dataclasses import asdict, replace
from typing import Final

from rolecast.core.seeds import Purpose, derived_seed
from rolecast.envs.found_symmetries import find_symmetries, least_play
from rolecast.envs.spec import BatchedTask
from rolecast.platform.search.planning.config import SearchConfig

RANDOM_PLAY_SHARE: Final = 0.04
"""Share of the env steps that is played at random where symmetries are to be found, before it is
rounded up to whole blocks of episodes."""

GREATEST_PLAY_SHARE: Final = 0.1
"""The same at most, where the least play is more; beyond it nothing is looked for."""


def with_found_symmetries(
    config: SearchConfig, task: BatchedTask, env_steps: int, *, play: bool
) -> SearchConfig:
    """Return the config with the symmetries that random play shows, where it asks for them.

    Its budget pays for the play. None are found in a budget too small for that.

    Args:
        config: of the search.
        task: whose running episodes are replaced.
        env_steps: that its budget is worth.
        play: false: none, and no tied weights, which need some.
    Raises:
        RunError: the task failed.
    """
    if config.policy_options.get("symmetries") != "found":
        return config
    none = {**config.policy_options, "symmetries": []}
    if not play:
        return replace(config, policy_options={**none, "tied_weights": False})
    if GREATEST_PLAY_SHARE * env_steps < least_play(task):
        return replace(config, policy_options=none)
    found = find_symmetries(
        task,
        env_steps=round(RANDOM_PLAY_SHARE * env_steps),
        seed=derived_seed(config.seed, Purpose.RANDOM_PLAY),
    )
    symmetries = [asdict(each) for each in found.symmetries]
    return replace(
        config,
        policy_options={**config.policy_options, "symmetries": symmetries},
        random_play_steps=found.env_steps,
    )


def symmetry_remark(config: SearchConfig) -> str | None:
    """Return which symmetries were found, where they were looked for, and where none are used."""
    if config.policy_options.get("symmetries") == []:
        if config.random_play_steps:
            played = f"{config.random_play_steps:,} env steps of random play"
            return f"weights follow no symmetries: none were found in {played}"
        return "weights follow no symmetries: none are given, or the budget is too small to look"
    if not config.random_play_steps:
        return None
    names = [each["name"] for each in config.policy_options.get("symmetries", ())]
    return (
        f"symmetries in {config.random_play_steps:,} env steps of random play ({len(names)}): "
        f"{'; '.join(names)}"
    )
