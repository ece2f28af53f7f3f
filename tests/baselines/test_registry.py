from typing import Any

import pytest

import rolecast.baselines
from rolecast.baselines.methods import METHODS
from rolecast.baselines.registry import ALGORITHM_FACTS, ALGORITHMS, algorithm_config
from rolecast.baselines.teams import TeamConfig
from rolecast.core.errors import RequestError
from rolecast.envs.registry import make_task
from rolecast.platform.tuning.learner import method_factory, refusals


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_is_found_by_its_name_and_by_its_config(name: str) -> None:
    config = algorithm_config(name)
    assert name == config.NAME
    assert getattr(rolecast.baselines, config.__name__) is config
    assert config.__name__ in dir(rolecast.baselines)
    assert method_factory(name, {}) is METHODS[name]


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_setting_has_a_default_that_its_rule_allows(name: str) -> None:
    config = algorithm_config(name)()
    config.check_settings()
    for setting in config.RULES:
        assert hasattr(config, setting)


@pytest.mark.parametrize(
    ("name", "task", "settings", "message"),
    [
        ("iql", "gym:Pendulum-v1", {}, "chooses among a few actions and .* takes Box"),
        ("td3", "pred_prey_3", {}, "acts for one agent and task 'pred_prey_3' has 3"),
        ("sac", "hopper", {"tua": 0.1}, "setting of sac 'tua' does not exist; did you mean 'tau'"),
        ("ddpg", "hopper", {"tau": 0.0}, r"DDPGConfig.tau is 0.0; expected a number in \(0, 1\]"),
        ("td3", "hopper", {"size": "big"}, "TD3Config.size is 'big'; expected 'small' or"),
        ("td3", "hopper", {"gamma": 1.5}, r"TD3Config.gamma is 1.5; expected a number in \[0, 1\]"),
        ("td3", "hopper", {"hidden": []}, "TD3Config.hidden is"),
        ("td3", "hopper", {"critic_hidden": None}, "critic_hidden is None; expected one or more"),
        ("sac", "hopper", {"grad_clip": "abc"}, "SACConfig.grad_clip is 'abc'; expected a number"),
        ("ppo", "hopper", {"lr": -1}, "PPOConfig.lr is -1; expected a number > 0, or a schedule"),
        ("ppo", "hopper", {"lr": [[0, 1e-3]]}, "PPOConfig.lr is .*; expected a number > 0, or a"),
        ("ppo", "hopper", {"entropy_coeff": "x"}, "PPOConfig.entropy_coeff is 'x'; expected a num"),
        ("ppo", "hopper", {"vf_clip_param": 0}, "PPOConfig.vf_clip_param is 0; expected a number"),
        ("ppo", "hopper", {"lr": [[9, 1e-3], [99, 1e-4]]}, "lr is .* whose steps begin at 0"),
        ("ppo", "hopper", {"entropy_coeff": [[0, 0.1], [5, 0.1], [3, 0.2]]}, "begin at 0 and rise"),
        ("ppo", "hopper", {"use_gae": False}, "setting of ppo 'use_gae' does not exist"),
        ("ppo", "hopper", {"learner_class": "x"}, "setting of ppo 'learner_class' does not exist"),
        ("ppo", "hopper", {"grad_clip_by": "value"}, "'grad_clip_by' .* did you mean 'grad_clip'"),
        ("ppo", "hopper", {"kl_target": -1}, "PPOConfig.kl_target is -1; expected a number > 0"),
        ("ppo", "hopper", {"use_kl_loss": "yes"}, "use_kl_loss is 'yes'; expected True or False"),
        ("td3", "hopper", {"rollout_fragment_length": 0}, "is 0; expected an integer >= 1"),
        ("ppo", "hopper", {"rollout_fragment_length": 8}, "'rollout_fragment_length' does not"),
        (
            "comix",
            "pred_prey_3",
            {"cem_elites": 100},
            "COMIXConfig.cem_elites is 100; .*_samples, 64",
        ),
        ("covdn", "pred_prey_3", {"cem_elites": 1}, "cem_elites is 1; expected an integer >= 2"),
        ("comix", "pred_prey_3", {"actor_lr": 0.1}, "setting of comix 'actor_lr' does not exist"),
        ("sac", "hopper", {"exploration_noise": 9}, "setting of sac 'exploration_noise' does not"),
        ("vdn", "hopper", {"random_steps": 9}, "setting of vdn 'random_steps' does not exist"),
        ("maddpg", "gym:Pendulum-v1", {"symmetries": True}, "symmetries is True; expected False"),
    ],
)
def test_what_cannot_be_learnt_is_refused_in_one_sentence(
    name: str, task: str, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(RequestError, match=message) as refused:
        METHODS[name].check(make_task(task).spec, settings)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_what_is_told_without_loading_rllib_is_true(name: str) -> None:
    facts, config = ALGORITHM_FACTS[name], algorithm_config(name)
    assert (facts.teams, facts.discrete) == (config.TEAMS, config.DISCRETE)
    long = config().suit(1000) if issubclass(config, TeamConfig) else config()
    assert facts.suited == (long.gamma != config().gamma)
    for task in ("hopper", "pred_prey_3", "pettingzoo:mpe2.simple_tag_v3", "gym:CartPole-v1"):
        made = make_task(task)
        try:
            METHODS[name].check(made.spec, {})
        except RequestError:
            assert refusals(made)[name] is not None
        else:
            assert refusals(made)[name] is None
        made.close()


def test_unknown_names_are_refused() -> None:
    with pytest.raises(RequestError, match="algorithm 'td4' does not exist; did you mean 'td3'"):
        algorithm_config("td4")
    with pytest.raises(AttributeError):
        rolecast.baselines.NoSuchConfig  # noqa: B018 - what is tested


def test_a_single_learning_rate_is_that_of_policy_and_critics() -> None:
    config = algorithm_config("ddpg")().training(lr=0.5)
    assert (config.actor_lr, config.critic_lr) == (0.5, 0.5)
    config.training(lr=0.25, actor_lr=0.125)
    assert (config.actor_lr, config.critic_lr) == (0.125, 0.25)


def test_settings_that_come_as_a_dictionary_are_those_of_the_config() -> None:
    """As Tune gives them."""
    config = algorithm_config("td3")().environment("hopper").training(tau=0.5, hidden=(7,))
    again = algorithm_config("td3")().update_from_dict(config.to_dict())
    assert (again.tau, again.hidden, again.env) == (0.5, (7,), "hopper")
    again.validate()
