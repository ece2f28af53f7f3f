"""`rolecast export`: from the folder of a run to a folder of C, checked before it appears."""

import hashlib
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import rolecast
from rolecast.core.errors import ConfigError, RequestError, RunError
from rolecast.core.files import read_json, write_json
from rolecast.core.types import Float, Float32
from rolecast.platform.deployment.certify import certificate_sentence, weights_digest
from rolecast.platform.deployment.compiler import build_library, require_program, run_program
from rolecast.platform.deployment.config import WEIGHT_BITS, ExportConfig
from rolecast.platform.deployment.quantise import quantised, return_loss
from rolecast.platform.deployment.wasm import WASM_FILE, WASM_TOOLS, build_wasm
from rolecast.platform.rollout.evaluate import artefact_folder
from rolecast.policies.artefact import LoadedPolicy, load_policy
from rolecast.policies.export.c99 import (
    COMPILER_FLAGS,
    check_program,
    code_files,
    fixed_code_files,
    message_phases,
)
from rolecast.policies.export.cost import step_cost
from rolecast.policies.export.fixed import FixedPolicy
from rolecast.policies.export.onnx import onnx_model
from rolecast.policies.export.reference import reference
from rolecast.policies.export.vectors import drawn_observations
from rolecast.policies.hom.policy import HomPolicy
from rolecast.policies.mlp import MlpPolicy

MANIFEST_SCHEMA: Final = 1
MANIFEST_FILE: Final = "manifest.json"

ONNX_FILE: Final = "rolecast_policy.onnx"
MOST_AGENTS: Final = 127
STORED_VECTORS: Final = 100
CHECKED_VECTORS: Final = 10_000
TEAM_VECTORS: Final = 1000
"""Vectors checked where each is a step of robots that exchange messages."""


def export_policy(
    folder: str | Path, out: str | Path, config: ExportConfig | None = None, *, trust: bool = False
) -> dict[str, Any]:
    """Write a found policy as source code for a device, and return its manifest.

    The code is compiled on this machine and compared with the float32 reference, bit by bit; only
    then the folder `out` appears.

    Args:
        folder: of a run, or its policy.
        out: folder to make; it must not exist.
        config: what is exported.
        trust: play the policy's task for integer weights, though its id may run any code.
    Raises:
        RequestError: no policy, one without an exporter, an existing `out`, no compiler, or
            integer weights of a policy whose task is not trusted.
        RunError: the compiled code differs from the reference.
    """
    config = config or ExportConfig()
    # Absolute, for the compiler runs in a folder of its own.
    source, target = artefact_folder(Path(folder)), Path(out).absolute()
    if target.exists():
        raise RequestError(f"{target} exists; expected a folder to make: name another by --out")
    trained = load_policy(source)
    policy = trained.policy
    act = reference(policy, trained.weights)
    if not isinstance(policy, HomPolicy | MlpPolicy):
        raise TypeError(f"policy {policy.name} has a reference, and no templates")
    _require_exportable(policy, trained.task.agents, config)
    exported = _exported(trained, policy, act, config, trust=trust)
    digest = weights_digest(trained.weights)
    promise = certificate_sentence(trained.extra, digest)
    lines = (_remarks(trained, digest), promise, exported.remark)
    remarks = "\n".join(line for line in lines if line)
    files = {
        **exported.code(remarks),
        "main_test.c": check_program(
            exported.observations[:STORED_VECTORS],
            exported.expected[:STORED_VECTORS],
            remarks=remarks,
            function=exported.function,
            phases=exported.phases,
        ),
    }
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as scratch:
        built = Path(scratch) / "export"
        built.mkdir()
        stack = _check(Path(scratch), files, config, exported)
        contents = {name: text.encode() for name, text in files.items()}
        if config.target == "wasm":
            contents[WASM_FILE] = build_wasm(
                Path(scratch), exported.observations, exported.expected
            )
        if config.target == "onnx" and isinstance(policy, MlpPolicy):
            contents[ONNX_FILE] = onnx_model(policy, trained.weights)
        for name, content in contents.items():
            (built / name).write_bytes(content)
        manifest = {
            "schema": MANIFEST_SCHEMA,
            "rolecast": rolecast.__version__,
            "target": config.target,
            "weights": config.weights,
            "loss_of_return": exported.loss,
            "deployment": "one agent" if config.one_agent else "whole team",
            "policy": {
                "name": policy.name,
                "task": trained.task_id,
                "parameters": policy.space.size,
                "options": dict(policy.options),
                "weights_sha256": digest,
            },
            "certificate": promise,
            "step": asdict(step_cost(policy)),
            "check": {
                "compiler": config.compiler,
                "flags": list(COMPILER_FLAGS),
                "vectors_equal_bit_by_bit": len(exported.observations),
                "vectors_stored": STORED_VECTORS,
                "stack_bytes_at_most": stack,
            },
            "files": {name: _digest(content) for name, content in contents.items()},
            "bytes": {name: len(content) for name, content in contents.items()},
        }
        write_json(built / MANIFEST_FILE, manifest)
        built.rename(target)
    return manifest


