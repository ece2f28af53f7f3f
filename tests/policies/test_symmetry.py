"""Weights under a task's symmetries: policies and their images, ties, and tied cubes."""

from typing import Any

import numpy as np
import pytest

from rolecast.core.errors import ConfigError
from rolecast.envs.registry import make_task
from rolecast.envs.spec import TaskSpec
from rolecast.envs.symmetry import SignedPlaces, Symmetry, apply_places
from rolecast.policies.hom.policy import HomPolicy
from rolecast.policies.hom.symmetry import moved, net_symmetries
from rolecast.policies.mlp import MlpPolicy, net_symmetry
from rolecast.policies.protocol import Policy
from rolecast.policies.registry import make_policy
from rolecast.policies.symmetry import (
    TiedSubspace,
    joined,
    orbits,
    paired_units,
    vector_units,
)

CASES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "hom": ("pred_prey_3", "hom", {}),
    "hom with roles": ("het_pred_prey_3", "hom", {}),
    "small hom": ("pred_prey_3", "hom", {"size": "sm"}),
    "random centre": ("pred_prey_3", "hom", {"centre": "symmetric"}),
    "mlp": ("pred_prey_3", "mlp", {}),
    "odd mlp": ("pred_prey_6", "mlp", {"hidden": (7, 5)}),
    "drones": ("drone_delivery_3", "hom", {}),
    "coupled hom": ("pred_prey_3", "hom", {"interaction": "coupled", "message_width": 4}),
    "messages of observations": ("pred_prey_3", "hom", {"message_reads": "observation"}),
    "linear": ("pred_prey_3", "linear", {}),
}
"""Task, policy and options."""


def made(name: str, **options: Any) -> tuple[TaskSpec, Policy]:
    task, policy, given = CASES[name]
    spec = make_task(task).spec
    return spec, make_policy(policy, spec, seed=5, **given, **options)


def moved_by(policy: Policy, symmetry: Symmetry) -> SignedPlaces | None:
    """Return how the weights move; None where a role is an agent, and agents are exchanged."""
    if isinstance(policy, MlpPolicy):
        return net_symmetry(policy.net, symmetry).moved()
    assert isinstance(policy, HomPolicy)
    if symmetry.exchanges_agents and not policy.model.role_assignment:
        return None
    return moved(policy.model, net_symmetries(policy.model, symmetry))


