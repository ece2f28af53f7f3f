"""Gains of a found policy: in the middle of the cube it is that policy; a layer has one gain."""

import json
from pathlib import Path

import numpy as np
import pytest

import rolecast
from rolecast.core.errors import RequestError
from rolecast.core.files import read_json, write_json
from rolecast.envs.spec import TaskSpec
from rolecast.policies.artefact import save_policy
from rolecast.policies.protocol import Policy
from rolecast.policies.registry import make_policy
from rolecast.testing import PolicyContract


def gains(task: TaskSpec, name: str = "hom") -> tuple[Policy, Policy, np.ndarray]:
    """Return the policy of gains, the one that it scales, and that one's weights."""
    base = make_policy(name, task, seed=1)
    weights = base.space.weights(np.random.default_rng(2).random(base.space.size))
    scaled = {"name": name, "options": dict(base.options), "weights": weights.tolist()}
    return make_policy("gains", task, scaled=scaled), base, weights


class TestGains(PolicyContract):
    def make(self, task: TaskSpec) -> Policy:
        return gains(task)[0]


TASK = TaskSpec(id="team", agents=3, observation_size=6, action_size=2, horizon=25)


def test_gains_of_one_are_the_found_policy_and_another_scales_its_layer_alone() -> None:
    policy, base, weights = gains(TASK)
    assert policy.space.dimension == 12
    observations = np.random.default_rng(0).normal(size=(1, 5, 3, 6))
    middle = policy.space.weights(np.full((1, 12), 0.5))
    expected = base.act(weights[None], observations)
    np.testing.assert_array_equal(policy.act(middle, observations), expected)
    one = middle.copy()
    one[0, 9] = 1.0  # update.0
    changed = weights.copy()
    for name, part in base.space.slices.items():
        if name.startswith("update.0."):
            changed[part] *= 4.0
    np.testing.assert_allclose(
        policy.act(one, observations), base.act(changed[None], observations), atol=1e-12
    )


def test_gains_need_no_file_once_they_are_made(tmp_path: Path) -> None:
    _, base, weights = gains(TASK, "mlp")
    save_policy(tmp_path / "found", base, weights, TASK)
    policy = make_policy("gains", TASK, found=str(tmp_path / "found"))
    again = make_policy("gains", TASK, **json.loads(json.dumps(policy.options)))
    observations = np.random.default_rng(0).normal(size=(1, 5, 3, 6))
    row = np.full((1, policy.space.size), 0.3)
    np.testing.assert_array_equal(again.act(row, observations), policy.act(row, observations))
    save_policy(tmp_path / "tuned", policy, row[0], TASK)
    loaded = rolecast.load_policy(tmp_path / "tuned")
    np.testing.assert_array_equal(loaded.act(observations[0]), policy.act(row, observations)[0])


def test_a_policy_that_is_missing_or_of_other_sizes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"GainsConfig.found is None; expected the folder"):
        make_policy("gains", TASK)
    with pytest.raises(RequestError, match="nowhere"):
        make_policy("gains", TASK, found=str(tmp_path / "nowhere"))
    for wrong in ({}, {"name": "mlp", "options": {}}, {"name": "mlp", "options": 1, "weights": []}):
        with pytest.raises(RequestError, match=r"GainsConfig.scaled is .*; expected name, options"):
            make_policy("gains", TASK, scaled=wrong)
    with pytest.raises(RequestError, match="policy 'mpl' does not exist; did you mean 'mlp'"):
        make_policy("gains", TASK, scaled={"name": "mpl", "options": {}, "weights": []})
    with pytest.raises(RequestError, match="the found policy has 3 weights; expected"):
        make_policy("gains", TASK, scaled={"name": "mlp", "options": {}, "weights": [1, 2, 3]})


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_a_stored_policy_reads_no_other_folder(depth: int, tmp_path: Path) -> None:
    """It may carry a signature, which the other folder has not; nor do those that it scales."""
    policy, base, weights = gains(TASK, "mlp")
    save_policy(tmp_path / "found", base, weights, TASK)
    save_policy(tmp_path / "tuned", policy, np.zeros(policy.space.size), TASK)
    description = read_json(tmp_path / "tuned" / "policy.json")
    options: dict[str, object] = {"found": str(tmp_path / "found")}
    for _ in range(depth):
        scaled = {"name": "gains", "options": options, "weights": [0.0] * policy.space.size}
        options = {"scaled": scaled}
    description["options"] = options
    write_json(tmp_path / "tuned" / "policy.json", description)
    with pytest.raises(RequestError, match=r"option found of .* is .*; expected the"):
        rolecast.load_policy(tmp_path / "tuned")
