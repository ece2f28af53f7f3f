"""`rolecast export`: from the folder of a run to a folder of code, checked before it appears."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import rolecast
from rolecast.core.errors import ConfigError, RequestError
from rolecast.platform.deployment.config import ExportConfig
from rolecast.platform.deployment.device_code import build_code
from rolecast.platform.deployment.manifest import BuiltExport, refuse_existing, write_export
from rolecast.platform.deployment.micropython import build_python
from rolecast.platform.rollout.artefact_folder import artefact_folder
from rolecast.policies.artefact import POLICY_FILE, LoadedPolicy, load_policy, require_unchanged
from rolecast.policies.certificate import certificate_sentence, weights_digest
from rolecast.policies.export.cost import agent_step_cost, step_cost
from rolecast.policies.export.reference import reference
from rolecast.policies.hom.policy import HomPolicy
from rolecast.policies.mlp import MlpPolicy
from rolecast.policies.signature import private_key, sign_file

MOST_AGENTS: Final = 127

INTEGERS_UNCERTIFIED: Final = "The certificate of the policy in float32 does not hold for integers."

PYTHON_UNCERTIFIED: Final = (
    "Measured in float32 of C; MicroPython, which rounds otherwise, was not."
)


def export_policy(
    folder: str | Path,
    out: str | Path,
    config: ExportConfig | None = None,
    *,
    sign: str | Path | None = None,
    trust: bool = False,
) -> dict[str, Any]:
    """Write a found policy as source code for a device, and return its manifest.

    The code is run on this machine and compared with its reference; only then the folder `out`
    appears.

    Args:
        folder: of a run, or its policy.
        out: folder to make; it must not exist.
        config: what is exported.
        sign: file of an Ed25519 private key, by which the manifest and the policy are signed.
        trust: play the policy's task for integer weights, though its id may run any code.
    Raises:
        RequestError: no policy, one without an exporter, an existing `out`, no compiler, no key,
            integer weights of a policy whose task is not trusted, or another policy in the folder
            than the one to be signed.
        RunError: the code differs from the reference, or a file cannot be written.
    """
    config = config or ExportConfig()
    # Absolute, for the compiler runs in a folder of its own.
    source, target = artefact_folder(Path(folder)), Path(out).absolute()
    refuse_existing(target)
    if sign is not None:
        private_key(sign)
    trained = load_policy(source)
    policy = exportable(trained, config)
    digest = weights_digest(trained.weights)
    promise, certified = _promise(trained, config)
    remarks = (
        f"Policy {policy.name}, {policy.space.size} parameters, for task {trained.task_id}.\n"
        f"Made by rolecast {rolecast.__version__}; sha256 of the weights: {digest[:16]}.",
        certified,
    )
    told = {
        "weights": config.weights,
        "deployment": "one agent" if config.one_agent else "whole team",
        "policy": {
            "name": policy.name,
            "task": trained.task_id,
            "agents": trained.task.agents,
            "observation_size": trained.task.observation_size,
            "action_size": trained.task.action_size,
            "parameters": policy.space.size,
            "options": dict(policy.options),
            "weights_sha256": digest,
        },
        "certificate": promise,
        "step": asdict(
            agent_step_cost(policy)
            if config.one_agent
            else step_cost(policy, integers=config.weights != "float32")
        ),
    }

    def build(scratch: Path) -> BuiltExport:
        built = _built(trained, policy, config, remarks, scratch, trust=trust)
        if sign is not None:
            require_unchanged(source, trained)
            sign_file(source / POLICY_FILE, sign, trained.description)
        return built

    return write_export(target, config.target, told, build, sign=sign)


def _promise(trained: LoadedPolicy, config: ExportConfig) -> tuple[str | None, str | None]:
    """Return what an export promises by its policy's certificate: in the manifest, in each file.

    The certificate is that of the float32 reference, whose bits C, ONNX and WebAssembly have.
    """
    promise = certificate_sentence(trained.certificate)
    if promise is None:
        return None, None
    if config.weights != "float32":
        return None, INTEGERS_UNCERTIFIED
    if config.target == "micropython":
        promise = f"{promise}\n{PYTHON_UNCERTIFIED}"
    return promise, promise


def _built(
    trained: LoadedPolicy,
    policy: HomPolicy | MlpPolicy,
    config: ExportConfig,
    remarks: Sequence[str | None],
    scratch: Path,
    *,
    trust: bool,
) -> BuiltExport:
    """Return the files of the target, checked."""
    if config.target == "micropython":
        return build_python(trained, policy, remarks, scratch)
    return build_code(trained, policy, config, remarks, scratch, trust=trust)


def exportable(trained: LoadedPolicy, config: ExportConfig) -> HomPolicy | MlpPolicy:
    """Return the policy of an artefact, where it can be exported so.

    Raises:
        RequestError: the target, the numbers or the devices cannot hold it.
    """
    policy, agents = trained.policy, trained.task.agents
    reference(policy, trained.weights)  # refuses policies without an exporter, and their weights
    if not isinstance(policy, HomPolicy | MlpPolicy):
        raise TypeError(f"policy {policy.name} has a reference, and no templates")
    if agents > MOST_AGENTS:
        expected = f"at most {MOST_AGENTS} agents, which one byte of a device can number"
        raise ConfigError("export of a team: its agents", agents, expected)
    if config.one_agent and isinstance(policy, HomPolicy) and config.weights != "float32":
        raise RequestError(
            f"policy 'hom' on one agent each has no {config.weights} weights; expected "
            "--weights float32, or --agents-on-one-device"
        )
    return policy