def _require_exportable(policy: HomPolicy | MlpPolicy, agents: int, config: ExportConfig) -> None:
    """Refuse what the target, the numbers or the devices cannot hold, and missing programs.

    Raises:
        RequestError: as `export_policy` says.
    """
    if agents > MOST_AGENTS:
        expected = f"at most {MOST_AGENTS} agents, which one byte of a device can number"
        raise ConfigError("export of a team: its agents", agents, expected)
    if config.one_agent and isinstance(policy, HomPolicy) and config.weights != "float32":
        raise RequestError(
            f"policy 'hom' on one agent each has no {config.weights} weights; expected "
            "--weights float32, or --agents-on-one-device"
        )
    if config.target == "onnx" and isinstance(policy, HomPolicy):
        raise RequestError(
            "policy 'hom' decides roles and edges, which target onnx lacks; expected policy mlp or "
            "linear, or --target c99 or wasm"
        )
    for program in (config.compiler, *(WASM_TOOLS if config.target == "wasm" else ())):
        require_program(program)


def check_export(folder: str | Path) -> dict[str, Any]:
    """Return the manifest of an exported folder whose files are those that it was written for.

    Raises:
        RequestError: the manifest is missing or damaged, or a file is not what it says.
    """
    manifest = read_json(Path(folder) / MANIFEST_FILE)
    for name, digest in manifest.get("files", {}).items():
        path = Path(folder) / name
        if not path.is_file() or _digest(path.read_bytes()) != digest:
            raise RequestError(f"{path} is not the file that {MANIFEST_FILE} was written for")
    return manifest


@dataclass(frozen=True, kw_only=True)
class _Exported:
    """A policy in the numbers of a device."""

    code: Callable[[str], dict[str, str]]
    """From remarks to source files."""

    observations: NDArray[Any]
    """[V, n, do], on which it is checked."""

    expected: NDArray[Any]
    """[V, n, da], actions of the reference in the same numbers."""

    function: str
    """Name of the function that is checked."""

    phases: int | None = None
    """Exchanges of robots that compute alone; None: there is one device."""

    remark: str | None = None
    """For the head of each file."""

    loss: dict[str, float] | None = None
    """Return of float32 and of integers, where they differ."""