@pytest.mark.parametrize("name", CASES)
def test_moved_weights_act_as_the_moved_policy(name: str) -> None:
    """act(g w)(S o) = A act(w)(o), for weights anywhere in the cube."""
    spec, policy = made(name)
    rng = np.random.default_rng(0)
    weights = policy.space.weights(rng.random(policy.space.size))
    observations = rng.normal(size=(7, spec.agents, spec.observation_size))
    for symmetry in spec.symmetries:
        places = moved_by(policy, symmetry)
        if places is None:
            continue
        seen = apply_places(symmetry.observation, observations)
        image = policy.act(apply_places(places, weights)[None], seen[None])[0]
        original = policy.act(weights[None], observations[None])[0]
        np.testing.assert_allclose(image, apply_places(symmetry.action, original), atol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_the_centre_stays_where_it_is(name: str) -> None:
    spec, policy = made(name)
    for symmetry in spec.symmetries:
        places = moved_by(policy, symmetry)
        if places is not None:
            centre = policy.space.centre
            np.testing.assert_allclose(apply_places(places, centre), centre, atol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_a_tied_cube_has_a_coordinate_an_orbit_and_fixed_weights(name: str) -> None:
    spec, policy = made(name, tied_weights=True)
    space = policy.space
    moves = [moved_by(policy, one) for one in spec.symmetries]
    matrices = [apply_places(places, np.eye(space.size)).T for places in moves if places]
    changed = np.concatenate([matrix - np.eye(space.size) for matrix in matrices])
    assert space.dimension == space.size - np.linalg.matrix_rank(changed) < space.size
    rng = np.random.default_rng(1)
    cube = rng.random((4, space.dimension))
    weights = space.weights(cube)
    assert weights.shape == (4, space.size)
    np.testing.assert_allclose(space.cube(weights), cube, atol=1e-12)
    np.testing.assert_array_equal(space.input_groups, np.arange(space.dimension))
    for symmetry in spec.symmetries:
        places = moved_by(policy, symmetry)
        if places is not None:
            np.testing.assert_allclose(apply_places(places, weights), weights, atol=1e-12)
    # Distances in the cube are those of the untied one.
    untied = made(name)[1].space
    apart = untied.cube(weights[0]) - untied.cube(weights[1])
    assert np.linalg.norm(apart) == pytest.approx(np.linalg.norm(cube[0] - cube[1]))


def test_an_orthogonal_centre_stays_orthogonal_under_the_symmetries() -> None:
    _, policy = made("mlp")
    hidden = policy.space.centre[policy.space.slices["mlp.1.weight"]].reshape(14, 14)
    np.testing.assert_allclose(hidden @ hidden.T, np.eye(14), atol=1e-9)
    output = policy.space.centre[policy.space.slices["mlp.2.weight"]].reshape(2, 14)
    np.testing.assert_allclose(output @ output.T, 2.0 * np.eye(2), atol=1e-9)


def test_the_identity_centre_of_hom_is_fixed_already() -> None:
    with_them = made("hom")[1]
    spec = make_task("pred_prey_3").spec
    plain = TaskSpec(
        id="plain", agents=3, observation_size=16, action_size=2, horizon=25,
        homogeneous_agents=spec.homogeneous_agents,
    )  # fmt: skip
    np.testing.assert_array_equal(with_them.space.centre, make_policy("hom", plain).space.centre)


def test_hom_on_predator_prey_has_57_orbits_of_353_weights() -> None:
    """Four of the 61 that the square alone leaves are tied by the exchange of the landmarks."""
    _, policy = made("hom", tied_weights=True)
    assert (policy.space.dimension, policy.space.size) == (57, 353)


def test_a_centre_that_symmetries_move_has_no_ties() -> None:
    spec = make_task("pred_prey_3").spec
    assert make_policy("mlp", spec, centre="orthogonal").space.ties is None
    assert make_policy("mlp", spec).options["centre"] == "symmetric"
    assert make_policy("mlp", make_task("hopper")).options["centre"] == "orthogonal"


def test_ties_need_symmetries() -> None:
    expected = r"MlpConfig.tied_weights is True; expected false for a task without symmetries"
    with pytest.raises(ConfigError, match=expected):
        make_policy("mlp", make_task("hopper"), tied_weights=True)
    with pytest.raises(ConfigError, match=r"MlpConfig.tied_weights is True; .*leave the centre"):
        make_policy("mlp", make_task("pred_prey_3"), tied_weights=True, centre="orthogonal")
    with pytest.raises(ConfigError, match=r"HomConfig.tied_weights is 'yes'; expected true or"):
        make_policy("hom", make_task("pred_prey_3"), tied_weights="yes")


def test_orbits_of_contradicting_signs_are_zero() -> None:
    """w0 = w1, w1 = -w0, w2 = w3: the first two are 0, the last two are one orbit."""
    ties = orbits([(2, 1, 4, 3), (-2, -1, 3, 4)])
    np.testing.assert_array_equal(ties, [0, 0, 1, 1])
    np.testing.assert_array_equal(orbits([(-2, -1, 3)]), [1, -1, 2])
    np.testing.assert_array_equal(orbits([(-1, 2)]), [0, 1])
    # A later generator joins an orbit to one that is zero.
    np.testing.assert_array_equal(orbits([(-1, 2, 3), (2, 1, 3)]), [0, 0, 1])


def test_a_subspace_projects_on_the_weights_that_all_generators_leave() -> None:
    rng = np.random.default_rng(3)
    generators = [
        tuple(int(x) for x in (rng.permutation(12) + 1) * rng.choice([-1, 1], 12)) for _ in range(2)
    ]
    matrices = [apply_places(places, np.eye(12)).T for places in generators]
    stacked = np.concatenate([matrix - np.eye(12) for matrix in matrices])
    _, values, vectors = np.linalg.svd(stacked)
    null = vectors[np.concatenate([values, np.zeros(12 - len(values))]) < 1e-9]
    subspace = TiedSubspace(orbits(generators))
    points = rng.normal(size=(5, 12))
    np.testing.assert_allclose(subspace.projected(points), points @ null.T @ null, atol=1e-12)
    np.testing.assert_allclose(subspace.basis @ subspace.basis.T, null.T @ null, atol=1e-12)


def test_units_that_are_left_over_stay() -> None:
    assert vector_units((-1, 2), 5) == (-1, 2, -3, 4, 5)
    assert paired_units((-1, 2), 5) == (2, 1, 3, 4, 5)
    assert paired_units((2, 1), 4) == (3, 4, 1, 2)
    assert paired_units((-2, 1), 4) == (4, 3, 1, 2)
    assert joined([(2, 1), (-1,)]) == (2, 1, -3)
