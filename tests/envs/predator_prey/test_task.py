import numpy as np
import pytest

from rolecast.core.errors import ConfigError, RequestError
from rolecast.envs.predator_prey.task import PredatorPreyTask
from rolecast.envs.registry import make_task

SEEDS = np.array([5, 2**63 + 1, 17, 5], dtype=np.uint64)


def test_episodes_last_25_steps_and_pay_nothing_after() -> None:
    task = PredatorPreyTask(3)
    task.reset(SEEDS)
    done = [task.step(np.ones((4, 3, 2)))[2] for _ in range(25)]
    assert not np.any(done[:24])
    assert done[24].all()
    positions = task.positions
    _, reward, still_done, metrics = task.step(np.ones((4, 3, 2)))
    np.testing.assert_array_equal(reward, 0.0)
    np.testing.assert_array_equal(task.positions, positions)
    assert still_done.all()
    assert metrics == {}


@pytest.mark.parametrize(
    ("actions", "message"),
    [(np.zeros((4, 2, 2)), "expected shape"), (np.full((4, 3, 2), np.nan), "expected finite")],
)
def test_wrong_actions_are_refused(actions: np.ndarray, message: str) -> None:
    task = PredatorPreyTask(3)
    task.reset(SEEDS)
    with pytest.raises(ConfigError, match=message):
        task.step(actions)


def test_a_step_before_the_reset_is_refused() -> None:
    with pytest.raises(RequestError, match="before its reset"):
        PredatorPreyTask(3).step(np.zeros((1, 3, 2)))


def test_predators_that_differ_do_so_in_the_task() -> None:
    equal, unequal = PredatorPreyTask(3), PredatorPreyTask(3, heterogeneous=True)
    for task in (equal, unequal):
        task.reset(SEEDS)
        for _ in range(10):
            task.step(np.ones((4, 3, 2)))
    speed = [np.linalg.norm(task.velocities[:, :3], axis=-1).max() for task in (equal, unequal)]
    assert speed[0] <= 1.0 + 1e-12 < speed[1] <= 1.5 + 1e-12


def test_the_picture_shows_every_kind_where_it_is() -> None:
    task = PredatorPreyTask(3)
    task.reset(SEEDS)
    task.positions[0] = [(-1, -1), (-1, 0), (-1, 1), (1, 1), (1, 0), (1, -1)]
    picture = task.frame(0)
    assert picture.shape == (520, 480, 3)
    assert picture.dtype == np.uint8
    left, right, top, bottom = 62, 417, 102, 456  # pixels of -1 and 1 in [-1.3, 1.3]
    assert picture[bottom, left].tolist() == [0x00, 0x72, 0xB2]
    assert picture[top, right].tolist() == [0xD5, 0x5E, 0x00]
    assert picture[bottom, right].tolist() == [0xD9] * 3
    assert picture[279, 240].tolist() == [255] * 3


@pytest.mark.parametrize(
    ("options", "task_id"),
    [
        ({"capture": 1, "view": 1.5, "scout": 0}, "pred_prey_3"),
        ({"capture": 2}, "pred_prey_3?capture=2"),
        ({"view": 0.5}, "pred_prey_3?view=0.5"),
        ({"view": 2}, "pred_prey_3?view=2"),
        ({"view": 2.0, "scout": 1, "capture": 3}, "pred_prey_3?capture=3&scout=1&view=2"),
        ({"heterogeneous": True, "capture": 2}, "het_pred_prey_3?capture=2"),
    ],
)
def test_an_id_keeps_the_rules_that_are_not_the_default(
    options: dict[str, float], task_id: str
) -> None:
    task = PredatorPreyTask(3, **options)  # type: ignore[arg-type]  # numbers of their kinds
    assert task.spec.id == make_task(task_id).spec.id == task_id


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"capture": 0}, r"capture is 0; expected an integer in \[1, 3\]"),
        ({"capture": 4}, r"capture is 4; expected an integer in \[1, 3\]"),
        ({"capture": 2.0}, "capture is 2.0; expected an integer"),
        ({"view": 0}, "view is 0; expected a finite number > 0"),
        ({"view": "far"}, "view is 'far'; expected a finite number > 0"),
        ({"scout": 3}, r"scout is 3; expected an integer in \[0, 2\]"),
        ({"scout": True}, "scout is True; expected an integer"),
    ],
)
def test_a_rule_out_of_its_range_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        PredatorPreyTask(3, **options)  # type: ignore[arg-type]  # what is tested


def test_agents_of_a_scout_are_not_equal() -> None:
    assert PredatorPreyTask(3, capture=2, view=0.5).spec.homogeneous_agents
    assert not PredatorPreyTask(3, scout=1).spec.homogeneous_agents


def test_scouts_and_others_cannot_be_exchanged() -> None:
    plain, scouted = PredatorPreyTask(3, capture=2, view=0.5), PredatorPreyTask(3, scout=2)
    assert [one.exchanges_agents for one in plain.spec.symmetries].count(True) == 1
    assert not any(one.exchanges_agents for one in scouted.spec.symmetries)
    assert len(scouted.spec.symmetries) == len(plain.spec.symmetries) - 1
