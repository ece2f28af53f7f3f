"""Trained policy on disk: `policy.json` and `weights.safetensors`; data, never code.

The two files are complete: name and settings of the policy, sizes of the task, processing of
observations and actions. Loading needs neither Ray nor the task.
"""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from rolecast.core.disk import LOCAL_DISK, Disk
from rolecast.core.errors import ConfigError, RequestError
from rolecast.core.files import json_object, parsed, write_bytes, write_sealed_json
from rolecast.core.types import Float
from rolecast.envs.spec import TaskSpec
from rolecast.policies.certificate import check_certificate, valid_certificate
from rolecast.policies.normalisation import ObservationStatistics
from rolecast.policies.protocol import Policy
from rolecast.policies.registry import remake_policy
from rolecast.policies.signature import verify_file
from rolecast.policies.space import ParameterSpace

if TYPE_CHECKING:
    from rolecast.policies.deployed import DeployedPolicy  # loads Gymnasium and PettingZoo

ARTEFACT_SCHEMA: Final = 1
"""Schema version of the files; it rises when an older release could misread them."""

POLICY_FILE: Final = "policy.json"
WEIGHTS_FILE: Final = "weights.safetensors"


@dataclass(frozen=True, kw_only=True)
class LoadedPolicy:
    """Policy with its weights, ready to act."""

    policy: Policy
    """Policy made by the registry from the stored settings."""

    weights: Float
    """Weights [D] of the policy, not of the unit cube."""

    task: TaskSpec
    """Task sizes that the policy was trained for."""

    extra: Mapping[str, Any] = field(default_factory=dict)
    """Metadata of the run that saved it: returns, seeds, versions."""

    certificate: Mapping[str, Any] | None = None
    """What `rolecast certify` has bounded of this policy; None where it was not, or of another."""

    description: bytes = field(default=b"", repr=False)
    """Content of the `policy.json` that was read."""

    @property
    def task_id(self) -> str:
        """Complete id of that task, with its options."""
        return self.task.id

    def act(self, observations: Float) -> Float:
        """Return actions [n, da] or [B, n, da], in [-1, 1], for observations [n, do] or [B, n, do].

        Raises:
            ValueError: the observations have another shape.
        """
        observations = np.asarray(observations, dtype=np.float64)
        single = observations.ndim == 2
        rows = observations[None, None] if single else observations[None]
        actions = self.policy.act(self.weights[None], rows)[0]
        return np.asarray(actions[0] if single else actions)

    def for_env(self, env: object) -> "DeployedPolicy":
        """Return the policy for the spaces of an environment, by `step(raw observations)`.

        Args:
            env: a `gymnasium.Env` or a PettingZoo `ParallelEnv`, as in the search.

        Raises:
            RequestError: the environment has other sizes than the task of the search.
        """
        from rolecast.policies.deployed import DeployedPolicy

        return DeployedPolicy(self.act, self.task, env)


def save_policy(
    directory: str | os.PathLike[str],
    policy: Policy,
    weights: Float,
    task_spec: TaskSpec,
    extra: Mapping[str, Any] | None = None,
    *,
    statistics: ObservationStatistics | None = None,
    disk: Disk = LOCAL_DISK,
) -> None:
    """Write the two files of a policy, each atomically and sealed, and the pair with a digest.

    Args:
        directory: made if it does not exist; an older policy in it is replaced.
        policy: from `make_policy`.
        weights: [D], the policy's own weights (not the unit cube), finite.
        task_spec: the task that it was trained for.
        extra: JSON values stored with it.
        statistics: a record of the observations by which the weights are normalised already.
        disk: on which.
    Raises:
        ConfigError: the weights do not fit the policy, or are not finite.
        RunError: the directory cannot be written.
    """
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (policy.space.size,) or not np.isfinite(weights).all():
        expected = f"{policy.space.size} finite numbers"
        raise ConfigError("save_policy.weights", f"array of shape {weights.shape}", expected)
    tensors = {
        block.name: weights[policy.space.slices[block.name]].reshape(block.shape)
        for block in policy.space.blocks
    }
    sealed = save_tensors(tensors)
    description = {
        "schema": ARTEFACT_SCHEMA,
        "name": policy.name,
        "options": dict(policy.options),
        "task": asdict(task_spec),
        "observation_processing": {
            "clip": policy.options.get("observation_clip"),
            **({} if statistics is None else {"folded_statistics": statistics.to_json()}),
        },
        "action_processing": {
            "gain": policy.options.get("output_gain"),
            "squash": "tanh" if "output_gain" in policy.options else "none",
            "range": [-1.0, 1.0],
        },
        "parameters": policy.space.size,
        "blocks": [
            {"name": block.name, "shape": list(block.shape), "columns": list(block.columns)}
            for block in policy.space.blocks
        ],
        "weights_sha256": hashlib.sha256(sealed).hexdigest(),
        "extra": dict(extra or {}),
    }
    folder = Path(directory)
    write_bytes(folder / WEIGHTS_FILE, sealed, disk=disk)
    write_sealed_json(folder / POLICY_FILE, description, disk=disk)


