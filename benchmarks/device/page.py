"""The page of the costs of exported policies: goals, costs by core, equal vectors by target."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from rolecast.benchmarks.device.rivals import RIVALS_BY_NAME
from rolecast.benchmarks.result_table import Row, markdown_table
from rolecast.policies.export.c99 import BOARD_FLAGS, COMPILER_FLAGS

_COST_NAMES: Final = ("flash", "ram", "stack", "instructions")

_MOST_BYTES: Final[Mapping[tuple[str, str], tuple[int, int]]] = MappingProxyType(
    {
        ("mlp 16x16", "Cortex-M33"): (2000, 128),
        ("hom", "Cortex-M33"): (3000, 256),
        ("hom, role net", "Cortex-M33"): (3000, 256),
        ("hom, int8", "Cortex-M0"): (3000, 256),
    }
)
"""Policy and core to the goal: most bytes of flash and of RAM."""

HOST_NAME: Final = "x86-64"
"""First word of the targets on this machine."""

_SMALLER_COSTS: Final = ("flash", "instructions")
"""Costs that are to be below those of others."""

_COST_REMARKS: Final = (
    "One step of the whole team, in float32 unless it says integers, and in brackets its "
    "parameters. `mlp 16x16` is of one agent that observes 4 numbers and acts by 1, the others "
    "of three agents with 16 and 2. Flash is code and constants, with software floats where "
    "the core has none. RAM is static working memory; the stack was seen in use. "
    "Instructions are counted in emulation (QEMU); cycles of a real core differ. GCC with "
    f"`{' '.join((*COMPILER_FLAGS, *BOARD_FLAGS))}` and what names the core.\n\n"
    "Rows of onnx2c and emlearn are the same nets with the same flags and the tanhf of newlib "
    "(of picolibc on RV32IMC), without the clipping of observations; their bits are their own. "
    "For an mlp, onnx2c is given Gemm and Tanh; for hom, the graph of `--target onnx`, whose sums "
    "are one by one. Roles have no such row: onnx2c lacks ArgMax, which chooses them. "
    "onnx2c is built from its sources, commit ea045cc of April 2026, and emlearn is 0.23. "
    "Both have a row where they are installed."
)


def cost_page(rows: Sequence[Row]) -> str:
    """Return the page; of rows that differ in their vectors alone, it shows that of the most."""
    shown: dict[tuple[str, str], Row] = {}
    for row in rows:  # in the order of the file, as policies and targets are declared
        key = row["policy"], row["core"]
        if key not in shown or row["vectors"] >= shown[key]["vectors"]:
            shown[key] = row
    measured = [row for row in shown.values() if "flash" in row]
    head = ("policy", "core", "flash, B", "RAM, B", "stack, B", "instructions")
    costs = [
        (_called(row), row["core"], *(f"{row[cost]:,}" for cost in _COST_NAMES)) for row in measured
    ]
    goals = [*_size_goals(shown), *_rival_goals(shown)]
    parts = [
        "# What a policy costs on a device\n\nWritten by `rolecast bench export`.",
        "## Goals",
        markdown_table(("goal", "measured", ""), goals),
        "## Costs",
        _COST_REMARKS,
        markdown_table(head, costs),
        "## Equal bits",
        "Vectors whose actions have the bits of the reference: of each eight, one has equal "
        "agents (ties), one the bounds, one subnormal numbers, one any finite numbers. Each target "
        "makes its vectors itself, and one digest of all actions is compared.",
        *_equality_tables([row for row in shown.values() if "episodes" not in row]),
        *_return_parts([row for row in shown.values() if "episodes" in row]),
    ]
    return "\n\n".join(parts) + "\n"


def _called(row: Row) -> str:
    return f"{row['policy']} ({row['parameters']})"


def _verdict(met: bool) -> str:
    return "met" if met else "missed"


def _size_goals(shown: Mapping[tuple[str, str], Row]) -> Iterator[tuple[str, str, str]]:
    """Yield each goal of bytes, what was measured, and whether it is met."""
    for (policy, core), (flash, ram) in _MOST_BYTES.items():
        row = shown.get((policy, core))
        if row is not None and "flash" in row:
            yield (
                f"{policy} on {core}: at most {flash:,} B of flash and {ram} B of RAM",
                f"{row['flash']:,} and {row['ram']}",
                _verdict(row["flash"] <= flash and row["ram"] <= ram),
            )


def _rival_goals(shown: Mapping[tuple[str, str], Row]) -> Iterator[tuple[str, str, str]]:
    """Yield for each row of others on how many cores ours is smaller and faster."""
    for rival in dict.fromkeys(policy for policy, _ in shown):
        policy, _, writer = rival.rpartition(", ")
        if writer not in RIVALS_BY_NAME:
            continue
        pairs = [
            (shown[policy, core], row)
            for (name, core), row in shown.items()
            if name == rival and (policy, core) in shown
        ]
        if not pairs:
            continue
        less = [sum(ours[cost] < row[cost] for ours, row in pairs) for cost in _SMALLER_COSTS]
        yield (
            f"{policy}: less flash and fewer instructions than by {writer}",
            f"on {less[0]} and {less[1]} of {len(pairs)} cores",
            _verdict(min(less) == len(pairs)),
        )


def _equality_tables(rows: Sequence[Row]) -> Iterator[str]:
    """Yield a table of cores, and one of this machine: policy by target."""
    for of_host in (False, True):
        found = {
            (_called(row), row["core"]): _equal_text(row)
            for row in rows
            if row["equal"] is not None and row["core"].startswith(HOST_NAME) == of_host
        }
        policies, targets = (
            dict.fromkeys(at[0] for at in found),
            dict.fromkeys(at[1] for at in found),
        )
        lines = [(name, *(found.get((name, at), "-") for at in targets)) for name in policies]
        if found:
            yield markdown_table(("policy", *targets), lines)


def _return_parts(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the table of shipped policies, whose C acts in episodes."""
    if not rows:
        return
    equal = ("recorded vectors with equal bits", "episodes of equal return")
    head = ("policy", "numbers", *equal, "mean return of float32", "of the C", "loss")
    yield "## C in the loop"
    yield (
        "Policies that the repository ships, in C by gcc on this machine. Bits are compared on "
        "observations that were recorded in episodes. Then the C acts in held-out episodes: their "
        "returns equal those of the reference in the same numbers to the last digit. "
        "Integers lose return beside float32; below 0 is a gain."
    )
    lines = []
    for row in rows:
        plain, device = row["float32_return"], row["device_return"]
        episodes = f"{row['equal_returns']:,} of {row['episodes']:,}"
        cells = (_equal_text(row), episodes, f"{plain:.2f}", f"{device:.2f}")
        loss = f"{(plain - device) / abs(plain):.2%}"
        lines.append((_called(row), row["core"].rpartition(", ")[2], *cells, loss))
    yield markdown_table(head, lines)


def _equal_text(row: Row) -> str:
    return f"all {row['vectors']:,}" if row["equal"] else f"NOT all {row['vectors']:,}"
