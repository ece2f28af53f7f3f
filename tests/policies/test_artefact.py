"""Trained policies on disk: what was saved acts, what is damaged is refused in one sentence."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

import rolecast
from rolecast.core.errors import ConfigError, RequestError
from rolecast.core.files import read_json, write_json
from rolecast.core.types import Float
from rolecast.envs.spec import TaskSpec
from rolecast.policies.artefact import ARTEFACT_SCHEMA, save_policy
from rolecast.policies.protocol import Policy
from rolecast.policies.registry import POLICIES, make_policy

TASK = TaskSpec(id="pred_prey_3?view=2", agents=3, observation_size=16, action_size=2, horizon=25)


@pytest.fixture(params=[name for name in POLICIES if name not in {"constant", "gains"}])
def policy(request: pytest.FixtureRequest) -> Policy:
    return make_policy(request.param, TASK, seed=9, ranges={"first": 1.0}, observation_clip=3)


@pytest.fixture
def weights(policy: Policy) -> Float:
    return policy.space.weights(np.random.default_rng(0).random(policy.space.size))


@pytest.fixture
def saved(tmp_path: Path, policy: Policy, weights: Float) -> Path:
    save_policy(tmp_path / "run" / "policy", policy, weights, TASK, {"best_return": 12.5})
    return tmp_path / "run" / "policy"


def test_a_loaded_policy_acts_as_the_one_that_was_saved(
    saved: Path, policy: Policy, weights: Float
) -> None:
    loaded = rolecast.load_policy(saved)
    observations = np.random.default_rng(1).normal(size=(7, 3, 16))
    expected = policy.act(weights[None], observations[None])[0]
    np.testing.assert_array_equal(loaded.act(observations), expected)
    np.testing.assert_allclose(loaded.act(observations[4]), expected[4], atol=1e-12)
    np.testing.assert_array_equal(loaded.weights, weights)
    assert loaded.policy.options == policy.options
    assert (loaded.task, loaded.task_id) == (TASK, "pred_prey_3?view=2")
    assert loaded.extra == {"best_return": 12.5}


def test_the_folder_of_a_run_leads_to_its_policy(saved: Path, weights: Float) -> None:
    np.testing.assert_array_equal(rolecast.load_policy(saved.parent).weights, weights)


def test_what_processes_observations_and_actions_is_in_the_file(saved: Path) -> None:
    stored = json.loads((saved / "policy.json").read_text())
    assert stored["observation_processing"] == {"clip": 3.0}
    assert stored["action_processing"] == {"gain": 10.0, "squash": "tanh", "range": [-1.0, 1.0]}
    assert stored["options"]["seed"] == 9
    assert sum(np.prod(block["shape"]) for block in stored["blocks"]) == stored["parameters"]


def test_saving_again_replaces_the_policy_and_leaves_nothing_else(
    saved: Path, policy: Policy, weights: Float
) -> None:
    save_policy(saved, policy, weights + 1.0, TASK)
    np.testing.assert_array_equal(rolecast.load_policy(saved).weights, weights + 1.0)
    names = sorted(path.name for path in saved.iterdir())
    assert names == ["policy.json", "weights.safetensors"]


def test_a_setting_that_is_damaged_is_no_other_policy(saved: Path) -> None:
    described = saved / "policy.json"
    whole = described.read_text()
    assert '"observation_clip": 3' in whole
    described.write_text(whole.replace('"observation_clip": 3', '"observation_clip": 2'))
    with pytest.raises(RequestError, match="its seal is wrong"):
        rolecast.load_policy(saved)


def test_a_policy_of_an_older_release_has_no_seal_and_is_read(saved: Path, weights: Float) -> None:
    described = saved / "policy.json"
    write_json(described, read_json(described))
    assert '"seal"' not in described.read_text()
    np.testing.assert_array_equal(rolecast.load_policy(saved).weights, weights)


@pytest.mark.parametrize("broken", [np.nan, np.inf])
def test_weights_that_are_not_finite_are_never_saved(
    tmp_path: Path, policy: Policy, weights: Float, broken: float
) -> None:
    weights[3] = broken
    with pytest.raises(ConfigError, match=r"save_policy\.weights"):
        save_policy(tmp_path, policy, weights, TASK)
    assert not list(tmp_path.iterdir())


def change(**fields: object) -> Callable[[Path], None]:
    """Return a damage: set fields of `policy.json`; None removes one."""

    def damage(folder: Path) -> None:
        path = folder / "policy.json"
        stored = json.loads(path.read_text()) | fields
        kept = {name: value for name, value in stored.items() if value is not None}
        path.write_text(json.dumps(kept))

    return damage


def cut_short(name: str) -> Callable[[Path], None]:
    """Return a damage: the second half of a file is lost."""

    def damage(folder: Path) -> None:
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[: len(content) // 2])

    return damage


def numbers(kind: str, width: int) -> Callable[[Path], None]:
    """Return a damage: weights of a type and width, of bytes 255, that are sealed anew."""

    def damage(folder: Path) -> None:
        header: dict[str, object] = {}
        end = 0
        for name, part in load_file(folder / "weights.safetensors").items():
            begin, end = end, end + part.size * width
            header[name] = {"dtype": kind, "shape": part.shape, "data_offsets": [begin, end]}
        told = json.dumps(header).encode()
        sealed = len(told).to_bytes(8, "little") + told + end * b"\xff"
        (folder / "weights.safetensors").write_bytes(sealed)
        change(weights_sha256=hashlib.sha256(sealed).hexdigest())(folder)

    return damage


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda folder: (folder / "policy.json").unlink(), "holds no policy"),
        (lambda folder: (folder / "weights.safetensors").unlink(), "damaged: it cannot be read"),
        (cut_short("policy.json"), "damaged: it is not JSON"),
        (cut_short("weights.safetensors"), "damaged: its content is not what policy.json"),
        (
            lambda folder: (folder / "policy.json").write_text("[1]"),
            "damaged: expected a JSON object",
        ),
        (change(schema=None), "damaged: it names no schema"),
        (change(schema="1"), "damaged: it names no schema"),
        (
            change(schema=ARTEFACT_SCHEMA + 1),
            f"schema {ARTEFACT_SCHEMA + 1}, written by a newer release",
        ),
        (change(task=None), "damaged: a field is missing or wrong"),
        (change(task={"id": "x"}), "damaged: a field is missing or wrong"),
        (change(options=None), "damaged: a field is missing or wrong"),
        (change(name=None), "damaged: a field is missing or wrong"),
        (
            lambda folder: (folder / "policy.json").write_text("[" * 200_000),
            "damaged: it is not JSON",
        ),
        (numbers("BF16", 2), "damaged: its numbers have type BF16; expected F64"),
        (numbers("BOOL", 1), "has other numbers than finite F64"),
        (numbers("I64", 8), "has other numbers than finite F64"),
        (numbers("F64", 8), "has other numbers than finite F64"),
        (change(options={"ranges": {"first": 1}, "hidden_": 3}), "does not exist"),
        (change(name="homm"), "policy 'homm' does not exist; did you mean 'hom'"),
    ],
)
def test_a_damaged_or_newer_artefact_is_refused_in_one_sentence(
    saved: Path, damage: Callable[[Path], None], sentence: str
) -> None:
    damage(saved)
    with pytest.raises(RequestError) as refusal:
        rolecast.load_policy(saved)
    assert sentence in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("name", ["agents", "observation_size", "action_size", "horizon"])
@pytest.mark.parametrize("value", [True, 3.0, 0, -1, "3", None])
def test_a_size_of_the_task_that_is_damaged_is_named(saved: Path, name: str, value: object) -> None:
    stored = json.loads((saved / "policy.json").read_text())
    change(task=stored["task"] | {name: value})(saved)
    with pytest.raises(RequestError, match=f"{name} of the task is .*; expected an integer >= 1"):
        rolecast.load_policy(saved)


def test_weights_of_another_policy_are_refused(saved: Path, policy: Policy) -> None:
    small = TaskSpec(id="x", agents=3, observation_size=2, action_size=2, horizon=25)
    stored = json.loads((saved / "policy.json").read_text())
    task = stored["task"] | {"observation_size": small.observation_size}
    change(task=task)(saved)
    with pytest.raises(RequestError, match="damaged: its parameters are not the"):
        rolecast.load_policy(saved)
    change(task=task, parameters=None)(saved)
    with pytest.raises(RequestError, match="its blocks are not those of the policy"):
        rolecast.load_policy(saved)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="holds no policy"):
        rolecast.load_policy(tmp_path / "nowhere")


def test_loading_and_acting_need_neither_ray_nor_torch(saved: Path) -> None:
    program = (
        "import sys, numpy, rolecast\n"
        f"rolecast.load_policy({str(saved)!r}).act(numpy.zeros((3, 16)))\n"
        "print(sorted({'ray', 'torch', 'pickle5'} & set(sys.modules)))\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
