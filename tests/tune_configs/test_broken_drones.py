"""The settings of the dial of drones are what their comment says."""

from rolecast.baselines.facmac.config import FACMACConfig
from rolecast.baselines.teams import AUTHORS_SETTINGS, DISCOUNTED_PART
from rolecast.tune_configs.broken_drones import EPISODE_STEPS, FACMAC_SETTINGS


def test_learners_have_the_defaults_for_predator_prey_and_a_discount_that_suits() -> None:
    given, usual = dict(FACMAC_SETTINGS), FACMACConfig()
    assert given.pop("gamma") == 1.0 - DISCOUNTED_PART / EPISODE_STEPS
    assert given.pop("size") == "small"
    given["critic_hidden"] = tuple(given["critic_hidden"])
    assert given == {name: getattr(usual, name) for name in given}
    replaced = {*AUTHORS_SETTINGS["mujoco"]} - {"gamma", "replay_capacity", "grad_clip"}
    assert replaced <= {*given}
