"""The compiled task against its readable float64 reference, step by step and piece by piece."""

from dataclasses import replace

import numpy as np
import pytest

from rolecast.core.compiled import compiled
from rolecast.core.lane_arrays import lane_array
from rolecast.core.simd import load, store
from rolecast.core.types import LANE_COUNT, Float, Float32
from rolecast.envs.predator_prey.observation import OBSERVATION_VARIANTS
from rolecast.envs.predator_prey.physics import PredatorPreyParameters, contact_forces, parameters
from rolecast.envs.predator_prey.physics_fused import (
    PredatorPreyEpisodes,
    PredatorPreyLanes,
    push_apart,
    softplus_lanes,
)
from rolecast.envs.predator_prey.task import PredatorPreyTask

SEEDS = np.array([0, 1, 2**32, 2**63 + 9, 2**64 - 1, *range(100, 127)], dtype=np.uint64)
TEAMS = [(3, False), (6, False), (9, False), (15, False), (3, True), (6, True)]
TEAM_RULES = [(3, {}), (3, {"capture": 2}), (6, {"capture": 2, "view": 0.5}), (6, {"scout": 2})]


def to_lanes(rows: Float) -> Float32:
    """[L, ...] to [K, ..., W], L a multiple of W."""
    folded = rows.reshape(-1, LANE_COUNT, *rows.shape[1:])
    return np.ascontiguousarray(np.moveaxis(folded, 1, -1), dtype=np.float32)


def from_lanes(lanes: Float32) -> Float:
    """Undo `to_lanes`."""
    rows = np.moveaxis(lanes, -1, 1)
    return rows.reshape(-1, *rows.shape[2:]).astype(np.float64)


def hunt(task: PredatorPreyTask, rng: np.random.Generator) -> Float:
    """Return actions [B, n, 2]: towards the first prey, with noise, so that there are contacts."""
    n = task.params.predators
    towards = task.positions[:, n : n + 1] - task.positions[:, :n]
    return np.clip(3.0 * towards + 0.3 * rng.normal(size=towards.shape), -1.0, 1.0)


@pytest.mark.parametrize("variant", OBSERVATION_VARIANTS)
@pytest.mark.parametrize(("n", "unequal"), TEAMS)
def test_episodes_begin_as_those_of_the_reference(n: int, unequal: bool, variant: str) -> None:
    task = PredatorPreyTask(n, heterogeneous=unequal, observation=variant)
    episodes = PredatorPreyLanes(task.params, variant).start(SEEDS)
    np.testing.assert_allclose(
        from_lanes(episodes.observations), task.reset(SEEDS), atol=1e-6, rtol=0.0
    )
    np.testing.assert_array_equal(episodes.returns, 0.0)
    np.testing.assert_array_equal(episodes.rewards, 0.0)


@pytest.mark.parametrize(("n", "unequal"), TEAMS)
def test_every_step_from_the_state_of_the_reference_is_that_of_the_reference(
    n: int, unequal: bool
) -> None:
    """No chaos: each step begins where the reference stands; positions agree to 1e-4.

    A prey may take another of two points that are equally good to a float32, or a distance lie on
    the edge of a touch: allowed once in 500 episodes and steps, where it is 1 in 48 000.
    """
    task = PredatorPreyTask(n, heterogeneous=unequal)
    task.reset(SEEDS)
    episodes = PredatorPreyEpisodes(task.params, "nearest16", SEEDS)
    rng, paid, same, rewarded = np.random.default_rng(0), np.zeros(len(SEEDS)), [], []
    for _ in range(task.params.horizon):
        episodes._positions[:] = to_lanes(task.positions)
        episodes._velocities[:] = to_lanes(task.velocities)
        before = from_lanes(episodes.returns)
        actions = hunt(task, rng)
        observations, reward, _, _ = task.step(actions)
        episodes.advance(to_lanes(actions))
        near = [
            np.abs(from_lanes(mine) - theirs).reshape(len(SEEDS), -1).max(1) < limit
            for mine, theirs, limit in (
                (episodes._positions, task.positions, 1e-4),
                (episodes._velocities, task.velocities, 1e-3),
                (episodes.observations, observations, 1e-3),
            )
        ]
        same.append(np.all(near, axis=0))
        np.testing.assert_array_equal(
            from_lanes(episodes.returns), before + from_lanes(episodes.rewards)
        )
        rewarded.append(from_lanes(episodes.rewards) == reward)
        paid += reward
    assert np.mean(same) >= 0.998
    assert np.mean(rewarded) >= 0.998
    assert paid.mean() > 10.0  # there were touches to count


