"""The parameter vector: blocks, and the map between cube and weights."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rolecast.envs.spec import TaskSpec
from rolecast.policies.registry import make_policy
from rolecast.policies.space import ParameterSpace

TEAM = TaskSpec(id="team", agents=3, observation_size=5, action_size=2, horizon=25)


@pytest.fixture(params=["hom", "mlp", "linear"], scope="module")
def space(request: pytest.FixtureRequest) -> ParameterSpace:
    return make_policy(request.param, TEAM).space


@settings(deadline=None)  # first calls compile, or load a library
@given(seed=st.integers(0, 2**32 - 1))
def test_cube_and_weights_are_each_others_inverse(space: ParameterSpace, seed: int) -> None:
    cube = np.random.default_rng(seed).random((4, space.size))
    np.testing.assert_allclose(space.cube(space.weights(cube)), cube, atol=1e-12)


def test_the_middle_of_the_cube_is_the_centre(space: ParameterSpace) -> None:
    np.testing.assert_array_equal(space.weights(np.full(space.size, 0.5)), space.centre)


def test_the_corners_of_the_cube_are_one_half_range_away(space: ParameterSpace) -> None:
    np.testing.assert_allclose(space.weights(np.ones(space.size)) - space.centre, space.half_range)


def test_blocks_fill_the_vector_without_gap_or_overlap(space: ParameterSpace) -> None:
    stops = [0]
    for block in space.blocks:
        part = space.slices[block.name]
        assert part.start == stops[-1]
        assert part.stop - part.start == block.size
        stops.append(part.stop)
    assert stops[-1] == space.size


def test_every_weight_column_says_what_it_reads(space: ParameterSpace) -> None:
    for block in space.blocks:
        width = block.shape[1] if block.kind == "weight" else 0
        assert len(block.columns) == width
        assert len(set(block.columns)) == width


def test_an_input_group_is_one_column_of_one_layer(space: ParameterSpace) -> None:
    for block in space.blocks:
        groups = space.input_groups[space.slices[block.name]].reshape(block.shape)
        if block.kind == "weight":
            assert (groups == groups[0]).all()
            assert len(set(groups[0])) == block.shape[1]
        else:
            assert len(set(groups)) == 1
    assert set(space.input_groups) == set(range(space.input_groups.max() + 1))