def load_policy(
    directory: str | os.PathLike[str], *, verify: str | os.PathLike[str] | None = None
) -> LoadedPolicy:
    """Read a policy from a run folder, or from the `policy` folder in it.

    Args:
        directory: of the run, or of the artefact.
        verify: file of an Ed25519 public key, which must have signed the policy.
    Raises:
        RequestError: there is no policy, it is damaged, a newer release wrote it, or it has no
            signature by that key.
    """
    folder = Path(directory)
    if not (folder / POLICY_FILE).is_file() and (folder / "policy" / POLICY_FILE).is_file():
        folder = folder / "policy"
    path = folder / POLICY_FILE
    description = read_description(folder) if verify is None else verify_file(path, Path(verify))
    stored = _parsed_description(path, description)
    try:
        task = TaskSpec.from_json(stored["task"])
        options, digest, name = dict(stored["options"]), stored["weights_sha256"], stored["name"]
        extra = stored.get("extra", {})
        check_certificate(extra)
    except (KeyError, TypeError, ValueError, AttributeError, ConfigError) as error:
        raise _damaged(path, f"a field is missing or wrong ({error})") from error
    policy = parsed(path, lambda: remake_policy(name, task, options))
    if stored.get("parameters", policy.space.size) != policy.space.size:
        raise _damaged(path, f"its parameters are not the {policy.space.size} of its options")
    weights = _weights(folder / WEIGHTS_FILE, digest, policy.space)
    return LoadedPolicy(
        policy=policy,
        weights=weights,
        task=task,
        extra=extra,
        certificate=valid_certificate(stored, weights),
        description=description,
    )


def read_description(folder: Path) -> bytes:
    """Return the content of the `policy.json` in a folder.

    Raises:
        RequestError: there is none.
    """
    path = folder / POLICY_FILE
    try:
        return path.read_bytes()
    except OSError as error:
        raise RequestError(f"{folder} holds no policy: {path} cannot be read") from error


def require_unchanged(folder: Path, trained: LoadedPolicy) -> None:
    """Refuse a folder in which another policy was put since this one was loaded.

    Raises:
        RequestError: another is there, or none.
    """
    if read_description(folder) != trained.description:
        path = folder / POLICY_FILE
        raise RequestError(f"{path} has changed meanwhile; expected the policy that was loaded")


def _parsed_description(path: Path, content: bytes) -> dict[str, Any]:
    """Return what `policy.json` says; RequestError unless this release can read it."""
    stored = json_object(path, content)
    schema = stored.get("schema")
    if type(schema) is not int:
        raise _damaged(path, "it names no schema")
    if schema > ARTEFACT_SCHEMA:
        raise RequestError(
            f"{path} has schema {schema}, written by a newer release; this one reads up to "
            f"{ARTEFACT_SCHEMA}"
        )
    return stored


def _weights(path: Path, digest: str, space: ParameterSpace) -> Float:
    """Return the weights [D] of a file that must have this digest and hold these blocks."""
    try:
        sealed = path.read_bytes()
    except OSError as error:
        raise _damaged(path, "it cannot be read") from error
    if hashlib.sha256(sealed).hexdigest() != digest:
        raise _damaged(path, f"its content is not what {POLICY_FILE} was written for")
    try:
        tensors = load_tensors(sealed)
    except SafetensorError as error:
        raise _damaged(path, "it is not in the safetensors format") from error
    except KeyError as error:
        raise _damaged(path, f"its numbers have type {error.args[0]}; expected F64") from error
    shapes = {block.name: block.shape for block in space.blocks}
    if {name: tensor.shape for name, tensor in tensors.items()} != shapes:
        raise _damaged(path, "its blocks are not those of the policy")
    for name, tensor in tensors.items():
        if tensor.dtype.kind != "f" or not np.isfinite(tensor).all():
            raise _damaged(path, f"block {name} has other numbers than finite F64")
    parts = [tensors[block.name].ravel() for block in space.blocks]
    return np.concatenate(parts).astype(np.float64)


def _damaged(path: Path, reason: str) -> RequestError:
    return RequestError(f"{path} is damaged: {reason}")