@pytest.mark.parametrize(("n", "rules"), TEAM_RULES)
def test_a_capture_pays_as_in_the_reference(n: int, rules: dict[str, float]) -> None:
    """From the state of the reference at every step; the edge of a touch as above."""
    task = PredatorPreyTask(n, **rules)  # type: ignore[arg-type]  # numbers of their kinds
    task.reset(SEEDS)
    episodes = PredatorPreyEpisodes(task.params, "nearest16", SEEDS)
    rng, same, paid = np.random.default_rng(0), [], []
    for _ in range(task.params.horizon):
        episodes._positions[:] = to_lanes(task.positions)
        episodes._velocities[:] = to_lanes(task.velocities)
        actions = hunt(task, rng)
        _, reward, _, _ = task.step(actions)
        episodes.advance(to_lanes(actions))
        same.append(from_lanes(episodes.rewards) == reward)
        paid.append(reward)
    assert np.mean(same) >= 0.995
    least = np.min(np.array(paid)[np.array(paid) > 0.0])
    assert least == 10.0 * task.params.capture


def test_episodes_run_as_those_of_the_reference_until_chaos_parts_them() -> None:
    """Left alone for 8 steps of a hunt, every one of 32 episodes of nine agrees to 1e-3."""
    task = PredatorPreyTask(9)
    task.reset(SEEDS)
    episodes = PredatorPreyEpisodes(task.params, "nearest16", SEEDS)
    rng = np.random.default_rng(0)
    for _ in range(8):
        actions = hunt(task, rng)
        observations, _, _, _ = task.step(actions)
        episodes.advance(to_lanes(actions))
        np.testing.assert_allclose(from_lanes(episodes.observations), observations, atol=1e-3)


def test_an_episode_is_the_same_to_the_last_bit_wherever_it_lies() -> None:
    params, rng = parameters(6), np.random.default_rng(0)
    seeds = np.concatenate([SEEDS, SEEDS[::-1]])
    order = rng.permutation(len(seeds))
    one, other = (PredatorPreyEpisodes(params, "full", each) for each in (seeds, seeds[order]))
    for _ in range(params.horizon):
        actions = rng.uniform(-1.0, 1.0, (len(seeds), 6, 2))
        one.advance(to_lanes(actions))
        other.advance(to_lanes(actions[order]))
    np.testing.assert_array_equal(from_lanes(one.returns)[order], from_lanes(other.returns))
    np.testing.assert_array_equal(
        from_lanes(one.observations)[order], from_lanes(other.observations)
    )