def _exported(
    trained: LoadedPolicy,
    policy: HomPolicy | MlpPolicy,
    act: Callable[[Float32], Float32],
    config: ExportConfig,
    *,
    trust: bool,
) -> _Exported:
    """Return a policy in float32, or in integers; RequestError where these lose too much."""
    task, bound = trained.task, float(policy.options["observation_clip"])
    team = not config.one_agent or isinstance(policy, HomPolicy)
    agents = task.agents if team else 1
    function = "rolecast_policy_step" if team else "rolecast_policy_act"
    phases = None
    if config.one_agent and isinstance(policy, HomPolicy):
        phases = len(message_phases(policy.model))
    rng = np.random.default_rng(policy.space.size)
    count = CHECKED_VECTORS if phases is None else TEAM_VECTORS
    drawn = drawn_observations(count, task.agents, task.observation_size, bound, rng)
    if config.weights == "float32":
        return _Exported(
            function=function,
            phases=phases,
            code=partial(_float_code, policy, trained.weights, config.one_agent),
            observations=drawn[:, :agents],
            expected=act(drawn)[:, :agents],
        )
    fixed = quantised(trained, WEIGHT_BITS[config.weights], trust=trust)
    loss = return_loss(trained, fixed, trust=trust)
    if loss.share > config.max_loss:
        raise RequestError(
            f"{config.weights} weights lose {loss.sentence}; expected at most "
            f"{config.max_loss:.2%}: take --weights int16 or float32, or a larger --max-loss"
        )
    whole = np.clip(np.rint(drawn.astype(np.float64) * 2.0**fixed.input_bits), -32768, 32767)
    observations = whole.astype(np.int64)
    return _Exported(
        function=function,
        code=partial(_fixed_code, fixed, config.one_agent),
        observations=observations[:, :agents],
        expected=fixed.act(observations)[:, :agents],
        remark=f"Integers ({config.weights}) lose {loss.sentence}.",
        loss={"share": loss.share, **asdict(loss)},
    )


def _float_code(
    policy: HomPolicy | MlpPolicy, weights: Float, one_agent: bool, remarks: str
) -> dict[str, str]:
    return code_files(policy, weights, remarks=remarks, one_agent=one_agent)


def _fixed_code(fixed: FixedPolicy, one_agent: bool, remarks: str) -> dict[str, str]:
    return fixed_code_files(fixed, remarks=remarks, one_agent=one_agent)


def _remarks(trained: LoadedPolicy, digest: str) -> str:
    policy, task = trained.policy, trained.task
    return (
        f"Policy {policy.name}, {policy.space.size} parameters, for task {task.id}.\n"
        f"Made by rolecast {rolecast.__version__}; sha256 of the weights: {digest[:16]}.\n"
        f"Compile with {' '.join(COMPILER_FLAGS)}: the actions are then those of the\n"
        "reference, bit by bit. Observations that are NaN are outside of this promise."
    )


def _check(
    scratch: Path, files: Mapping[str, str], config: ExportConfig, exported: _Exported
) -> int | None:
    """Compile the files, compare them with the reference; return their stack in bytes."""
    for name, text in files.items():
        (scratch / name).write_text(text, encoding="utf-8")
    expected = exported.expected
    if exported.phases is not None:
        whole = check_program(
            exported.observations, expected, remarks="all vectors", phases=exported.phases
        )
        (scratch / "main_test.c").write_text(whole, encoding="utf-8")
        _run_test(scratch, config.compiler)
        return None
    built = build_library(
        scratch,
        config.compiler,
        [*COMPILER_FLAGS, "-Os"],
        function=exported.function,
        outputs=int(expected[0].size),
        fixed=config.weights != "float32",
    )
    found = built.act(exported.observations).reshape(expected.shape)
    words = np.uint32 if config.weights == "float32" else np.int16
    same = found.view(words) == expected.astype(found.dtype).view(words)
    if not same.all():
        wrong = int((~same).sum())
        raise RunError(f"{wrong} of {found.size} actions of {config.compiler} are not equal")
    _run_test(scratch, config.compiler)
    return built.stack_bytes


def _run_test(scratch: Path, compiler: str) -> None:
    """Compile the test program beside the policy, and run it."""
    sources = "rolecast_policy.c", "main_test.c"
    run_program([require_program(compiler), *COMPILER_FLAGS, "-o", "main_test", *sources], scratch)
    run_program([str(scratch / "main_test")], scratch)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
