"""Predator-prey on tensors against its readable float64 reference, along whole episodes."""

import numpy as np
import pytest
import torch

from rolecast.core.errors import ConfigError, RequestError
from rolecast.core.types import Float
from rolecast.envs.predator_prey import torch_task
from rolecast.envs.predator_prey.observation import VARIANTS
from rolecast.envs.predator_prey.task import PredatorPreyTask
from rolecast.envs.predator_prey.torch_task import TorchPredatorPrey

SEEDS = np.array([0, 1, 2**32, 2**63 + 9, 2**64 - 1, *range(100, 143)], dtype=np.uint64)
TEAMS = [(3, False), (6, False), (9, False), (3, True), (6, True)]


def hunt(task: PredatorPreyTask, rng: np.random.Generator) -> Float:
    """Return actions [B, n, 2]: towards the first prey, with noise, so that there are contacts."""
    n = task.params.predators
    towards = task.positions[:, n : n + 1] - task.positions[:, :n]
    return 3.0 * towards + 0.3 * rng.normal(size=towards.shape)


def both(
    n: int, dtype: torch.dtype, *, unequal: bool = False, variant: str = "nearest16"
) -> tuple[PredatorPreyTask, TorchPredatorPrey]:
    """Return the reference and the task on tensors."""
    return PredatorPreyTask(
        n, heterogeneous=unequal, observation=variant, task_seed=4
    ), TorchPredatorPrey(
        n, heterogeneous=unequal, observation=variant, task_seed=4, device="cpu", dtype=dtype
    )


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("n", "unequal"), TEAMS)
def test_whole_episodes_in_float64_are_those_of_the_reference(
    n: int, unequal: bool, variant: str
) -> None:
    reference, task = both(n, torch.float64, unequal=unequal, variant=variant)
    assert task.spec == reference.spec
    np.testing.assert_array_equal(task.reset(SEEDS).numpy(), reference.reset(SEEDS))
    rng, paid = np.random.default_rng(0), 0.0
    for _ in range(task.params.horizon):
        actions = hunt(reference, rng)
        expected, expected_reward, expected_done, _ = reference.step(actions)
        observations, reward, done = task.step(torch.from_numpy(actions))
        np.testing.assert_allclose(observations.numpy(), expected, rtol=0.0, atol=1e-9)
        np.testing.assert_allclose(task.positions.numpy(), reference.positions, rtol=0.0, atol=1e-9)
        np.testing.assert_allclose(
            task.velocities.numpy(), reference.velocities, rtol=0.0, atol=1e-9
        )
        np.testing.assert_array_equal(reward.numpy(), expected_reward)
        np.testing.assert_array_equal(done.numpy(), expected_done)
        paid += expected_reward.mean()
    assert paid > 10.0  # there were touches to count


@pytest.mark.parametrize(("n", "unequal"), TEAMS)
def test_a_step_in_float32_from_the_state_of_the_reference_is_that_of_the_reference(
    n: int, unequal: bool
) -> None:
    """No chaos: each step begins where the reference stands.

    A prey may take another of two points that are equally good to a float32, or a distance lie on
    the edge of a touch: allowed once in 500 episodes and steps.
    """
    reference, task = both(n, torch.float32, unequal=unequal)
    reference.reset(SEEDS)
    task.reset(SEEDS)
    rng, same = np.random.default_rng(0), []
    for _ in range(task.params.horizon):
        task._positions = torch.as_tensor(reference.positions.T, dtype=torch.float32)
        task._velocities = torch.as_tensor(reference.velocities.T, dtype=torch.float32)
        actions = hunt(reference, rng)
        expected, expected_reward, _, _ = reference.step(actions)
        observations, reward, _ = task.step(torch.from_numpy(actions))
        assert observations.dtype == reward.dtype == torch.float32
        error = np.abs(observations.numpy() - expected).reshape(len(SEEDS), -1).max(axis=1)
        same.append((error < 1e-3) & (reward.numpy() == expected_reward))
    assert np.mean(same) >= 0.998


