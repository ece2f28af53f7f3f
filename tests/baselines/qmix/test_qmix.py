"""IQL, VDN and QMIX: on games with a known best, by hand, and on environments of others."""

from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

from rolecast.baselines.methods import METHODS
from rolecast.baselines.registry import algorithm_config
from rolecast.baselines.rllib.environments import check_fit
from rolecast.baselines.rllib.replay import Batch
from rolecast.core.errors import RequestError
from rolecast.envs.registry import make_task
from tests.baselines.conftest import fill, make_batch, make_learner, tensors

SPREAD = "pettingzoo:mpe2.simple_spread_v3?N=2&max_cycles=10"
SECOND_STEP = {0: np.full((2, 2), 7.0), 1: np.array([[0.0, 1.0], [1.0, 8.0]])}
"""Payoffs of the second step, by the first agent's first choice: Rashid et al., table 1."""

MISLEADING = np.array([[8.0, -12.0, -12.0], [-12.0, 0.0, 0.0], [-12.0, 0.0, 0.0]])
"""Payoffs of the matrix game of Son et al. (2019), table 1."""


def learner(name: str, choices: int, states: int, **settings: Any) -> Any:
    given = {"hidden": (32,), "critic_lr": 1e-2, "tau": 0.05, "mixing_embedding": 8}
    config = algorithm_config(name)().training(**(given | settings))
    return make_learner(config, agents=2, observed=states, acted=choices)


def rows(transitions: list[tuple[int, tuple[int, ...], float, int, bool]], n: int) -> Batch:
    """Return transitions (state, choices, reward, next state, end); both agents see the state."""
    states, joint, rewards, following, ends = zip(*transitions, strict=True)
    world = np.eye(max(*states, *following) + 1, dtype=np.float32)
    size = len(transitions)
    return {
        "observations": np.repeat(world[list(states)][:, None], 2, axis=1),
        "actions": np.eye(n, dtype=np.float32)[np.array(joint)],
        "rewards": np.repeat(np.array(rewards, dtype=np.float32)[:, None], 2, axis=1),
        "next_observations": np.repeat(world[list(following)][:, None], 2, axis=1),
        "states": np.zeros((size, 0), dtype=np.float32),
        "next_states": np.zeros((size, 0), dtype=np.float32),
        "terminated": np.array(ends, dtype=np.float32),
    }


def two_step_return(one: Any) -> float:
    """Return what the greedy choices earn in the two-step game."""
    seen = torch.eye(3)
    first = int(one.net.act(seen[0].repeat(1, 2, 1))[0, 0].argmax())
    second = one.net.act(seen[1 + first].repeat(1, 2, 1))[0].argmax(dim=-1)
    return float(SECOND_STEP[first][tuple(second.tolist())])


@pytest.mark.parametrize(("name", "earned"), [("qmix", 8.0), ("vdn", 7.0)])
def test_the_two_step_game_has_the_end_that_its_authors_tell(name: str, earned: float) -> None:
    """Every transition equally often, as under uniform choices; Rashid et al. (2018), section 5."""
    one = learner(name, 2, 3, gamma=0.99)
    joint = list(product(range(2), repeat=2))
    game = [(0, choice, 0.0, 1 + choice[0], False) for choice in joint]
    game += [
        (1 + branch, choice, float(SECOND_STEP[branch][choice]), 0, True)
        for branch in (0, 1)
        for choice in joint
    ]
    one.update_fast([rows(game, 2)] * 1500)
    assert two_step_return(one) == earned


@pytest.mark.parametrize(("name", "earned"), [("qmix", 0.0), ("vdn", 0.0), ("iql", 0.0)])
def test_no_monotonic_value_finds_the_best_of_a_misleading_game(name: str, earned: float) -> None:
    """Under uniform choices, all three settle for 0 where 8 could be had: Son et al. (2019)."""
    one = learner(name, 3, 1)
    game = [
        (0, choice, float(MISLEADING[choice]), 0, True) for choice in product(range(3), repeat=2)
    ]
    one.update_fast([rows(game, 3)] * 1200)
    chosen = one.net.act(torch.ones(1, 2, 1))[0].argmax(dim=-1)
    assert float(MISLEADING[tuple(chosen.tolist())]) == earned


def test_the_mixed_value_of_a_game_that_it_can_represent_is_its_payoffs() -> None:
    """A payoff that rises with each agent's own choice: QMIX learns all four entries."""
    payoffs = np.array([[0.0, 1.0], [1.0, 8.0]])
    one = learner("qmix", 2, 1)
    game = [(0, choice, float(payoffs[choice]), 0, True) for choice in product(range(2), repeat=2)]
    batch = rows(game, 2)
    one.update_fast([batch] * 1500)
    assert float(one.critic_loss(tensors(batch)).detach()) < 0.05


