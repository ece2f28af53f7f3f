import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import parallel_api_test, parallel_seed_test

from rolecast.core.errors import ConfigError, RequestError
from rolecast.core.types import Float
from rolecast.envs import check
from rolecast.envs.check import check_task
from rolecast.envs.drone_delivery.task import DroneDeliveryTask
from rolecast.envs.registry import make_env, make_task
from rolecast.policies.registry import make_policy

SEEDS = np.array([5, 2**63 + 1, 17, 5], dtype=np.uint64)


def test_episodes_last_150_steps_and_pay_nothing_after() -> None:
    task = DroneDeliveryTask(3)
    task.reset(SEEDS)
    done = [task.step(np.ones((4, 3, 2)))[2] for _ in range(150)]
    assert not np.any(done[:149])
    assert done[149].all()
    state = task.state
    _, reward, still_done, metrics = task.step(np.ones((4, 3, 2)))
    np.testing.assert_array_equal(reward, 0.0)
    assert task.state is state
    assert still_done.all()
    assert not np.any(list(metrics.values()))


@pytest.mark.parametrize("bad", [np.zeros((4, 2, 2)), np.full((4, 3, 2), np.nan)])
def test_wrong_actions_are_refused(bad: Float) -> None:
    task = DroneDeliveryTask(3)
    task.reset(SEEDS)
    with pytest.raises(ConfigError, match="expected"):
        task.step(bad)


def test_a_step_before_the_reset_is_refused() -> None:
    with pytest.raises(RequestError, match="before its reset"):
        DroneDeliveryTask(3).step(np.zeros((1, 3, 2)))


@pytest.mark.parametrize(
    ("task_id", "message"),
    [
        ("drone_delivery_0", "N is 0; expected an integer >= 1"),
        ("drone_delivery_3?observation=full", "option of task 'drone_delivery_3'"),
        ("drone_deliveri_3", "did you mean 'drone_delivery_3'"),
    ],
)
def test_a_wrong_id_is_refused(task_id: str, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        make_task(task_id)


@pytest.mark.parametrize("n", [2, 3])
def test_a_team_passes_the_tests_of_pettingzoo(n: int) -> None:
    parallel_api_test(make_env(f"drone_delivery_{n}"), num_cycles=160)
    parallel_seed_test(lambda: make_env(f"drone_delivery_{n}"), num_cycles=30)


def test_a_single_drone_passes_the_test_of_gymnasium() -> None:
    with pytest.warns(UserWarning, match="infinit"):  # observations have no bounds
        check_env(make_env("drone_delivery_1"), skip_render_check=True)


def test_it_keeps_the_contract_of_batched_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "MOST_SECONDS", 0.02)
    report = check_task("drone_delivery_3")
    assert report.ok, report


@pytest.mark.parametrize("n", [1, 3, 6, 9, 16])
def test_every_policy_is_compact(n: int) -> None:
    for name in ("hom", "mlp"):
        assert make_policy(name, make_task(f"drone_delivery_{n}")).space.size < 500


def test_the_picture_shows_drones_points_and_trouble_where_they_are() -> None:
    task = DroneDeliveryTask(3)
    task.reset(SEEDS)
    task.state.positions[0] = [(-1.0, 0.0), (0.0, 0.0), (0.0, -1.0)]
    task.state.points[0] = [(-1.0, 1.0), (0.5, 0.5), (1.0, -1.0)]
    task.state.stopped[0, 1] = 3
    task.state.fuel[0, 2] = 0.0
    picture = task.frame(0).astype(int)
    assert picture.shape == (440, 440, 3)
    low, middle, high = 44, 220, 396  # pixels of -1, 0 and 1 in [-1.25, 1.25]
    own, point = picture[middle, low], picture[low, low]
    np.testing.assert_array_equal(own, point)
    assert own[2] > own[0] + 50  # the first drone is blue, and so is its point
    stopped, dry = picture[middle, middle], picture[high, middle]
    assert stopped[0] > stopped[1] + 100
    assert np.ptp(dry) == 0
    assert (picture[middle, high] > 240).all()
    assert not np.array_equal(task.frame(1), task.frame(0))
