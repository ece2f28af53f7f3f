"""Drone delivery on tensors against its readable float64 reference, along whole episodes."""

import numpy as np
import pytest
import torch

from rolecast.core.errors import ConfigError, RequestError
from rolecast.core.types import Float
from rolecast.envs.drone_delivery import torch_task
from rolecast.envs.drone_delivery.expert import expert_actions
from rolecast.envs.drone_delivery.task import DroneDeliveryTask
from rolecast.envs.drone_delivery.torch_task import TorchDroneDelivery
from rolecast.envs.drone_delivery.torch_world import TorchDroneState

SEEDS = np.array([0, 1, 2**32, 2**63 + 9, 2**64 - 1, *range(100, 143)], dtype=np.uint64)


def fly(task: DroneDeliveryTask, rng: np.random.Generator) -> Float:
    """Return actions [B, n, 2] with which all that can happen happens.

    Half of the teams fly as the expert that is blind to others, half full throttle to their points.
    """
    actions = expert_actions(task.params, task.state, blind=True)
    way = task.state.points - task.state.positions
    actions[::2] = np.sign(way[::2])
    return actions + 0.1 * rng.normal(size=actions.shape)


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_whole_episodes_in_float64_are_those_of_the_reference(n: int) -> None:
    reference = DroneDeliveryTask(n)
    task = TorchDroneDelivery(n, device="cpu", dtype=torch.float64)
    assert task.spec == reference.spec
    first = reference.reset(SEEDS)
    np.testing.assert_allclose(task.reset(SEEDS).numpy(), first, rtol=0.0, atol=1e-12)
    rng, happened = np.random.default_rng(0), dict.fromkeys(("deliveries", "collisions"), 0.0)
    stranded = 0.0
    for _ in range(task.params.horizon):
        actions = fly(reference, rng)
        expected, expected_reward, expected_done, metrics = reference.step(actions)
        observations, reward, done = task.step(torch.from_numpy(actions))
        np.testing.assert_allclose(observations.numpy(), expected, rtol=0.0, atol=1e-7)
        np.testing.assert_allclose(reward.numpy(), expected_reward, rtol=0.0, atol=1e-9)
        np.testing.assert_array_equal(done.numpy(), expected_done)
        np.testing.assert_array_equal(task.state.stopped.numpy().T, reference.state.stopped)
        np.testing.assert_array_equal(task.state.deliveries.numpy().T, reference.state.deliveries)
        happened = {name: count + metrics[name].sum() for name, count in happened.items()}
        stranded += metrics["empty_tank_steps"].sum()
    assert happened["deliveries"] > 50
    assert stranded > 50
    assert happened["collisions"] > (10 if n > 2 else -1)


@pytest.mark.parametrize("n", [1, 3])
def test_a_step_in_float32_from_the_state_of_the_reference_is_that_of_the_reference(n: int) -> None:
    """Each step begins where the reference stands.

    A distance or a tank may lie on the edge of what float32 rounds: allowed once in 500 episodes
    and steps.
    """
    reference = DroneDeliveryTask(n)
    task = TorchDroneDelivery(n, device="cpu")
    reference.reset(SEEDS)
    task.reset(SEEDS)
    rng, same = np.random.default_rng(0), []
    for _ in range(task.params.horizon):
        task.state = TorchDroneState(
            **{
                name: torch.as_tensor(held.T, dtype=getattr(task.state, name).dtype)
                for name, held in vars(reference.state).items()
            }
        )
        actions = fly(reference, rng)
        expected, expected_reward, _, _ = reference.step(actions)
        observations, reward, _ = task.step(torch.from_numpy(actions))
        assert observations.dtype == reward.dtype == torch.float32
        error = np.abs(observations.numpy() - expected).reshape(len(SEEDS), -1).max(axis=1)
        same.append((error < 1e-3) & (np.abs(reward.numpy() - expected_reward) < 1e-3))
    assert np.mean(same) >= 0.998


def test_pieces_of_a_batch_are_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = TorchDroneDelivery(3, device="cpu", dtype=torch.float64)
    monkeypatch.setattr(torch_task, "PAIRS_AT_ONCE", {"cpu": 7 * 9})
    cut = TorchDroneDelivery(3, device="cpu", dtype=torch.float64)
    actions = torch.from_numpy(np.random.default_rng(0).uniform(-1.0, 1.0, (48, 3, 2)))
    np.testing.assert_array_equal(whole.reset(SEEDS).numpy(), cut.reset(SEEDS).numpy())
    for _ in range(20):
        for one, other in zip(whole.step(actions), cut.step(actions), strict=True):
            np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=0.0, atol=1e-12)


def test_nothing_moves_and_nothing_pays_once_episodes_have_ended() -> None:
    task = TorchDroneDelivery(3, device="cpu")
    task.reset(SEEDS)
    actions = torch.ones(48, 3, 2)
    done = [task.step(actions)[2] for _ in range(150)]
    assert not torch.stack(done[:149]).any()
    assert done[149].all()
    state = task.state
    _, reward, still_done = task.step(actions)
    assert not reward.any()
    assert still_done.all()
    assert task.state is state


def test_what_cannot_be_done_is_refused() -> None:
    with pytest.raises(ConfigError, match="expected 'cpu', or 'cuda' where torch sees"):
        TorchDroneDelivery(3, device="abacus")
    with pytest.raises(ConfigError, match=r"float16; expected torch\.float32 or torch\.float64"):
        TorchDroneDelivery(3, dtype=torch.float16)
    task = TorchDroneDelivery(3, device="cpu")
    with pytest.raises(RequestError, match="stepped before its reset"):
        task.step(torch.zeros(0, 3, 2))
    task.reset(SEEDS)
    task.step(torch.zeros(48, 3, 2))
    bad = torch.zeros(48, 3, 2)
    bad[5, 2, 1] = torch.nan
    with pytest.raises(ConfigError, match="agent 2 in episode 5 at step 2 is nan; expected finite"):
        task.step(bad)
