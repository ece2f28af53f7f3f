import numpy as np
import pytest

from rolecast.core.errors import RequestError
from rolecast.envs.registry import make_task
from rolecast.envs.scripted import SCRIPTED, rollout_scripted

SEEDS = np.arange(20_000, 20_100, dtype=np.uint64)


@pytest.mark.parametrize(("n", "advantage"), [(3, 1.1), (6, 1.3), (9, 1.5)])
def test_giving_way_is_worth_much_and_chance_loses(n: int, advantage: float) -> None:
    """Standard errors of the means are below 3 %, so each bound is 3 of them away or more."""
    task = make_task(f"drone_delivery_{n}")
    expert, blind, chance = (
        rollout_scripted(task, name, SEEDS)[0] for name in ("expert", "blind_expert", "random")
    )
    assert expert.mean() > advantage * blind.mean() > 50.0 * n
    assert chance.max() < blind.min()
    assert chance.mean() < -1.5 * n


def test_alone_there_is_nobody_to_give_way_to() -> None:
    task = make_task("drone_delivery_1")
    expert, blind = (rollout_scripted(task, name, SEEDS)[0] for name in ("expert", "blind_expert"))
    np.testing.assert_array_equal(expert, blind)
    assert expert.min() > 0.0


def test_it_says_where_it_cannot_play() -> None:
    with pytest.raises(RequestError, match="'blind_expert' cannot play 'pred_prey_3'; expected a"):
        rollout_scripted(make_task("pred_prey_3"), "blind_expert", SEEDS[:1])


def test_each_script_knows_the_tasks_that_it_can_play() -> None:
    fits = {
        name: [script for script in SCRIPTED if SCRIPTED[script].plays(make_task(name))]
        for name in ("drone_delivery_3", "pred_prey_3", "gym:Pendulum-v1")
    }
    assert fits == {
        "drone_delivery_3": ["blind_expert", "expert", "random"],
        "pred_prey_3": ["chase", "pursuit", "random"],
        "gym:Pendulum-v1": ["random", "still"],
    }
