"""Bad input of `export`, `certify` and `play`: one sentence, exit code 2, nothing written."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from safetensors.numpy import load_file, save_file

from rolecast.core.errors import RequestError
from rolecast.core.files import read_json
from rolecast.envs.registry import make_task
from rolecast.envs.spec import TaskSpec
from rolecast.platform.cli.app import main
from rolecast.platform.deployment.export import export_policy
from rolecast.platform.deployment.manifest import check_export
from rolecast.policies.artefact import save_policy
from rolecast.policies.export.reference import reference
from rolecast.policies.registry import make_policy

Change = Callable[[Path], Any]


def saved(folder: Path, spec: TaskSpec, name: str = "linear", **options: Any) -> Path:
    """Save a policy with weights drawn in the cube."""
    policy = make_policy(name, spec, **options)
    weights = policy.space.weights(np.random.default_rng(2).random(policy.space.dimension))
    save_policy(folder, policy, weights, spec)
    return folder


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    """Folder of a policy of pred_prey_3."""
    return saved(tmp_path / "policy", make_task("pred_prey_3").spec)


def refused(capsys: pytest.CaptureFixture[str], *words: str | Path) -> str:
    """Return the one sentence with which a command ends by code 2."""
    before = capsys.readouterr()
    # Quiet, for a slow machine tells that it is loading.
    assert main([str(word) for word in (*words, "-q")]) == 2, before
    told = capsys.readouterr()
    assert told.out == ""
    (sentence,) = told.err.splitlines()
    return sentence


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--target", "rust"), "export.target is 'rust'; expected one of c99, onnx, micropython"),
        (("--weights", "int4"), "export.weights is 'int4'; expected one of float32, int16, int8"),
        (("--compiler", "arm-cc"), "'arm-cc' is not installed; expected it on PATH (Debian: apt-"),
        (
            ("--weights", "int8", "--max-loss", "-1"),
            "export.max_loss is -1.0; expected a number >= 0",
        ),
        (("--core", "Cortex-M9"), "core 'Cortex-M9' does not exist; did you mean 'Cortex-M"),
        (("--core", "Cortex-M0", "--one-agent"), "expected none but for C of a whole team"),
        (("--target", "wasm", "--one-agent"), "expected a whole team in float32 for target wasm"),
    ],
)
def test_a_wrong_setting_is_one_sentence(
    policy: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], sentence: str
) -> None:
    out = policy.parent / "out"
    assert sentence in refused(capsys, "export", policy, *words, "--out", out)
    assert [path.name for path in policy.parent.iterdir()] == ["policy"]


def test_an_existing_path_is_left_alone(policy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = policy.parent / "out"
    out.write_text("mine")
    assert f"{out} exists; expected a folder to make" in refused(
        capsys, "export", policy, "--out", out
    )
    assert out.read_text() == "mine"


def test_a_folder_that_cannot_be_made_is_one_sentence(
    policy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (policy.parent / "file").write_text("mine")
    out = policy.parent / "file" / "out"
    sentence = refused(capsys, "export", policy, "--out", out)
    assert f"--out {out} cannot be made: " in sentence


@pytest.mark.parametrize(
    ("name", "value"), [("observation_clip", 1e39), ("output_gain", 1e39), ("output_gain", 1e-50)]
)
def test_a_bound_that_no_float_holds_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, value: float
) -> None:
    folder = saved(tmp_path / "policy", make_task("pred_prey_3").spec, "mlp", **{name: value})
    sentence = refused(capsys, "export", folder, "--out", tmp_path / "out")
    assert f"export: {name} is {value}; expected a number > 0 and finite as float32" in sentence
    assert not (tmp_path / "out").exists()


def test_agents_beyond_one_byte_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    crowd = TaskSpec(id="crowd", agents=128, observation_size=3, action_size=1, horizon=5)
    folder = saved(tmp_path / "policy", crowd)
    for weights in ("float32", "int8"):
        sentence = refused(
            capsys, "export", folder, "--weights", weights, "--out", tmp_path / "out"
        )
        assert "its agents is 128; expected at most 127 agents" in sentence
    assert [path.name for path in tmp_path.iterdir()] == ["policy"]


def test_eleven_agents_have_no_roles_in_integers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = replace(make_task("pred_prey_12").spec, homogeneous_agents=False)
    folder = saved(tmp_path / "policy", spec, "hom", role_assignment=True)
    words = ("export", folder, "--weights", "int8", "--out", tmp_path / "out")
    assert "assigns roles to 12 agents; expected at most 10" in refused(capsys, *words)
    assert [path.name for path in tmp_path.iterdir()] == ["policy"]


@pytest.mark.parametrize("command", ["export", "certify", "play"])
def test_weights_that_are_not_numbers_are_refused(
    policy: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    """Even where someone has sealed them: the digest of the weights is written anew."""
    weights = policy / "weights.safetensors"
    tensors = load_file(weights)
    next(iter(tensors.values())).flat[0] = np.nan
    save_file(tensors, weights)
    out = policy.parent / "out.html"
    words = () if command == "certify" else ("--out", out)
    sentence = refused(capsys, command, policy, *words)
    assert "weights" in sentence
    assert not out.exists()


@pytest.mark.parametrize(
    "words",
    [
        ("evaluate", "{}", "--task", "pred_prey_6?observation=full"),
        ("certify", "{}", "--episodes", "10"),
        ("export", "{}", "--weights", "int8", "--out", "out"),
        ("play", "{}", "--out", "out.html"),
    ],
    ids=lambda words: words[0],
)
def test_a_policy_for_other_sizes_names_both(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
) -> None:
    """The task of that id had another observation when the policy was searched, or has it now."""
    monkeypatch.chdir(tmp_path)
    spec = make_task("pred_prey_3").spec
    other = spec if words[0] == "evaluate" else replace(spec, observation_size=5, symmetries=())
    saved(tmp_path / "policy", other)
    sentence = refused(capsys, *(word.format("policy") for word in words))
    sizes = ("agents", 6, 3) if words[0] == "evaluate" else ("observation_size", 16, 5)
    assert f"{sizes[0]} of task" in sentence
    assert f"is {sizes[1]}; expected {sizes[2]}, as the policy was searched in" in sentence
    assert [path.name for path in tmp_path.iterdir()] == ["policy"]


def damaged_digest(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"]["rolecast_policy.c"] = "0" * 64
    (folder / "manifest.json").write_text(json.dumps(manifest))


def another_schema(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["schema"] = 2
    (folder / "manifest.json").write_text(json.dumps(manifest))


def outside_name(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"]["../policy/policy.json"] = "0" * 64
    (folder / "manifest.json").write_text(json.dumps(manifest))


def shadowing_package(folder: Path) -> None:
    (folder / "rolecast_policy").mkdir()
    (folder / "rolecast_policy" / "__init__.py").write_text("print('another')")


def files_of_another_type(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"files": 5}))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda folder: (folder / "main_test.c").unlink(), "main_test.c is missing"),
        (damaged_digest, "rolecast_policy.c is not the file that manifest.json was written for"),
        (another_schema, "has schema 2; expected an integer up to 1"),
        (outside_name, "names '../policy/policy.json'; expected names of files beside it"),
        (files_of_another_type, "names no files; expected names of files beside it"),
        (lambda folder: (folder / "manifest.json").write_text("{"), "manifest.json is damaged"),
        (
            lambda folder: (folder / "manifest.json").unlink(),
            "manifest.json does not exist; expected a folder that was exported",
        ),
        (
            lambda folder: (folder / "more.c").write_text("int more;"),
            "more.c is source that manifest.json does not name",
        ),
        (shadowing_package, "__init__.py is source that manifest.json does not name"),
    ],
    ids=["missing", "digest", "schema", "outside", "type", "damaged", "none", "more", "package"],
)
def test_a_manifest_that_does_not_match_is_refused(
    policy: Path, capsys: pytest.CaptureFixture[str], change: Change, sentence: str
) -> None:
    firmware = policy.parent / "firmware"
    export_policy(policy, firmware)
    change(firmware)
    assert sentence in refused(capsys, "export", firmware, "--check")


def test_a_link_that_leads_nowhere_is_left_alone(policy: Path) -> None:
    out = policy.parent / "out"
    out.symlink_to(policy.parent / "nowhere")
    with pytest.raises(RequestError, match="out exists; expected a folder to make"):
        export_policy(policy, out)
    assert out.is_symlink()


@pytest.mark.parametrize("command", ["export", "certify", "play", "serve"])
def test_a_scripted_policy_is_offered_only_where_it_is_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    out = {"export": ("--out", tmp_path / "x"), "play": ("--out", tmp_path / "x.html")}
    sentence = refused(capsys, command, "random", *out.get(command, ()))
    assert sentence.endswith("'random' is no folder; expected that of a run, or of its policy")
    assert "or a scripted policy: " in refused(capsys, "evaluate", "rundom")


def test_the_manifest_that_is_read_is_the_one_that_was_verified(
    policy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The manifest is replaced after its signature was found to be valid."""
    firmware, manifest = policy.parent / "firmware", policy.parent / "firmware" / "manifest.json"
    export_policy(policy, firmware)

    def verify_then_replace(path: Path, key: Path) -> bytes:
        content = path.read_bytes()
        path.write_text(content.decode().replace('"c99"', '"another"'))
        return content

    monkeypatch.setattr("rolecast.platform.deployment.manifest.verify_file", verify_then_replace)
    assert check_export(firmware, policy.parent / "key")["target"] == "c99"
    assert '"another"' in manifest.read_text()


