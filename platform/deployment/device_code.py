"""The C of an export: its files, the vectors of its check, and the check on this machine."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rolecast.core.errors import RequestError, RunError, unknown_name
from rolecast.core.types import Float, Float32
from rolecast.platform.deployment.boards import (
    BOARDS_BY_NAME,
    run_on_board,
    stream_digest,
    streamed_integers,
    streamed_observations,
)
from rolecast.platform.deployment.compiler import (
    agent_size,
    build_library,
    object_sizes,
    require_program,
    run_check,
)
from rolecast.platform.deployment.config import WEIGHT_BITS, ExportConfig
from rolecast.platform.deployment.manifest import BuiltExport
from rolecast.platform.deployment.onnx import ONNX_FILE, build_onnx
from rolecast.platform.deployment.quantise import quantised, return_loss
from rolecast.platform.deployment.wasm import WASM_FILE, WASM_TOOLS, build_wasm
from rolecast.policies.artefact import LoadedPolicy
from rolecast.policies.export.c99 import (
    COMPILER_FLAGS,
    check_program,
    code_files,
    fixed_code_files,
    message_phases,
)
from rolecast.policies.export.fixed import FixedPolicy
from rolecast.policies.export.onnx.graph import ONNX_OPSET
from rolecast.policies.export.reference import reference
from rolecast.policies.export.vectors import drawn_observations, vector_count
from rolecast.policies.hom.policy import HomPolicy
from rolecast.policies.mlp import MlpPolicy

STORED_VECTORS: Final = 100
CHECKED_VECTORS: Final = 10_000
"""Vectors checked; fewer for large teams of `hom`, by `vector_count`."""

TEAM_VECTORS: Final = 1000
"""Vectors checked where each is a step of robots that exchange messages."""

BOARD_VECTORS: Final = 1000
"""Most vectors checked on each core in emulation."""


@dataclass(frozen=True, kw_only=True)
class _DeviceCode:
    """A policy in C, in the numbers of a device, and the vectors that check it."""

    code: Callable[[str], dict[str, str]]
    """From remarks to source files."""

    act: Callable[[NDArray[Any]], NDArray[Any]]
    """The reference: from observations [V, n, do] of a whole team to its actions [V, n, da]."""

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


def build_code(
    trained: LoadedPolicy,
    policy: HomPolicy | MlpPolicy,
    config: ExportConfig,
    remarks: Sequence[str | None],
    scratch: Path,
    *,
    trust: bool,
) -> BuiltExport:
    """Return the files of targets `c99`, `wasm` and `onnx`, checked on this machine.

    Args:
        trained: the policy with its weights.
        policy: it, of a kind that has templates.
        config: what is exported.
        remarks: lines for the comment on top of each file.
        scratch: an empty folder.
        trust: play the policy's task for integer weights, though its id may run any code.
    Raises:
        RequestError: a program is missing, no core has that name, integers lose too much, or the
            task is not trusted.
        RunError: the compiled code differs from the reference.
    """
    for program in _programs(config):
        require_program(program)
    exported = _device_code(
        trained, policy, reference(policy, trained.weights), config, trust=trust
    )
    flags = (
        f"Compile with {' '.join(COMPILER_FLAGS)}: the actions are then those of the\n"
        "reference, bit by bit. Observations that are NaN are outside of this promise."
    )
    text = "\n".join(line for line in (remarks[0], flags, *remarks[1:], exported.remark) if line)
    sources = {
        **exported.code(text),
        "main_test.c": check_program(
            exported.observations[:STORED_VECTORS],
            exported.expected[:STORED_VECTORS],
            remarks=text,
            function=exported.function,
            phases=exported.phases,
        ),
    }
    costs = _check(scratch, sources, config, exported)
    files = {name: source.encode() for name, source in sources.items()}
    if config.target == "wasm":
        files[WASM_FILE] = build_wasm(scratch, exported.observations, exported.expected)
    checked: dict[str, Any] = {
        "compiler": config.compiler,
        "flags": list(COMPILER_FLAGS),
        "vectors_equal_bit_by_bit": len(exported.observations),
        "vectors_stored": STORED_VECTORS,
        **costs,
    }
    if config.cores:
        bound = float(policy.options["observation_clip"])
        checked["cores"] = _check_on_cores(scratch, config.cores, exported, bound)
    if config.target == "onnx":
        files[ONNX_FILE], equal = build_onnx(
            policy, trained.weights, exported.observations, exported.expected
        )
        checked["onnx"] = {"opset": ONNX_OPSET, "vectors_equal_bit_by_bit": equal}
    return BuiltExport(files=files, check=checked, loss=exported.loss)


def _programs(config: ExportConfig) -> Iterator[str]:
    """Yield the programs that must be installed; RequestError for a core that does not exist."""
    yield config.compiler
    if config.target == "wasm":
        yield from WASM_TOOLS
    for core in config.cores:
        if core not in BOARDS_BY_NAME:
            raise unknown_name("core", core, BOARDS_BY_NAME)
        yield from BOARDS_BY_NAME[core].programs


def _device_code(
    trained: LoadedPolicy,
    policy: HomPolicy | MlpPolicy,
    act: Callable[[Float32], Float32],
    config: ExportConfig,
    *,
    trust: bool,
) -> _DeviceCode:
    """Return a policy in float32, or in integers; RequestError where these lose too much."""
    task, bound = trained.task, float(policy.options["observation_clip"])
    team = not config.one_agent or isinstance(policy, HomPolicy)
    agents = task.agents if team else 1
    function = "rolecast_policy_step" if team else "rolecast_policy_act"
    phases = None
    if config.one_agent and isinstance(policy, HomPolicy):
        phases = len(message_phases(policy.model))
    rng = np.random.default_rng(policy.space.size)
    most = CHECKED_VECTORS if phases is None else TEAM_VECTORS
    count = vector_count(most, task.agents if isinstance(policy, HomPolicy) else 1)
    drawn = drawn_observations(count, task.agents, task.observation_size, bound, rng)
    if config.weights == "float32":
        return _DeviceCode(
            function=function,
            phases=phases,
            code=partial(_float_code, policy, trained.weights, config.one_agent),
            act=act,
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
    return _DeviceCode(
        function=function,
        code=partial(_fixed_code, fixed, config.one_agent),
        act=fixed.act,
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


def _check(
    scratch: Path, files: Mapping[str, str], config: ExportConfig, exported: _DeviceCode
) -> dict[str, int | None]:
    """Compile the files, compare them with the reference; return their bytes on this machine."""
    for name, text in files.items():
        (scratch / name).write_text(text, encoding="utf-8")
    expected, flags = exported.expected, [*COMPILER_FLAGS, "-Os"]
    code, memory = object_sizes(scratch, config.compiler, flags)
    costs: dict[str, int | None] = {"code_bytes": code, "static_memory_bytes": memory}
    costs["stack_bytes_at_most"] = None
    if exported.phases is not None:
        costs["agent_bytes"] = agent_size(scratch, config.compiler, flags)
        whole = check_program(
            exported.observations, expected, remarks="all vectors", phases=exported.phases
        )
        (scratch / "main_test.c").write_text(whole, encoding="utf-8")
        run_check(scratch, config.compiler, COMPILER_FLAGS)
        return costs
    # In a process of its own first: code that crashes must not take this one along.
    run_check(scratch, config.compiler, COMPILER_FLAGS)
    built = build_library(
        scratch,
        config.compiler,
        flags,
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
    return costs | {"stack_bytes_at_most": built.stack_bytes}


def _check_on_cores(
    scratch: Path, cores: Sequence[str], exported: _DeviceCode, bound: float
) -> dict[str, dict[str, int]]:
    """Run the files on cores in emulation; return what a step takes on each.

    Raises:
        RunError: an action differs from the reference, or a program failed.
    """
    fixed = exported.observations.dtype.kind == "i"
    checked, agents, size = exported.observations.shape
    vectors = min(BOARD_VECTORS, checked)
    streamed = (
        streamed_integers(vectors, agents, size)
        if fixed
        else streamed_observations(vectors, agents, size, bound)
    )
    expected, costs = stream_digest(exported.act(streamed)), {}
    for core in cores:
        found = run_on_board(
            scratch, BOARDS_BY_NAME[core], vectors=vectors, bound=bound, fixed=fixed
        )
        if found.digest != expected:
            raise RunError(f"actions on {core} in emulation are not equal")
        costs[core] = {
            "vectors_equal_bit_by_bit": vectors,
            "flash_bytes": found.flash,
            "static_memory_bytes": found.ram,
            "stack_bytes": found.stack,
            "instructions_of_a_step": round(found.instructions),
        }
    return costs
