from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rolecast.core.errors import ConfigError
from rolecast.envs.spec import TaskSpec
from rolecast.platform.optimizers.protocol import Proposal
from rolecast.platform.optimizers.registry import optimizer_config
from rolecast.platform.search.planning.config import SearchConfig
from rolecast.platform.search.planning.plan import make_plan
from rolecast.platform.search.planning.policy_hints import informed_config
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
    assert config.outcome_transform == "automatic"
    config = informed_config(optimizer_config(name, levelling="none"), policy)
    assert config.outcome_transform == "none"


def test_what_a_user_gives_is_kept() -> None:
    given = optimizer_config("local_gp", groups=(0, 1, 1), levelling="rank")
    assert informed_config(given, make_policy("mlp", SPEC)) is given


def test_ties_without_an_orbit_are_none() -> None:
    """As of symmetries that hold all weights at their centre."""
    space = SimpleNamespace(input_groups=np.arange(2), ties=np.zeros(2, dtype=int), tied=False)
    policy: Any = SimpleNamespace(space=space)
    config: Any = informed_config(optimizer_config("local_gp"), policy)
    assert (config.groups, config.ties) == ((0, 1), None)


@pytest.mark.parametrize("name", ["random", "cmaes"])
def test_an_optimizer_that_can_use_nothing_is_left_alone(name: str) -> None:
    config = optimizer_config(name)
    assert informed_config(config, make_policy("mlp", SPEC)) is config
    assert np.isfinite(make_policy("mlp", SPEC).space.centre).all()


ROBOT = TaskSpec(id="robot", agents=1, observation_size=11, action_size=3, horizon=1000)


def test_a_linear_policy_of_one_agent_hints_at_its_settings() -> None:
    policy = make_policy("linear", ROBOT)
    for name in ("local_gp", "dss_gp_ucb"):
        config: Any = informed_config(optimizer_config(name), policy)
        assert config.outcome_transform == "none"
        assert config.restart_at_centre is False
        assert config.groups == tuple(range(36))
        assert config.radius == 0.2
        assert config.proposal(4_000) == Proposal(episodes=1, batch_size=8)
    given: Any = informed_config(
        optimizer_config("local_gp", outcome_transform="rank", batch_plan=(2, 20)), policy
    )
    assert given.outcome_transform == "rank"
    assert given.proposal(100) == Proposal(episodes=2, batch_size=20)
    assert informed_config(optimizer_config("cmaes"), policy) == optimizer_config("cmaes")


def test_a_cloud_is_narrower_where_a_linear_policy_has_more_weights() -> None:
    """Twelve times the weights of the hopper: 1 / sqrt(12) of its radius, or what a user says."""
    walker = make_policy("linear", replace(ROBOT, observation_size=35, action_size=12))
    config: Any = informed_config(optimizer_config("local_gp"), walker)
    assert config.radius == pytest.approx(0.2 / 12**0.5)
    given: Any = informed_config(optimizer_config("local_gp", radius=0.3), walker)
    assert given.radius == 0.3


def test_a_long_budget_of_env_steps_has_several_starts_unless_a_user_says_otherwise() -> None:
    def starts(budget: dict[str, int], **given: Any) -> Any:
        settings: Any = {"task": "hopper", "policy": "linear", **budget, **given}
        return make_plan(SearchConfig.from_json(settings)).config.optimizer_settings.get("starts")

    assert starts({"env_steps": 1_000_000}) == 4
    assert starts({"env_steps": 1_000_000}, optimizer="local_gp") == 4
    assert starts({"env_steps": 1_000_000}, optimizer_settings={"starts": 1}) == 1
    assert starts({"env_steps": 900_000}) == 4
    assert starts({"env_steps": 899_000}) is None
    assert starts({"env_steps": 1_000_000}, task="walker2d") is None
    assert starts({"evaluations": 100_000}) is None
    assert starts({"env_steps": 1_000_000}, optimizer="cmaes") is None
    assert starts({"env_steps": 1_000_000}, policy="mlp") is None


def test_hints_reach_the_plan_of_a_search_and_a_user_overrides_them() -> None:
    asked: dict[str, Any] = {
        "task": "hopper",
        "policy": "linear",
        "optimizer": "local_gp",
        "env_steps": 1_000_000,
    }
    plan = make_plan(SearchConfig(**asked))
    assert (plan.episodes, plan.batch_size) == (1, 8)
    plan = make_plan(SearchConfig(**asked, episodes=3, batch_size=12))
    assert (plan.episodes, plan.batch_size) == (3, 12)
    team = make_plan(SearchConfig(**asked | {"task": "pred_prey_3"}))
    assert (team.episodes, team.batch_size) == (8, 60)
    assert team.optimizer.outcome_transform == "automatic"  # type: ignore[attr-defined]


def test_a_batch_plan_that_is_no_pair_of_counts_is_refused() -> None:
    for wrong in ((1,), (0, 8), 8):
        with pytest.raises(ConfigError, match=r"batch_plan is .* expected two integers >= 1"):
            optimizer_config("local_gp", batch_plan=wrong)
