"""A coupled centre has no saddle for messages; h may be wider, and messages be of observations."""

import itertools
from typing import Any

import numpy as np
import pytest

from rolecast.core.errors import ConfigError
from rolecast.core.types import LANE_COUNT, Float
from rolecast.envs.spec import TaskSpec
from rolecast.policies.hom.interaction import edges
from rolecast.policies.hom.policy import HomPolicy
from rolecast.policies.network import unpack
from rolecast.policies.registry import make_policy

CHOICES = [
    {
        "interaction": interaction,
        "message_width": width,
        "message_reads": reads,
        "size": size,
        "edges": kind,
    }
    for interaction, width, reads, size, kind in itertools.product(
        ("saddle", "coupled"), (None, 5), ("hidden", "observation"), ("med", "sm"), ("hard", "soft")
    )
]


def spec() -> TaskSpec:
    return TaskSpec(id="t", agents=3, observation_size=6, action_size=2, horizon=5)


def hom(**options: Any) -> HomPolicy:
    policy = make_policy("hom", spec(), **{"role_assignment": False, **options})
    assert isinstance(policy, HomPolicy)
    return policy


def drawn(policy: HomPolicy, count: int, spread: float = 0.15) -> tuple[Float, Float]:
    """Return weights [count, D] near the centre and observations [count, 2, n, do]."""
    rng = np.random.default_rng(3)
    cube = np.clip(0.5 + spread * rng.standard_normal((count, policy.space.size)), 0.0, 1.0)
    return policy.space.weights(cube), rng.standard_normal((count, 2, policy.model.agents, 6))


@pytest.mark.parametrize("roles", [True, False])
@pytest.mark.parametrize("options", CHOICES, ids=lambda o: "-".join(map(str, o.values())))
def test_the_compiled_form_is_the_reference(options: dict[str, Any], roles: bool) -> None:
    policy = hom(role_assignment=roles, **options)
    weights, observations = drawn(policy, LANE_COUNT)
    expected = policy.act(weights, observations)[:, 0]
    found = np.zeros((1, 3, 2, LANE_COUNT), dtype=np.float32)
    policy.lanes().act(
        np.ascontiguousarray(weights.T[None], dtype=np.float32),
        np.ascontiguousarray(np.moveaxis(observations[:, 0], 0, -1)[None], dtype=np.float32),
        found,
    )
    np.testing.assert_allclose(np.moveaxis(found[0], -1, 0), expected, atol=1e-4)