@pytest.mark.parametrize("command", ["export", "certify"])
def test_another_policy_is_not_signed_in_place_of_the_one_that_was_loaded(
    policy: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    command: str,
) -> None:
    """The file is replaced while the policy is being exported or certified."""
    described, key, firmware = policy / "policy.json", policy.parent / "key", policy.parent / "out"
    pair = Ed25519PrivateKey.generate()
    key.write_bytes(pair.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
    another = json.dumps(read_json(described) | {"extra": {"by": "another"}})

    def replace_then_refer(*arguments: Any) -> Any:
        described.write_text(another)
        return reference(*arguments)

    module = f"rolecast.platform.deployment.{command}"
    monkeypatch.setattr(f"{module}.reference", replace_then_refer)
    words = ("--out", firmware) if command == "export" else ("--episodes", "10")
    sentence = refused(capsys, command, policy, "--sign", key, *words)
    assert "policy.json has changed meanwhile; expected the policy that was loaded" in sentence
    assert described.read_text() == another
    assert not (policy / "policy.json.sig").exists()
    assert not firmware.exists()


def test_a_policy_that_cannot_be_signed_leaves_no_export(
    policy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key, firmware = policy.parent / "key", policy.parent / "out"
    pair = Ed25519PrivateKey.generate()
    key.write_bytes(pair.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
    (policy / "policy.json.sig").mkdir()
    words = ["export", str(policy), "--sign", str(key), "--out", str(firmware)]
    assert main(words) == 1
    assert "policy.json.sig cannot be written" in capsys.readouterr().err
    assert not firmware.exists()


def test_what_a_user_builds_beside_an_export_is_no_fault(policy: Path) -> None:
    firmware = policy.parent / "firmware"
    export_policy(policy, firmware)
    for name in ("a.out", "rolecast_policy.o"):
        (firmware / name).write_bytes(b"built")
    assert check_export(firmware)["target"] == "c99"


def test_a_policy_without_an_exporter_is_refused(
    policy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("rolecast.policies.export.reference.MlpPolicy", Path)
        with pytest.raises(RequestError, match="policy 'linear' has no exporter; expected one of"):
            export_policy(policy, policy.parent / "out")
    shutil.rmtree(policy)
    assert list(policy.parent.iterdir()) == []
