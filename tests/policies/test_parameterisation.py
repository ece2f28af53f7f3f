"""Centre, ranges and output gain, as named settings."""

from math import sqrt
from typing import Any

import numpy as np
import pytest

from rolecast.core.errors import RequestError
from rolecast.envs.registry import make_task
from rolecast.envs.spec import TaskSpec
from rolecast.policies.parameterisation import semi_orthogonal
from rolecast.policies.registry import make_policy

TEAM = TaskSpec(id="pred_prey_3", agents=3, observation_size=16, action_size=2, horizon=25)


def centres(**options: Any) -> dict[str, Any]:
    """Return the centre of each block of a HOM policy."""
    return {block.name: block.centre for block in make_policy("hom", TEAM, **options).space.blocks}


def half_ranges(**options: Any) -> dict[str, float]:
    """Return the half range of each block of a HOM policy."""
    blocks = make_policy("hom", TEAM, **options).space.blocks
    return {block.name: block.half_range for block in blocks}


@pytest.mark.parametrize("net", ["edge", "message", "update"])
def test_an_orthogonal_centre_is_orthogonal_behind_the_first_layer(net: str) -> None:
    blocks = centres(centre="orthogonal")
    np.testing.assert_array_equal(blocks[f"{net}.0.weight"], 0.0)
    hidden, output = blocks[f"{net}.1.weight"], blocks[f"{net}.2.weight"]
    np.testing.assert_allclose(hidden @ hidden.T, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(output @ output.T, 2.0 * np.eye(len(output)), atol=1e-12)
    for layer in range(3):
        np.testing.assert_array_equal(blocks[f"{net}.{layer}.bias"], 0.0)


def test_the_seed_decides_the_centre() -> None:
    first, again, other = (
        make_policy("hom", TEAM, centre="orthogonal", seed=seed).space.centre for seed in (5, 5, 6)
    )
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 0.1


def test_the_identity_centre_copies_hidden_units_and_shares_them_among_outputs() -> None:
    blocks = centres()
    np.testing.assert_array_equal(blocks["update.1.weight"], np.eye(4))
    np.testing.assert_array_equal(blocks["update.2.weight"], [[1, 0, 1, 0], [0, 1, 0, 1]])
    np.testing.assert_array_equal(blocks["edge.2.weight"], [[1, 1, 1, 1]])


def test_the_zero_centre_is_zero() -> None:
    np.testing.assert_array_equal(make_policy("hom", TEAM, centre="zero").space.centre, 0.0)


def test_ranges_go_by_kind_and_the_message_net_has_less() -> None:
    ranges = half_ranges()
    assert [ranges[f"edge.{layer}.weight"] for layer in range(3)] == [2.5, 0.75, 0.75]
    assert {ranges[f"update.{layer}.bias"] for layer in range(3)} == {0.25}
    for layer, kind in ((0, "weight"), (2, "weight"), (1, "bias")):
        expected = 0.3 * ranges[f"edge.{layer}.{kind}"]
        assert ranges[f"message.{layer}.{kind}"] == pytest.approx(expected)


def test_a_named_range_replaces_its_kind_alone() -> None:
    ranges = half_ranges(ranges={"bias": 0.5})
    assert ranges["edge.0.bias"] == 0.5
    assert ranges["edge.0.weight"] == 2.5


@pytest.mark.parametrize("name", ["hom", "mlp"])
def test_table3_is_the_papers_plain_cube(name: str) -> None:
    policy = make_policy(name, TEAM, parameterisation="table3")
    np.testing.assert_array_equal(policy.space.centre, 0.0)
    np.testing.assert_array_equal(policy.space.half_range, 3.0)
    assert policy.options["output_gain"] == 1.0


@pytest.mark.parametrize(
    ("name", "agents", "gain"), [("hom", 3, 10.0), ("mlp", 3, 10.0), ("mlp", 1, 1.0)]
)
def test_the_gain_is_ten_for_teams_and_one_for_a_single_agent(
    name: str, agents: int, gain: float
) -> None:
    task = TaskSpec(id="x", agents=agents, observation_size=4, action_size=1, horizon=9)
    assert make_policy(name, task).options["output_gain"] == gain


def test_the_gain_multiplies_the_output_before_the_last_tanh() -> None:
    rng = np.random.default_rng(0)
    weak, strong = (make_policy("mlp", TEAM, output_gain=gain) for gain in (1.0, 2.0))
    weights = 0.1 * rng.normal(size=(2, weak.space.size))
    observations = rng.normal(size=(2, 3, 3, 16))
    np.testing.assert_allclose(
        np.arctanh(strong.act(weights, observations)),
        2.0 * np.arctanh(weak.act(weights, observations)),
        rtol=1e-9,
    )


@pytest.mark.parametrize(
    "options",
    [
        {"centre": "orthogonl"},
        {"parameterisation": "table4"},
        {"output_gain": 0.0},
        {"output_gain": float("inf")},
        {"output_gain": True},
        {"observation_clip": -1.0},
        {"observation_clip": "ten"},
        {"ranges": 3.0},
        {"ranges": {"biass": 1.0}},
        {"ranges": {"bias": 0.0}},
    ],
)
def test_a_setting_out_of_range_is_refused_by_name(options: dict[str, Any]) -> None:
    with pytest.raises(RequestError, match=next(iter(options))):
        make_policy("hom", TEAM, **options)


def test_a_misspelt_range_meets_its_nearest_name() -> None:
    with pytest.raises(RequestError, match="did you mean 'bias'"):
        make_policy("hom", TEAM, ranges={"biass": 1.0})


def test_orthogonal_centres_have_no_preferred_direction() -> None:
    """False alarm: 32 tests of 1e-6 each. A mean of 0.05 in any entry is found (sd 0.5 / 63)."""
    rng = np.random.default_rng(11)
    draws = np.stack([semi_orthogonal(4, 4, rng) for _ in range(4000)])
    z_mean = draws.mean(axis=0) / (0.5 / sqrt(len(draws)))
    # An entry's square has mean 1/4 and variance 2 (n - 1) / (n^2 (n + 2)) = 1/16.
    z_square = ((draws**2).mean(axis=0) - 0.25) / (0.25 / sqrt(len(draws)))
    assert np.abs(z_mean).max() < 4.89
    assert np.abs(z_square).max() < 4.89


@pytest.mark.parametrize("name", ["hom", "mlp", "linear"])
def test_the_numbers_of_a_choice_are_seldom_equal(name: str) -> None:
    """With the gain of other teams tanh made half of them 1, and the first one was taken."""
    task = make_task("pettingzoo:mpe2.simple_spread_v3?N=3")
    policy = make_policy(name, task)
    assert task.spec.discrete_actions
    assert policy.options["output_gain"] == 1.0
    assert make_policy(name, TEAM).options["output_gain"] == 10.0
    assert make_policy(name, task, output_gain=3).options["output_gain"] == 3.0
    rng = np.random.default_rng(0)
    seen = rng.uniform(-2.0, 2.0, (40, 3, task.spec.observation_size))
    weights = policy.space.weights(rng.random((40, policy.space.dimension)))
    acted = np.sort(policy.act(weights, np.broadcast_to(seen, (40, *seen.shape))), axis=-1)
    assert np.mean(acted[..., -1] == acted[..., -2]) < 0.05
    task.close()
