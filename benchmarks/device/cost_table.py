"""What a policy costs on a device: flash, RAM, stack and instructions of a step, core by core.

Cores are emulated by QEMU, and instructions are counted there; cycles of a real core differ. Every
policy of ours is also compared with its reference, by a digest of the actions for streamed
observations: on the cores, as WebAssembly, and on this machine by two compilers at three levels.
"""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from rolecast.benchmarks.device.measured import (
    MEASURED_POLICIES,
    MeasuredPolicy,
    measured_names,
    reference_digest,
)
from rolecast.benchmarks.device.page import HOST_NAME, cost_page
from rolecast.benchmarks.device.returns import NUMBER_BITS, SHIPPED_POLICIES, run_returns
from rolecast.benchmarks.result_table import ResultTable, Row, place
from rolecast.platform.deployment.boards import (
    BOARDS_BY_NAME,
    run_as_wasm,
    run_on_board,
    stream_digest,
)
from rolecast.platform.deployment.compiler import build_library, compiler_version
from rolecast.policies.export.c99 import COMPILER_FLAGS

WASM_TARGET: Final = "wasm32"
"""No core, but a machine of which Node checks the bits, and counts nothing."""

HOST_TARGETS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        f"{HOST_NAME}, {compiler} {level}": (compiler, level)
        for compiler in ("gcc", "clang")
        for level in ("-O0", "-O2", "-Os")
    }
)
"""This machine, by compiler and level: the bits are checked, and nothing is counted."""

DEVICE_TARGETS: Final = (*BOARDS_BY_NAME, WASM_TARGET, *HOST_TARGETS)

_FULL_VECTORS: Final = 100_000
_QUICK_VECTORS: Final = 64


@dataclass(frozen=True, kw_only=True)
class DeviceRun:
    """One policy on one target."""

    policy: str
    """Name in `MEASURED_POLICIES`, or in `SHIPPED_POLICIES`."""

    core: str
    """Name in `DEVICE_TARGETS`, or in `NUMBER_BITS`."""

    vectors: int
    """Vectors of the digest; 0 for the C of others, whose bits are their own."""

    @property
    def key(self) -> str:
        """Tells it from all others."""
        return f"{self.policy} / {self.core} / {self.vectors}"

    @property
    def names(self) -> Mapping[str, str]:
        """Its names, for filters."""
        return {"policy": self.policy, "core": self.core}


def device_runs(*, quick: bool) -> list[DeviceRun]:
    """Return every policy on every target, those of others on cores, and episodes of shipped ones.

    Quick ones check fewer vectors.
    """
    vectors = _QUICK_VECTORS if quick else _FULL_VECTORS
    ours = {name: MEASURED_POLICIES[name].rival is None for name in measured_names()}
    costs = [
        DeviceRun(policy=name, core=core, vectors=vectors if ours[name] else 0)
        for name in ours
        for core in (DEVICE_TARGETS if ours[name] else BOARDS_BY_NAME)
    ]
    returns = [
        DeviceRun(policy=name, core=core, vectors=vectors)
        for name in SHIPPED_POLICIES
        for core in NUMBER_BITS
    ]
    return costs + returns


def run_device(run: DeviceRun) -> Row:
    """Measure one policy on one target."""
    if run.policy in SHIPPED_POLICIES:
        quick = run.vectors < _FULL_VECTORS
        found = run_returns(run.policy, run.core, vectors=run.vectors, quick=quick)
        return {"key": run.key, **run.names, **found}
    measured = MEASURED_POLICIES[run.policy]
    files, flags = measured.files(run.key)
    ours = measured.rival is None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, text in files.items():
            (folder / file).write_text(text)
        if run.core in BOARDS_BY_NAME:
            digest, costs = _on_board(folder, run, measured, flags)
        else:
            digest, costs = _elsewhere(folder, run, measured), {}
    return {
        "key": run.key,
        **run.names,
        "vectors": run.vectors,
        "parameters": measured.made()[0].space.size,
        "equal": digest == reference_digest(run.policy, run.vectors) if ours else None,
        **costs,
    }


def _on_board(
    folder: Path, run: DeviceRun, measured: MeasuredPolicy, flags: tuple[str, ...]
) -> tuple[int, dict[str, Any]]:
    """Return the digest on a core, and the costs there."""
    found = run_on_board(
        folder,
        BOARDS_BY_NAME[run.core],
        vectors=run.vectors,
        bound=measured.bound,
        fixed=measured.weight_bits is not None,
        further_flags=flags,
        libc=measured.rival is not None,
    )
    compiler = compiler_version(BOARDS_BY_NAME[run.core].programs[0])
    costs = {"compiler": compiler, "flash": found.flash, "ram": found.ram, "stack": found.stack}
    return found.digest, {**costs, "instructions": round(found.instructions)}


def _elsewhere(folder: Path, run: DeviceRun, measured: MeasuredPolicy) -> int:
    """Return the digest as WebAssembly, or on this machine."""
    fixed = measured.weight_bits is not None
    if run.core == WASM_TARGET:
        return run_as_wasm(folder, vectors=run.vectors, bound=measured.bound, fixed=fixed)
    compiler, level = HOST_TARGETS[run.core]
    agents, _, acted = measured.sizes
    built = build_library(
        folder,
        compiler,
        [*COMPILER_FLAGS, level],
        function="rolecast_policy_step",
        outputs=agents * acted,
        fixed=fixed,
    )
    return stream_digest(built.act(measured.streamed(run.vectors)))


def _row_order(row: Row) -> tuple[int, int, int]:
    policies, cores = [*MEASURED_POLICIES, *SHIPPED_POLICIES], [*DEVICE_TARGETS, *NUMBER_BITS]
    at = place(row["policy"], policies), place(row["core"], cores)
    return *at, row["vectors"]


DEVICE_TABLE: Final[ResultTable[DeviceRun]] = ResultTable(
    file="export.json",
    kinds=("policy", "core"),
    run=run_device,
    order=_row_order,
    line=lambda row: f"{row.get('flash', '-')} B of flash, bits equal: {row['equal']}",
    pages=lambda rows: {"export.md": cost_page(rows).encode()},
)