def test_pieces_of_a_batch_are_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = TorchPredatorPrey(6, device="cpu", dtype=torch.float64)
    monkeypatch.setattr(torch_task, "POINTS_AT_ONCE", {"cpu": 7 * 1200})
    pieces = TorchPredatorPrey(6, device="cpu", dtype=torch.float64)
    actions = torch.from_numpy(np.random.default_rng(0).uniform(-1.0, 1.0, (48, 6, 2)))
    assert len(SEEDS) == 48
    np.testing.assert_array_equal(whole.reset(SEEDS).numpy(), pieces.reset(SEEDS).numpy())
    assert (len(whole._parts()), len(pieces._parts())) == (1, 7)
    for _ in range(5):
        for one, other in zip(whole.step(actions), pieces.step(actions), strict=True):
            np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=0.0, atol=1e-12)


def test_nothing_moves_and_nothing_pays_once_episodes_have_ended() -> None:
    task = TorchPredatorPrey(3, device="cpu")
    task.reset(SEEDS)
    actions = torch.ones(48, 3, 2)
    done = [task.step(actions)[2] for _ in range(25)]
    assert not torch.stack(done[:24]).any()
    assert done[24].all()
    positions = task.positions.clone()
    _, reward, still_done = task.step(actions)
    assert not reward.any()
    assert still_done.all()
    torch.testing.assert_close(task.positions, positions, rtol=0.0, atol=0.0)


def test_observations_that_were_handed_out_stay_what_they_were() -> None:
    task = TorchPredatorPrey(3, device="cpu")
    first = task.reset(SEEDS)
    copy = first.clone()
    task.step(torch.ones(48, 3, 2))
    torch.testing.assert_close(first, copy, rtol=0.0, atol=0.0)


def test_actions_outside_the_range_are_clipped_and_carry_no_gradient() -> None:
    met = []
    for size in (1.0, 7.0):
        task = TorchPredatorPrey(3, device="cpu")
        task.reset(SEEDS)
        observations, _, _ = task.step(torch.full((48, 3, 2), -size, requires_grad=True))
        assert not observations.requires_grad
        met.append(observations)
    torch.testing.assert_close(*met, rtol=0.0, atol=0.0)


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        (torch.zeros(48, 2, 2), r"is \(48, 2, 2\); expected shape \(48, 3, 2\)"),
        (torch.full((48, 3, 2), torch.nan), "expected finite"),
    ],
)
def test_wrong_actions_are_refused(actions: torch.Tensor, message: str) -> None:
    task = TorchPredatorPrey(3, device="cpu")
    task.reset(SEEDS)
    with pytest.raises(ConfigError, match=message):
        task.step(actions)


def test_a_step_before_the_reset_is_refused() -> None:
    with pytest.raises(RequestError, match="before its reset"):
        TorchPredatorPrey(3, device="cpu").step(torch.zeros(1, 3, 2))


def test_other_kinds_of_number_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"float16; expected torch\.float32 or torch\.float64"):
        TorchPredatorPrey(3, dtype=torch.float16)


@pytest.mark.parametrize("device", ["meta", "abacus"])
def test_devices_that_do_not_do_are_refused(device: str) -> None:
    with pytest.raises(ConfigError, match="expected 'cpu', or 'cuda' where torch sees"):
        TorchPredatorPrey(3, device=device)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_two_entities_at_one_point_push_each_other_not_at_all(dtype: torch.dtype) -> None:
    task = TorchPredatorPrey(3, device="cpu", dtype=dtype)
    task.reset(SEEDS)
    apart = 5.0 + torch.arange(6, dtype=dtype)[:, None]
    task._positions = (apart * torch.ones(2, 1, 48, dtype=dtype)).contiguous()
    task._positions[:, 1] = task._positions[:, 0]
    task.step(torch.zeros(48, 3, 2))
    assert not task.velocities[:, :2].any()
