"""What a policy costs on a device: flash, RAM, stack and instructions of a step, core by core.

Cores are emulated by QEMU, and instructions are counted there; cycles of a real core differ. Every
policy is also compared with its reference, by a digest of the actions for streamed observations.
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from rolecast.benchmarks.device.rivals import emlearn_code, has_emlearn
from rolecast.benchmarks.result_table import ResultTable, Row, markdown_table, place
from rolecast.envs.spec import TaskSpec
from rolecast.platform.deployment.boards import (
    BOARDS_BY_NAME,
    run_as_wasm,
    run_on_board,
    stream_digest,
    streamed_integers,
    streamed_observations,
)
from rolecast.policies.export.c99 import COMPILER_FLAGS, code_files, fixed_code_files
from rolecast.policies.export.fixed import fixed_policies
from rolecast.policies.export.reference import reference
from rolecast.policies.hom.policy import HomPolicy
from rolecast.policies.mlp import MlpPolicy
from rolecast.policies.registry import make_policy

MEASURED_POLICIES: Final[Mapping[str, tuple[str, tuple[int, int, int], Mapping[str, Any]]]] = (
    MappingProxyType(
        {
            "mlp 16x16": ("mlp", (1, 4, 1), {"hidden": [16, 16]}),
            "mlp 16x16, emlearn": ("mlp", (1, 4, 1), {"hidden": [16, 16]}),
            "mlp 14x14": ("mlp", (3, 16, 2), {}),
            "hom": ("hom", (3, 16, 2), {"role_assignment": False}),
            "hom, int8": ("hom", (3, 16, 2), {"role_assignment": False}),
            "hom, role net": ("hom", (3, 16, 2), {"role_assignment": True}),
        }
    )
)
"""Row of the table to a policy: its name, (n, do, da), and its options."""

RIVAL_ROW: Final = "mlp 16x16, emlearn"

RIVAL_CORES: Final = ("Cortex-M0", "Cortex-M3", "Cortex-M4F", "Cortex-M33")
"""Cores for which Debian has newlib, whose tanh emlearn needs."""

WASM_CORE: Final = "wasm32"
"""No core, but a machine of which Node checks the bits, and counts nothing."""

_FULL_VECTORS: Final = 2000
_QUICK_VECTORS: Final = 64
_COST_NAMES: Final = ("flash", "ram", "stack", "instructions")


@dataclass(frozen=True, kw_only=True)
class DeviceRun:
    """One policy on one core."""

    policy: str
    """Name in `MEASURED_POLICIES`."""

    core: str
    """Name of a board."""

    vectors: int
    """Vectors of the digest."""

    @property
    def key(self) -> str:
        """Tells it from all others."""
        return f"{self.policy} / {self.core} / {self.vectors}"

    @property
    def names(self) -> Mapping[str, str]:
        """Its names, for filters."""
        return {"policy": self.policy, "core": self.core}


def device_runs(*, quick: bool) -> list[DeviceRun]:
    """Return every policy on every core, and emlearn's where that is installed.

    Quick ones check fewer vectors.
    """
    vectors = _QUICK_VECTORS if quick else _FULL_VECTORS
    ours = [
        DeviceRun(policy=policy, core=core, vectors=vectors)
        for policy in MEASURED_POLICIES
        for core in (*BOARDS_BY_NAME, WASM_CORE)
        if policy != RIVAL_ROW
    ]
    rivals = [DeviceRun(policy=RIVAL_ROW, core=core, vectors=vectors) for core in RIVAL_CORES]
    return ours + (rivals if has_emlearn() else [])


def run_device(run: DeviceRun) -> Row:
    """Measure one policy on one core; its weights are drawn in the cube."""
    name, (agents, observed, acted), options = MEASURED_POLICIES[run.policy]
    spec = TaskSpec(
        id="device", agents=agents, observation_size=observed, action_size=acted, horizon=1
    )
    policy = make_policy(name, spec, **options)
    if not isinstance(policy, HomPolicy | MlpPolicy):
        raise TypeError(f"{run.policy} has no templates")
    weights = policy.space.weights(np.random.default_rng(0).random(policy.space.dimension))
    bound = float(policy.options["observation_clip"])
    fixed = run.policy.endswith("int8")
    rival = None
    if run.policy == RIVAL_ROW and isinstance(policy, MlpPolicy):
        rival = emlearn_code(policy, weights)
    if fixed:
        whole = fixed_policies(policy, weights, 8)[0]
        files = fixed_code_files(whole, remarks=run.key)
        expected = stream_digest(whole.act(streamed_integers(run.vectors, agents, observed)))
    else:
        files = code_files(policy, weights, remarks=run.key)
        given = streamed_observations(run.vectors, agents, observed, bound)
        expected = stream_digest(reference(policy, weights)(given))
    with tempfile.TemporaryDirectory() as folder:
        for file, text in files.items():
            (Path(folder) / file).write_text(text)
        costs: dict[str, int] = {}
        if run.core == WASM_CORE:
            digest = run_as_wasm(Path(folder), vectors=run.vectors, bound=bound, fixed=fixed)
        else:
            board = BOARDS_BY_NAME[run.core]
            if rival is not None:
                (Path(folder) / "rolecast_policy.c").write_text(rival.source)
            found = run_on_board(
                Path(folder),
                board,
                vectors=run.vectors,
                bound=bound,
                fixed=fixed,
                further_flags=() if rival is None else rival.flags,
                libraries=("-lgcc",) if rival is None else rival.libraries,
            )
            digest = found.digest
            costs = {"flash": found.flash, "ram": found.ram, "stack": found.stack}
            costs["instructions"] = round(found.instructions)
    return {
        "key": run.key,
        **run.names,
        "vectors": run.vectors,
        "parameters": policy.space.size,
        "equal": None if rival is not None else digest == expected,
        **costs,
    }


def markdown(rows: Sequence[Row]) -> str:
    """Return the page; of rows that differ in their vectors alone, it shows that of the most."""
    shown = {
        (row["policy"], row["core"]): row for row in sorted(rows, key=lambda row: row["vectors"])
    }
    head = ("policy", "core", "flash, B", "RAM, B", "stack, B", "instructions", "bits equal")
    lines = [
        (
            f"{row['policy']} ({row['parameters']})",
            row["core"],
            *(f"{row[cost]:,}" if cost in row else "-" for cost in _COST_NAMES),
            "-" if row["equal"] is None else f"all {row['vectors']:,}" if row["equal"] else "NO",
        )
        for row in sorted(shown.values(), key=_row_order)
    ]
    return (
        "# What a policy costs on a device\n\n"
        "One step of the whole team, in float32 unless it says int8, and in brackets its "
        "parameters. `mlp 16x16` is of one agent that observes 4 numbers and acts by 1, the others "
        "of three agents with 16 and 2. Flash is code and constants, with software floats where "
        "the core has none. RAM is static working memory; the stack was seen in use. "
        "Instructions are counted in emulation (QEMU); "
        f"cycles of a real core differ. GCC with `-Os {' '.join(COMPILER_FLAGS)}`. Vectors have "
        "ties, bounds and subnormal numbers. The row of emlearn 0.23 is the same net by its "
        "library, the same flags and newlib's tanh, without clipping; its bits are its own. "
        "Written by `rolecast bench export`.\n\n"
        f"{markdown_table(head, lines)}\n"
    )


def _row_order(row: Row) -> tuple[int, int, int]:
    policies, cores = list(MEASURED_POLICIES), [*BOARDS_BY_NAME, WASM_CORE]
    return place(row["policy"], policies), place(row["core"], cores), row["vectors"]


DEVICE_TABLE: Final[ResultTable[DeviceRun]] = ResultTable(
    file="export.json",
    kinds=("policy", "core"),
    run=run_device,
    order=_row_order,
    line=lambda row: f"{row.get('flash', '-')} B of flash, bits equal: {row['equal']}",
    pages=lambda rows: {"export.md": markdown(rows).encode()},
)