@pytest.mark.parametrize("options", CHOICES, ids=lambda o: "-".join(map(str, o.values())))
def test_the_relaxation_nears_the_reference_as_edges_harden(options: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    policy = hom(**options)
    weights, observations = drawn(policy, 1, spread=0.3)
    found = policy.relaxed_act(
        torch.tensor(weights[0]), torch.tensor(observations[0]), edge_temperature=1e-9
    )
    np.testing.assert_allclose(found.numpy(), policy.act(weights, observations)[0], atol=1e-6)


def slopes(policy: HomPolicy, net: str) -> Float:
    """Return |d action / d weight| at the centre for each weight of a net, edges relaxed."""
    torch = pytest.importorskip("torch")
    centre = torch.tensor(policy.space.centre, requires_grad=True)
    observations = torch.tensor(0.1 * drawn(policy, 1)[1][0])
    hidden = torch.zeros(policy.space.size, dtype=torch.float64)
    update = policy.space.nets["update"]
    rng = np.random.default_rng(0)
    hidden[update] = torch.tensor(0.1 * rng.standard_normal(update.stop - update.start))
    actions = policy.relaxed_act(centre + hidden, observations)
    rows = [
        torch.autograd.grad(action, centre, retain_graph=True)[0].numpy()
        for action in actions.ravel()
    ]
    return np.asarray(np.abs(np.array(rows)).max(axis=0)[policy.space.nets[net]])


@pytest.mark.parametrize("reads", ["hidden", "observation"])
def test_messages_have_a_slope_at_a_coupled_centre_and_none_at_the_saddle(reads: str) -> None:
    """A little off the centre in the update net alone, as a search is after its first step."""
    saddle, coupled = (hom(interaction=kind, message_reads=reads) for kind in ("saddle", "coupled"))
    off, on = slopes(saddle, "message"), slopes(coupled, "message")
    assert np.median(on) > 0.1
    assert np.median(on) > 5.0 * np.median(off)


def test_every_role_hears_every_other_at_a_coupled_centre() -> None:
    policy = hom(interaction="coupled", message_reads="observation")
    weights = np.repeat(policy.space.centre[None], 1, axis=0)
    observations = 0.1 * drawn(policy, 1)[1]  # small, so that no action is at its bound
    rng = np.random.default_rng(0)
    weights[:, policy.space.nets["message"]] += 0.1 * rng.standard_normal(
        policy.space.nets["message"].stop - policy.space.nets["message"].start
    )
    moved = observations.copy()
    moved[0, :, 2] += 0.1
    before, after = policy.act(weights, observations), policy.act(weights, moved)
    assert (np.abs(after - before)[0, :, :2].max(axis=-1) > 0.0).all()
    silent = policy.space.centre[None].copy()
    np.testing.assert_array_equal(policy.act(silent, observations), 0.0)


def test_an_action_is_the_begin_of_a_wide_h() -> None:
    wide = hom(interaction="coupled", message_width=5, role_interaction=True)
    assert wide.model.nets[-1].outputs == 5
    assert unpack(wide.space.centre, wide.model.nets)["message"][-1][0].shape == (5, 4)
    weights, observations = drawn(wide, 2)
    assert wide.act(weights, observations).shape == (2, 2, 3, 2)


def test_defaults_are_the_policy_of_the_paper() -> None:
    plain, silent = hom(), hom(role_interaction=False, message_width=8, interaction="coupled")
    assert plain.options["message_width"] == 2
    assert plain.model.coupling is None
    assert silent.model.message_width == 2
    assert silent.model.coupling is None
    assert list(silent.space.nets) == ["update"]


def test_settings_in_force_build_the_policy_again() -> None:
    policy = hom(interaction="coupled", message_width=4, message_reads="observation", coupling=0.7)
    again = make_policy("hom", spec(), **policy.options)
    np.testing.assert_array_equal(again.space.centre, policy.space.centre)
    np.testing.assert_array_equal(again.space.half_range, policy.space.half_range)


def test_a_coupled_message_has_the_range_of_the_other_nets_unless_set() -> None:
    policies = (
        hom(),
        hom(interaction="coupled"),
        hom(interaction="coupled", ranges={"message": 0.5}),
    )
    first = [policy.space.half_range[policy.space.nets["message"]][0] for policy in policies]
    np.testing.assert_allclose(first, [0.75, 2.5, 1.25])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"message_width": 1}, "message_width is 1; expected at least 2, the action size of t"),
        ({"message_width": 0}, "message_width is 0; expected an integer >= 1"),
        ({"message_reads": "minds"}, "message_reads is 'minds'; expected one of"),
        ({"interaction": "loud"}, "interaction is 'loud'; expected one of"),
        ({"edges": "firm"}, "edges is 'firm'; expected one of"),
        ({"coupling": 0.0}, "coupling is 0.0; expected a finite number > 0"),
    ],
)
def test_a_setting_out_of_its_range_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        hom(**options)


def test_a_soft_edge_weighs_its_message_by_the_sigmoid_of_its_affinity() -> None:
    policy = hom(edges="soft", rounds=1)
    weights, observations = drawn(policy, 3)
    layers = unpack(weights, policy.model.nets)
    soft = edges(policy.model, layers, observations)
    hard = edges(hom(rounds=1).model, layers, observations)
    assert ((soft > 0.5) == (hard == 1.0)).all()
    off_diagonal = soft[:, :, ~np.eye(3, dtype=bool)]
    assert ((off_diagonal > 0.0) & (off_diagonal < 1.0)).all()
    assert (soft[:, :, np.eye(3, dtype=bool)] == 0.0).all()
    zero = np.zeros_like(weights)
    even = edges(policy.model, unpack(zero, policy.model.nets), observations)
    np.testing.assert_array_equal(even[:, :, ~np.eye(3, dtype=bool)], 0.5)


def test_edges_have_a_slope_only_if_they_are_soft() -> None:
    """At weights off the centre; an affinity is far from 0, where a hard edge would jump."""
    for kind, moves in (("soft", True), ("hard", False)):
        policy = hom(interaction="coupled", message_reads="observation", edges=kind, rounds=1)
        weights, observations = drawn(policy, 1)
        layers = unpack(weights, policy.model.nets)
        part = policy.space.nets["edge"]
        nearby = weights.copy()
        nearby[:, part] += 1e-7
        other = edges(policy.model, unpack(nearby, policy.model.nets), observations)
        changed = (other != edges(policy.model, layers, observations)).any()
        assert changed == moves


def test_a_message_of_observations_reads_the_sender_alone() -> None:
    (message,) = (
        net for net in hom(message_reads="observation").model.nets if net.name == "message"
    )
    observed = [name for name in message.inputs if "obs" in name]
    assert observed == [f"neighbour obs[{k}]" for k in range(6)]
    assert sum("role code" in name for name in message.inputs) == 4
