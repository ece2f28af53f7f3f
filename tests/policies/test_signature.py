"""Signatures hold for one file and one key, and for nothing else."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import rolecast
from rolecast.core.errors import RequestError
from rolecast.envs.spec import TaskSpec
from rolecast.policies.artefact import save_policy
from rolecast.policies.registry import make_policy
from rolecast.policies.signature import sign_file, verify_file

PEM = serialization.Encoding.PEM
OPENSSH = serialization.Encoding.OpenSSH


def write_keys(folder: Path, name: str, *, openssh: bool = False) -> tuple[Path, Path]:
    """Write a new pair of keys; return the files of the private and of the public one."""
    pair = Ed25519PrivateKey.generate()
    private, public = folder / f"{name}.key", folder / f"{name}.pub"
    encoding, form = (
        (PEM, serialization.PrivateFormat.OpenSSH)
        if openssh
        else (PEM, serialization.PrivateFormat.PKCS8)
    )
    private.write_bytes(pair.private_bytes(encoding, form, serialization.NoEncryption()))
    shown = (
        (OPENSSH, serialization.PublicFormat.OpenSSH)
        if openssh
        else (PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    public.write_bytes(pair.public_key().public_bytes(*shown))
    return private, public


@pytest.fixture
def artefact(tmp_path: Path) -> Path:
    spec = TaskSpec(id="some", agents=2, observation_size=3, action_size=1, horizon=5)
    policy = make_policy("linear", spec)
    save_policy(tmp_path / "policy", policy, np.zeros(policy.space.size), spec)
    return tmp_path / "policy"


@pytest.mark.parametrize("openssh", [False, True])
def test_a_signed_policy_is_loaded_by_its_key_alone(
    artefact: Path, tmp_path: Path, openssh: bool
) -> None:
    private, public = write_keys(tmp_path, "mine", openssh=openssh)
    _, foreign = write_keys(tmp_path, "foreign")
    sign_file(artefact / "policy.json", private)
    assert rolecast.load_policy(artefact, verify=public).task_id == "some"
    assert rolecast.load_policy(artefact, verify=private).task_id == "some"
    with pytest.raises(RequestError, match=r"policy\.json is not what the key of .*foreign\.pub"):
        rolecast.load_policy(artefact, verify=foreign)


def test_other_weights_or_settings_have_no_valid_signature(artefact: Path, tmp_path: Path) -> None:
    private, public = write_keys(tmp_path, "mine")
    sign_file(artefact / "policy.json", private)
    weights = artefact / "weights.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[:-1] + b"\x01")
    with pytest.raises(RequestError, match="its content is not what"):
        rolecast.load_policy(artefact, verify=public)
    weights.write_bytes(whole)
    described = artefact / "policy.json"
    described.write_text(described.read_text().replace('"output_gain": 10.0', '"output_gain": 9.0'))
    with pytest.raises(RequestError, match="expected the file as it was signed"):
        rolecast.load_policy(artefact, verify=public)


def test_a_policy_without_a_signature_is_refused_where_one_is_asked_for(
    artefact: Path, tmp_path: Path
) -> None:
    _, public = write_keys(tmp_path, "mine")
    with pytest.raises(RequestError, match=r"has no signature; expected it in .*policy\.json\.sig"):
        rolecast.load_policy(artefact, verify=public)


def test_what_is_loaded_is_what_was_verified(
    artefact: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is replaced after its signature was found to be valid."""
    private, public = write_keys(tmp_path, "mine")
    described = artefact / "policy.json"
    whole = described.read_bytes()
    sign_file(described, private)

    def verify_then_replace(path: Path, key: Path) -> bytes:
        content = verify_file(path, key)
        path.write_bytes(whole.replace(b'"extra": {}', b'"extra": {"by": "another"}'))
        return content

    monkeypatch.setattr("rolecast.policies.artefact.verify_file", verify_then_replace)
    loaded = rolecast.load_policy(artefact, verify=public)
    assert (loaded.extra, loaded.description) == ({}, whole)
    assert b"another" in described.read_bytes()


def test_a_signature_without_its_policy_is_refused(artefact: Path, tmp_path: Path) -> None:
    private, public = write_keys(tmp_path, "mine")
    sign_file(artefact / "policy.json", private)
    (artefact / "policy.json").unlink()
    with pytest.raises(RequestError, match=r"policy\.json does not exist"):
        rolecast.load_policy(artefact, verify=public)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs the package openssl")
def test_openssl_verifies_the_same_signature(tmp_path: Path) -> None:
    private, public = write_keys(tmp_path, "mine")
    file = tmp_path / "manifest.json"
    file.write_text("{}")
    signed = sign_file(file, private)
    command: list[str | Path] = ["openssl", "pkeyutl", "-verify", "-pubin", "-rawin"]
    command += ["-inkey", public, "-in", file, "-sigfile", signed]
    subprocess.run(command, check=True, capture_output=True)


def test_what_is_no_key_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("text")
    with pytest.raises(RequestError, match="holds no key; expected an Ed25519 private key"):
        sign_file(file, file)
    with pytest.raises(RequestError, match="holds no key; expected an Ed25519 public key"):
        verify_file(file, file)
    with pytest.raises(RequestError, match="cannot be read"):
        sign_file(file, tmp_path / "none")
    other = generate_private_key(SECP256R1()).private_bytes(
        PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (tmp_path / "other").write_bytes(other)
    with pytest.raises(RequestError, match="a key of another kind"):
        sign_file(file, tmp_path / "other")
    assert not (tmp_path / "file.sig").exists()
