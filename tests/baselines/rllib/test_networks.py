"""Sizes of policies against the tables of the paper."""

from typing import Any

import pytest
import torch

from rolecast.baselines.registry import algorithm_config
from tests.baselines.conftest import make_learner

SINGLE = {
    "ant": (27, 8, 478),
    "hopper": (11, 3, 263),
    "swimmer": (8, 2, 222),
    "walker": (17, 6, 356),
}
"""Table 2: numbers observed, numbers acted with, parameters of a policy."""


def acting(net: Any) -> int:
    return sum(p.numel() for module in net.acting_modules() for p in module.parameters())


@pytest.mark.parametrize("name", ["ddpg", "sac", "td3"])
@pytest.mark.parametrize("task", SINGLE)
def test_small_policies_have_as_many_parameters_as_table_2_says(name: str, task: str) -> None:
    observed, acted, count = SINGLE[task]
    config = algorithm_config(name)().training(size="small", critic_hidden=(4,))
    assert acting(make_learner(config, 1, observed, acted).net) == count


@pytest.mark.parametrize(
    ("name", "size", "hidden"),
    [
        ("ddpg", "paper", (256, 256)),
        ("td3", "paper", (400, 300)),
        ("sac", "paper", (256, 256)),
        ("td3", "xl", (400, 400)),
    ],
)
def test_other_sizes_are_the_authors_and_400_400(
    name: str, size: str, hidden: tuple[int, int]
) -> None:
    config = algorithm_config(name)().training(size=size, critic_hidden=(4,))
    one, two = hidden
    assert acting(make_learner(config, 1, 11, 3).net) == 12 * one + (one + 1) * two + (two + 1) * 3


def test_all_agents_act_by_one_network_each_on_its_own_view() -> None:
    config = algorithm_config("td3")().training(size="small", critic_hidden=(4,))
    net = make_learner(config, 3, 16, 2).net
    assert acting(net) == 478  # table 3, 16-14-14-2
    views = torch.randn(5, 3, 16)
    actions = net.act(views)
    swapped = net.act(views[:, [2, 0, 1]])
    torch.testing.assert_close(actions[:, [2, 0, 1]], swapped)


def test_weights_that_only_learning_needs_are_not_sent_to_runners() -> None:
    config = algorithm_config("sac")().training(size="small", critic_hidden=(4,))
    net = make_learner(config, 1, 3, 1).net
    names = {name.partition(".")[0] for name in net.get_state(inference_only=True)}
    assert names == {"actor"}