@pytest.mark.parametrize("count", [1, LANE_COUNT - 1, LANE_COUNT + 1])
def test_the_last_block_is_filled_up_with_the_last_episode(count: int) -> None:
    params = parameters(3)
    some = PredatorPreyEpisodes(params, "nearest16", SEEDS[:count])
    whole = PredatorPreyEpisodes(params, "nearest16", SEEDS)
    assert some.observations.shape[0] == -(-count // LANE_COUNT)
    filled = from_lanes(some.observations)
    np.testing.assert_array_equal(filled[:count], from_lanes(whole.observations)[:count])
    assert (filled[count:] == filled[count - 1]).all()


def test_actions_outside_the_range_are_clipped() -> None:
    params = parameters(3)
    wild, tame = (PredatorPreyEpisodes(params, "full", SEEDS) for _ in range(2))
    actions = np.random.default_rng(0).choice([-1.0, 1.0], (len(SEEDS), 3, 2))
    wild.advance(to_lanes(7.0 * actions))
    tame.advance(to_lanes(actions))
    np.testing.assert_array_equal(wild.observations, tame.observations)


@compiled
def push_all(
    positions: Float32,
    sizes: Float32,
    force: np.float32,
    margin: np.float32,
    forces: Float32,
    movers: int,
) -> None:
    push_apart(positions, 0, sizes, force, margin, forces, movers)


def pushed(params: PredatorPreyParameters, positions: Float) -> Float:
    """Return the forces [W, n + k, 2] of one block."""
    forces = lane_array(params.movers, 2)
    push_all(
        to_lanes(positions).reshape(-1, LANE_COUNT),
        params.sizes.astype(np.float32),
        np.float32(params.contact_force),
        np.float32(params.contact_margin),
        forces.reshape(-1, LANE_COUNT),
        params.movers,
    )
    return from_lanes(forces[None])


@pytest.mark.parametrize("spread", [0.05, 0.3, 1.0])
def test_contact_forces_are_those_of_the_reference(spread: float) -> None:
    """Crowds in which all overlap, some do, and few do; forces reach some 20."""
    params = parameters(6)
    positions = np.random.default_rng(0).uniform(-spread, spread, (LANE_COUNT, params.entities, 2))
    positions = positions.astype(np.float32).astype(np.float64)
    expected = contact_forces(params, positions)
    assert np.abs(expected).max() > 1.0
    np.testing.assert_allclose(pushed(params, positions), expected, rtol=1e-4, atol=1e-3)


def test_two_entities_at_one_point_push_each_other_not_at_all() -> None:
    params = parameters(3)
    positions = np.zeros((LANE_COUNT, params.entities, 2))
    positions[:, 2:] = np.arange(params.entities - 2)[:, None] + 5.0
    np.testing.assert_array_equal(pushed(params, positions), 0.0)


@compiled
def softplus_rows(rows: Float32) -> None:
    for row in range(rows.shape[0]):
        store(rows, row, softplus_lanes(load(rows, row)))


@pytest.mark.parametrize("bound", [1e-3, 1.0, 20.0, 500.0])
def test_softplus_is_within_2e_7_or_1e_7_of_its_argument(bound: float) -> None:
    x = np.linspace(-bound, bound, 100 * LANE_COUNT).astype(np.float32).reshape(-1, LANE_COUNT)
    expected = np.logaddexp(0.0, x.astype(np.float64))
    softplus_rows(x)
    np.testing.assert_allclose(x, expected, rtol=1e-7, atol=2e-7)


@pytest.mark.parametrize(
    "change",
    [
        {"dt": 0.05},
        {"damping": 0.6},
        {"contact_force": 30.0, "contact_margin": 0.01},
        {"touch_reward": 3.0},
        {"predator_size": 0.2, "prey_size": 0.1, "landmark_size": 0.3},
        {"prey_max_speed": 0.3},
        {"view_radius": 0.5},
        {"capture": 2},
        {"capture": 3, "predator_size": 0.2},
        {"scouts": 1},
        {"landmark_spread": 0.2},
        {"prey_points": 7},
    ],
    ids=lambda change: "-".join(change),
)
def test_every_constant_of_the_world_is_the_one_that_is_set(change: dict[str, float]) -> None:
    """Two steps of a world of other constants, against the reference in the same world."""
    task = PredatorPreyTask(3)
    task.params = replace(task.params, **change)  # type: ignore[arg-type]  # numbers of their kinds
    observations = task.reset(SEEDS)
    episodes = PredatorPreyEpisodes(task.params, "nearest16", SEEDS)
    np.testing.assert_allclose(from_lanes(episodes.observations), observations, atol=1e-6)
    rewards = np.zeros(len(SEEDS))
    for _ in range(2):
        actions = hunt(task, np.random.default_rng(0))
        observations, reward, _, _ = task.step(actions)
        episodes.advance(to_lanes(actions))
        rewards += reward
        np.testing.assert_allclose(from_lanes(episodes.observations), observations, atol=1e-3)
    np.testing.assert_array_equal(from_lanes(episodes.returns), rewards)
