"""Reference trajectories: `pred_prey_golden.npz` holds 4 episodes of 25 steps for n = 3, 6 and 9.

They were computed in float64 by the physics of the public FACMAC code (`continuous_pred_prey_3a`,
`_6a`, `_9a`), replayed to the last bit by a second, separately written simulator.
"""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rolecast.core.counter_random import episode_keys
from rolecast.core.errors import ConfigError
from rolecast.envs.predator_prey import observe, parameters, start_positions, transition
from rolecast.envs.predator_prey.physics import contact_forces, touching_pairs

GOLDEN = dict(np.load(Path(__file__).with_name("pred_prey_golden.npz")))


@pytest.mark.parametrize("n", [3, 6, 9])
def test_the_physics_reproduces_the_reference_trajectories(n: int) -> None:
    params = parameters(n)
    golden = {key[3:]: value for key, value in GOLDEN.items() if key.startswith(f"n{n}_")}
    positions = golden["entity_positions_0"]
    velocities = np.zeros((4, params.movers, 2))
    for step in range(25):
        positions, velocities, reward = transition(
            params,
            positions,
            velocities,
            golden["predator_actions"][:, step],
            golden["prey_forces"][:, step],
        )
        seen = observe(params, positions, velocities, "full")
        for name, value in (
            ("positions", positions[:, : params.movers]),
            ("velocities", velocities),
            ("team_reward", reward),
            ("observations", seen),
        ):
            np.testing.assert_allclose(
                value, golden[name][:, step], rtol=0.0, atol=1e-9, err_msg=name
            )


@pytest.mark.parametrize("n", [3, 6, 9, 15])
def test_there_is_one_prey_and_two_landmarks_for_three_predators(n: int) -> None:
    params = parameters(n)
    assert (params.prey, params.landmarks, params.entities) == (n // 3, 2 * n // 3, 2 * n)
    assert params.sizes.shape == (2 * n,)


@pytest.mark.parametrize("n", [0, -3, 1, 4, 10])
def test_a_number_of_predators_that_is_no_multiple_of_3_is_refused(n: int) -> None:
    with pytest.raises(ConfigError, match=f"N is {n}; expected a positive multiple of 3"):
        parameters(n)


def test_unequal_predators_have_evenly_spaced_factors_in_an_order_of_the_task_seed() -> None:
    params = parameters(9, heterogeneous=True, task_seed=4)
    np.testing.assert_allclose(np.sort(params.predator_max_speed), np.linspace(0.5, 1.5, 9))
    np.testing.assert_array_equal(params.gain, 3.0 * params.predator_max_speed)
    other = parameters(9, heterogeneous=True, task_seed=5)
    assert (params.gain != other.gain).any()


def test_start_positions_depend_on_the_seed_alone_and_stay_in_the_arena() -> None:
    params = parameters(6)
    seeds = np.arange(2000, dtype=np.uint64)
    positions = start_positions(params, episode_keys(seeds))
    np.testing.assert_array_equal(start_positions(params, episode_keys(seeds[7:9])), positions[7:9])
    assert np.abs(positions[:, : params.movers]).max() < 1.0
    assert np.abs(positions[:, params.movers :]).max() <= 0.9


def test_start_positions_are_uniform_and_independent() -> None:
    """False alarm: 2e-5 a seed, over 12 means and 66 covariances in standard errors.

    A mean that is off by 0.03, or a correlation of 0.05, is missed once in ten thousand seeds.
    """
    count = 20_000
    positions = start_positions(parameters(3), episode_keys(np.arange(count, dtype=np.uint64)))
    unit = positions.reshape(count, -1) * np.sqrt(3.0)
    unit[:, 8:] /= 0.9
    moments = unit.T @ unit / count
    upper = moments[np.triu_indices(12, k=1)]
    z = np.concatenate([unit.mean(axis=0), upper]) * np.sqrt(count)
    assert np.abs(z).max() < 5.3


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**63))
def test_contact_forces_between_movers_cancel(seed: int) -> None:
    params = parameters(6)
    positions = np.random.default_rng(seed).uniform(-0.3, 0.3, (1, params.entities, 2))
    positions[:, params.movers :] += 10.0  # landmarks are out of reach: only movers push movers
    forces = contact_forces(params, positions)
    np.testing.assert_allclose(forces.sum(axis=1), 0.0, atol=1e-9)


def test_entities_at_one_point_do_not_push_each_other() -> None:
    params = parameters(3)
    positions = np.arange(12.0).reshape(1, 6, 2)
    positions[0, 1] = positions[0, 0]
    assert np.isfinite(contact_forces(params, positions)).all()


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**63), order=st.permutations(range(6)))
def test_renaming_the_predators_renames_their_trajectories(seed: int, order: list[int]) -> None:
    params, rng = parameters(6), np.random.default_rng(seed)
    positions = rng.uniform(-0.5, 0.5, (2, params.entities, 2))
    velocities = rng.uniform(-1.0, 1.0, (2, params.movers, 2))
    actions, forces = rng.uniform(-1.0, 1.0, (2, 6, 2)), rng.uniform(-0.7, 0.7, (2, 2, 2))
    entities = np.concatenate([order, np.arange(6, 12)])
    plain = transition(params, positions, velocities, actions, forces)
    renamed = transition(
        params, positions[:, entities], velocities[:, entities[:8]], actions[:, order], forces
    )
    np.testing.assert_allclose(renamed[0], plain[0][:, entities], atol=1e-12)
    np.testing.assert_allclose(renamed[1], plain[1][:, entities[:8]], atol=1e-12)
    np.testing.assert_array_equal(renamed[2], plain[2])


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**63))
def test_nobody_is_faster_than_allowed_and_landmarks_stay(seed: int) -> None:
    params, rng = parameters(3, heterogeneous=True), np.random.default_rng(seed)
    positions = rng.uniform(-0.2, 0.2, (3, params.entities, 2))
    after, velocities, _ = transition(
        params,
        positions,
        rng.uniform(-9.0, 9.0, (3, params.movers, 2)),
        rng.uniform(-1.0, 1.0, (3, 3, 2)),
        rng.uniform(-0.7, 0.7, (3, 1, 2)),
    )
    assert (np.linalg.norm(velocities, axis=-1) <= params.max_speeds * (1 + 1e-12)).all()
    np.testing.assert_array_equal(after[:, params.movers :], positions[:, params.movers :])


@pytest.mark.parametrize(("capture", "pairs"), [(1, 4.0), (2, 3.0), (3, 3.0), (4, 0.0)])
def test_contacts_of_a_prey_count_only_if_enough_predators_touch_it(
    capture: int, pairs: float
) -> None:
    """The first prey is touched by three of six predators, the second by one."""
    params = parameters(6, capture=capture)
    positions = 50.0 + 10.0 * np.arange(2.0 * params.entities).reshape(1, params.entities, 2)
    positions[0, 6], positions[0, 7] = (0.0, 0.0), (5.0, 0.0)
    positions[0, :3] = [(0.1, 0.0), (-0.1, 0.0), (0.0, 0.1)]
    positions[0, 3] = (5.1, 0.0)
    assert touching_pairs(params, positions) == pairs
