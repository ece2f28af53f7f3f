"""Running statistics, and that weights with them folded in are the normalised policy."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from rolecast.core.errors import RequestError
from rolecast.core.types import LANE_COUNT, Float
from rolecast.envs.spec import TaskSpec
from rolecast.policies.artefact import POLICY_FILE, load_policy, save_policy
from rolecast.policies.normalisation import (
    LEAST_DEVIATION,
    ObservationStatistics,
    counted_share,
    observation_bound,
)
from rolecast.policies.registry import make_policy

MakeSpec = Callable[..., TaskSpec]
Draw = Callable[..., tuple[Float, Float]]
ThroughLanes = Callable[..., Float]

POLICIES_AND_OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("linear", {}),
    ("mlp", {}),
    ("mlp", {"hidden": []}),
    ("hom", {"role_assignment": True}),
    ("hom", {"role_assignment": False, "self_edges": True}),
    ("hom", {"size": "sm", "role_interaction": False}),
]


def statistics_of(rows: Float) -> ObservationStatistics:
    """Return the statistics of observations [S, do]."""
    count = np.full(rows.shape[1], float(len(rows)))
    return ObservationStatistics.of_sums(np.array([count, rows.sum(0), np.square(rows).sum(0)]))


@pytest.fixture
def known() -> ObservationStatistics:
    rng = np.random.default_rng(4)
    return statistics_of(rng.normal(rng.normal(size=5), [0.5, 1.0, 2.0, 4.0, 0.1], (200, 5)))


def test_statistics_are_the_mean_and_deviation_of_all_that_was_merged() -> None:
    rows = np.random.default_rng(0).normal(3.0, [1.0, 0.1, 20.0], (90, 3))
    found = ObservationStatistics.none(3)
    for part in (rows[:1], rows[1:40], rows[40:]):
        found = found.merged(statistics_of(part))
    assert found.count == 90
    np.testing.assert_allclose(found.mean, rows.mean(0), rtol=1e-12)
    np.testing.assert_allclose(found.deviation, rows.std(0), rtol=1e-10)
    assert found.merged(ObservationStatistics.none(3)) is found


def test_a_deviation_has_a_floor_and_is_1_before_any_observation() -> None:
    assert ObservationStatistics.none(2).deviation.tolist() == [1.0, 1.0]
    assert statistics_of(np.ones((9, 2))).deviation.tolist() == [LEAST_DEVIATION] * 2


def test_statistics_come_back_from_json_to_the_last_bit(known: ObservationStatistics) -> None:
    again = ObservationStatistics.from_json(json.loads(json.dumps(known.to_json())))
    assert again.count == known.count
    np.testing.assert_array_equal(again.mean, known.mean)
    np.testing.assert_array_equal(again.squares, known.squares)


@pytest.mark.parametrize(("name", "options"), POLICIES_AND_OPTIONS, ids=str)
def test_folded_weights_are_the_policy_of_normalised_observations(
    name: str,
    options: dict[str, Any],
    known: ObservationStatistics,
    spec: MakeSpec,
    draw: Draw,
    through_lanes: ThroughLanes,
) -> None:
    """In the readable form and the compiled one, for several candidates at once."""
    policy = make_policy(name, spec(3), normalise="running", observation_clip=1e6, **options)
    cubes = np.random.default_rng(7).random((LANE_COUNT, policy.space.size))
    observations = 2.0 * draw(policy, spec(3), LANE_COUNT)[1] + known.mean
    plain, folded = policy.space.weights(cubes), policy.space.weights(cubes, known)
    normalised = (observations - known.mean) / known.deviation
    expected = policy.act(plain, normalised[:, None])
    assert np.abs(expected - policy.act(plain, observations[:, None])).max() > 0.1
    np.testing.assert_allclose(policy.act(folded, observations[:, None]), expected, atol=1e-9)
    compiled = through_lanes(policy, folded, observations, 2)
    agree = np.abs(compiled - expected[:, 0]).max(axis=(1, 2)) < 5e-3
    assert agree.mean() > 0.8  # in single precision a few roles or edges fall otherwise


@pytest.mark.parametrize(("name", "options"), POLICIES_AND_OPTIONS, ids=str)
def test_a_point_has_the_same_weights_alone_and_in_a_batch(
    name: str, options: dict[str, Any], known: ObservationStatistics, spec: MakeSpec
) -> None:
    space = make_policy(name, spec(3), normalise="running", **options).space
    cubes = np.random.default_rng(7).random((4, space.size))
    together = space.weights(cubes, known)
    for cube, weights in zip(cubes, together, strict=True):
        np.testing.assert_array_equal(space.weights(cube, known), weights)
    none = ObservationStatistics.none(5)
    np.testing.assert_array_equal(space.weights(cubes, none), space.weights(cubes))


def test_only_a_policy_that_normalises_needs_statistics(spec: MakeSpec) -> None:
    assert observation_bound(make_policy("linear", spec(1)).options) is None
    running = make_policy("linear", spec(1), normalise="running", observation_clip=4)
    assert observation_bound(running.options) == 4.0
    assert counted_share(running.options) == 0.3
    assert counted_share(make_policy("mlp", spec(1), normalise="running").options) == 1.0
    assert counted_share(make_policy("linear", spec(1), normalise_share=0.5).options) == 0.5
    with pytest.raises(RequestError, match=r"LinearConfig\.normalise is 'on'; expected one of"):
        make_policy("linear", spec(1), normalise="on")
    for wrong in (0.0, 1.5, "half", True):
        with pytest.raises(
            RequestError, match=r"normalise_share is .*; expected a number in \(0, 1"
        ):
            make_policy("linear", spec(1), normalise_share=wrong)


@dataclass(frozen=True, kw_only=True)
class TheirConfig:
    """Settings of a policy of another package, without normalisation."""

    width: int = 1


def test_a_policy_of_others_without_normalisation_is_refused(
    spec: MakeSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rolecast.policies.registry.policy_config", lambda _: TheirConfig)
    with pytest.raises(RequestError, match="option of policy 'theirs': 'normalise' does not exist"):
        make_policy("theirs", spec(1), normalise="running")


def test_an_artefact_holds_plain_weights_and_a_record_of_the_statistics(
    known: ObservationStatistics, spec: MakeSpec, tmp_path: Any
) -> None:
    policy = make_policy("linear", spec(1), normalise="running")
    weights = policy.space.weights(np.random.default_rng(1).random(policy.space.size), known)
    save_policy(tmp_path, policy, weights, spec(1), statistics=known)
    stored = json.loads((tmp_path / POLICY_FILE).read_text())["observation_processing"]
    assert stored == {"clip": 10.0, "folded_statistics": known.to_json()}
    loaded = load_policy(tmp_path)
    np.testing.assert_array_equal(loaded.weights, weights)
    observations = np.random.default_rng(2).normal(size=(1, 5))
    expected = policy.act(weights[None], observations[None, None])[0, 0]
    np.testing.assert_array_equal(loaded.act(observations), expected)
