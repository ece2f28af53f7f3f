from typing import Any

import numpy as np
import pytest

from rolecast.envs.spec import TaskSpec
from rolecast.platform.optimizers.registry import optimizer_config
from rolecast.platform.search.policy_hints import informed_config
from rolecast.policies.registry import make_policy

SPEC = TaskSpec(id="mine", agents=3, observation_size=16, action_size=2, horizon=25)


def test_a_policy_tells_which_weights_read_the_same_input() -> None:
    policy = make_policy("hom", SPEC)
    config = informed_config(optimizer_config("local_gp"), policy)
    assert config.groups == tuple(policy.space.input_groups.tolist())  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["local_gp", "dss_gp_ucb", "gp_ucb"])
def test_returns_of_policies_are_levelled_unless_a_user_says_otherwise(name: str) -> None:
    policy = make_policy("mlp", SPEC)
    config: Any = informed_config(optimizer_config(name), policy)
    assert config.outcome_transform == "signed_sqrt"
    config = informed_config(optimizer_config(name, levelling="none"), policy)
    assert config.outcome_transform == "none"


def test_what_a_user_gives_is_kept() -> None:
    given = optimizer_config("local_gp", groups=(0, 1, 1), levelling="rank")
    assert informed_config(given, make_policy("mlp", SPEC)) is given


@pytest.mark.parametrize("name", ["random", "cmaes"])
def test_an_optimizer_that_can_use_nothing_is_left_alone(name: str) -> None:
    config = optimizer_config(name)
    assert informed_config(config, make_policy("mlp", SPEC)) is config
    assert np.isfinite(make_policy("mlp", SPEC).space.centre).all()