def test_the_target_values_the_choice_of_the_fast_net_by_the_slow_one() -> None:
    """Fast utilities 1 and 2 choose the second; the slow ones say 10 and 5: 1 + 0.5 * 5 each."""
    one = learner("iql", 2, 3, gamma=0.5)
    fill(one.net.actor, 0.0)
    fill(one.net.targets["actor"], 0.0)
    with torch.no_grad():
        one.net.actor[-1].bias.copy_(torch.tensor([1.0, 2.0]))
        one.net.targets["actor"][-1].bias.copy_(torch.tensor([10.0, 5.0]))
    batch = tensors(make_batch(2, 2, 3, 2))
    batch["rewards"] = torch.ones(2, 2)
    batch["terminated"] = torch.tensor([0.0, 1.0])
    batch["actions"] = torch.tensor([[[1.0, 0.0], [0.0, 1.0]]]).repeat(2, 1, 1)
    goes_on = (3.5 - 1.0) ** 2 + (3.5 - 2.0) ** 2
    ends = (1.0 - 1.0) ** 2 + (1.0 - 2.0) ** 2
    assert one.critic_loss(batch).item() == pytest.approx((goes_on + ends) / 2)


def test_the_share_of_uniform_choices_falls_along_a_line() -> None:
    net = learner("qmix", 2, 3, epsilon_steps=100, final_epsilon=0.2).net
    assert [net.exploration_rate(step) for step in (0, 50, 100, 900, None)] == pytest.approx(
        [1.0, 0.6, 0.2, 0.2, 0.2]
    )


def test_choices_are_greedy_but_for_their_share() -> None:
    """False alarm: 1e-6. Of 20,000 choices among 2, half of epsilon 0.2 are not the greedy one."""
    net = learner("iql", 2, 3, final_epsilon=0.2, epsilon_steps=1).net
    batch = {"obs": torch.randn(10_000, 2, 3, generator=torch.Generator().manual_seed(1))}
    told = net.forward_exploration(batch, step=9, generator=torch.Generator().manual_seed(2))
    actions = told["actions"]
    assert (actions.sum(dim=-1) == 1.0).all()
    other = (actions != net.act(batch["obs"])).any(dim=-1).float().mean().item()
    assert abs(other - 0.1) < 4.89 * np.sqrt(0.1 * 0.9 / 20_000)


def test_settings_are_the_same_for_long_episodes() -> None:
    config = algorithm_config("vdn")().suit(1000)
    assert (config.gamma, config.updates_per_step, config.mixer) == (0.99, 0.125, "sum")


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ("pred_prey_3", "qmix chooses among a few actions and task 'pred_prey_3' takes real"),
        ("gym:Pendulum-v1", "takes Box.*expected Discrete actions"),
    ],
)
def test_a_task_of_the_other_kind_is_refused(task: str, words: str) -> None:
    with pytest.raises(RequestError, match=words):
        check_fit(make_task(task), "qmix", teams=True, discrete=True)


@pytest.mark.usefixtures("ray_cluster")
@pytest.mark.filterwarnings("ignore::DeprecationWarning:ray")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("name", ["iql", "vdn", "qmix"])
def test_a_trial_learns_in_a_pettingzoo_environment_of_choices(name: str) -> None:
    settings = {
        "size": "small",
        "train_batch_size_per_learner": 16,
        "num_steps_sampled_before_learning_starts": 40,
    }
    METHODS[name].check(make_task(SPREAD).spec, settings)
    trial: Any = METHODS[name].start(SPREAD, settings, seed=1, workers=0, env_steps=240)
    _, before = trial.policy()
    told = trial.train(240)
    assert told.env_steps == 240
    assert len(told.returns) == 24
    policy, weights = trial.policy()
    assert (weights != before).any()
    seen = np.random.default_rng(0).normal(
        size=(1, 5, 2, trial._algorithm.get_module().observation_size)
    )
    actions = policy.act(weights, seen)
    assert actions.shape == (1, 5, 2, 5)
    assert (actions.sum(axis=-1) == 1.0).all()
    trial.close()


@pytest.mark.parametrize("name", ["iql", "vdn", "qmix"])
def test_an_evaluation_takes_the_best_choices(name: str) -> None:
    """As of RLlib's DQN; with the share of uniform choices, somebody of a team often strays."""
    config = algorithm_config(name)().environment(SPREAD)
    assert config.explore
    config.freeze()
    evaluated = config.get_evaluation_config_object()
    assert evaluated is not None
    assert not evaluated.explore
