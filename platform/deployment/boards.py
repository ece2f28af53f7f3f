"""Microcontrollers in emulation: a policy's digest, size, stack and instructions on each.

A device makes its observations itself, by an integer hash, and returns one digest of all actions.
So 100,000 vectors need no memory. QEMU counts each instruction as one (`-icount shift=0`); cycles
of a real core differ. A second run, which does not count and is faster, computes the digest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rolecast.core.errors import RunError
from rolecast.core.types import Float32
from rolecast.platform.deployment.compiler import binary_sizes, require_program, run_program
from rolecast.platform.deployment.wasm import WASM_FILE, compile_wasm
from rolecast.policies.export.c99 import BOARD_FLAGS, COMPILER_FLAGS, c_templates

SPIN_COUNT: Final = 50_000
_LIBC_LIBRARIES: Final = ("-Wl,--start-group", "-lm", "-lc", "-lgcc", "-Wl,--end-group")
TIMED_STEPS: Final = 20
_NODE_SCRIPT: Final = (
    f"WebAssembly.instantiate(require('fs').readFileSync('{WASM_FILE}')).then(made => "
    "console.log((made.instance.exports.digest(COUNT) >>>0).toString(16)))"
)

_BOARD_TEMPLATES: Final = c_templates("rolecast.platform.deployment")


@dataclass(frozen=True, kw_only=True)
class Board:
    """A core, and the machine of QEMU that has it."""

    compiler: str
    """Prefix of the tools: arm-none-eabi or riscv64-unknown-elf."""

    core_flags: tuple[str, ...]
    """Flags that name the core."""

    machine: tuple[str, ...]
    """Command of QEMU, up to the image."""

    code: tuple[int, int]
    """Address and bytes of the memory of code."""

    data: tuple[int, int]
    """Address and bytes of the memory of data; its end is the top of the stack."""

    library_flags: tuple[str, ...] = ()
    """Flags that name the C library, for code that calls one."""

    hardware_floats: bool = False
    """Whether the core has a floating-point unit."""

    @property
    def programs(self) -> tuple[str, ...]:
        """Programs that must be installed."""
        return f"{self.compiler}-gcc", self.machine[0]


def _arm(machine: str, core: Sequence[str], code: tuple[int, int], data: tuple[int, int]) -> Board:
    return Board(
        compiler="arm-none-eabi",
        core_flags=("-mthumb", "-masm-syntax-unified", *core),
        machine=("qemu-system-arm", "-M", machine),
        code=code,
        data=data,
        hardware_floats="-mfloat-abi=hard" in core,
    )


_MPS2_MEMORY: Final = ((0, 2**22), (0x20000000, 2**16))

BOARDS_BY_NAME: Final[Mapping[str, Board]] = MappingProxyType(
    {
        "Cortex-M0": _arm("microbit", ["-mcpu=cortex-m0"], (0, 2**18), (0x20000000, 2**14)),
        "Cortex-M3": _arm("mps2-an385", ["-mcpu=cortex-m3"], *_MPS2_MEMORY),
        "Cortex-M4F": _arm(
            "mps2-an386",
            ["-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"],
            *_MPS2_MEMORY,
        ),
        "Cortex-M33": _arm(
            "mps2-an505",
            ["-mcpu=cortex-m33", "-mfpu=fpv5-sp-d16", "-mfloat-abi=hard"],
            (0x10000000, 2**22),
            (0x38000000, 2**16),
        ),
        "RV32IMC": Board(
            compiler="riscv64-unknown-elf",
            core_flags=("-march=rv32imc", "-mabi=ilp32"),
            library_flags=("--specs=picolibc.specs",),
            machine=("qemu-system-riscv32", "-M", "virt", "-bios", "none"),
            code=(0x80000000, 2**20),
            data=(0x80100000, 2**16),
        ),
    }
)
"""Core to its board."""


@dataclass(frozen=True, kw_only=True)
class BoardRun:
    """What a policy is on a core."""

    digest: int
    """Of the actions for the streamed observations, as `stream_digest`."""

    instructions: float
    """Instructions of one step."""

    flash: int
    """Bytes of code and constants, library functions of the compiler included."""

    ram: int
    """Bytes of static working memory."""

    stack: int
    """Bytes of stack that a step was seen to use."""


def run_on_board(
    folder: Path,
    board: Board,
    *,
    vectors: int,
    bound: float,
    fixed: bool = False,
    further_flags: Sequence[str] = (),
    libc: bool = False,
) -> BoardRun:
    """Build and run the policy of a folder on a core in emulation.

    Args:
        folder: with `rolecast_policy.c` and `.h`; the program is written beside them.
        board: the core.
        vectors: streamed observations of the digest.
        bound: to which the policy clips.
        fixed: whether observations and actions are integers of 16 bits.
        further_flags: of the compiler.
        libc: whether the policy calls the C library.
    Raises:
        RequestError: a program is not installed; names its package.
        RunError: a program failed.
    """
    gcc, _ = (require_program(name) for name in board.programs)
    flags = [*COMPILER_FLAGS, *board.core_flags, *BOARD_FLAGS, *further_flags]
    flags += board.library_flags if libc else ()
    libraries = _LIBC_LIBRARIES if libc else ("-lgcc",)
    run_program([gcc, *flags, "-c", "rolecast_policy.c"], folder)
    build = [gcc, "-std=gnu99", *flags[1:]]
    _write_stream(folder, bound, fixed=fixed)
    digest, *_ = _printed(folder, board, build, libraries, vectors=vectors)
    for steps in (TIMED_STEPS, 1):
        counted = _printed(folder, board, build, libraries, vectors=0, counted_steps=steps)
        _, spun, stepped, began_anew, stack = counted
        if not began_anew:
            break
    else:
        raise RunError("a step takes more instructions than the counter of the core holds")
    size = f"{board.compiler}-size"
    _, ram = binary_sizes(folder, size, "rolecast_policy.o")
    return BoardRun(
        digest=digest,
        instructions=stepped * 2 * SPIN_COUNT / spun / steps,
        flash=_flash(folder, size, [gcc, *flags], libraries),
        ram=ram,
        stack=stack,
    )


def _write_stream(folder: Path, bound: float, *, fixed: bool) -> None:
    """Write the C that makes observations and digests actions, `stream.c`."""
    text = _BOARD_TEMPLATES.get_template("stream.c.jinja").render(
        number="short" if fixed else "float", bound=_bits(bound)
    )
    (folder / "stream.c").write_text(text)


def _printed(
    folder: Path,
    board: Board,
    build: Sequence[str],
    libraries: Sequence[str],
    *,
    vectors: int,
    counted_steps: int | None = None,
) -> list[int]:
    """Return what a board prints.

    Args:
        folder: with the policy's object and the stream.
        board: that is emulated.
        build: compiler and its flags.
        libraries: to link.
        vectors: of the digest.
        counted_steps: whose instructions are counted, which takes the emulator longer; None: none.
    Returns:
        Digest, ticks of the loop and of the steps, whether the counter began anew, and stack.
    """
    arm = board.compiler.startswith("arm")
    values = {
        "family": "arm" if arm else "riscv",
        "fpu": board.hardware_floats,
        "count": vectors,
        "spins": SPIN_COUNT,
        "steps": counted_steps or 1,
        "code_at": hex(board.code[0]),
        "code_bytes": board.code[1],
        "data_at": hex(board.data[0]),
        "data_bytes": board.data[1],
        "entry": "start" if arm else "reset",
    }
    for name in ("board.c", "board.ld"):
        text = _BOARD_TEMPLATES.get_template(f"{name}.jinja").render(values)
        (folder / name).write_text(text)
    linked = ["-nostdlib", "-Wl,--gc-sections", "-T", "board.ld", "-o", "board.elf"]
    objects = ["board.c", "stream.c", "rolecast_policy.o"]
    run_program([*build, *linked, *objects, *libraries], folder)
    emulator = [require_program(board.machine[0]), *board.machine[1:]]
    emulator += ["-display", "none", "-monitor", "none", "-chardev", "stdio,id=out"]
    emulator += [] if counted_steps is None else ["-icount", "shift=0"]
    if arm:
        emulator += ["-semihosting-config", "enable=on,target=native,chardev=out"]
    emulator += ["-serial", "none" if arm else "chardev:out"]
    printed = run_program([*emulator, "-kernel", "board.elf"], folder)
    return [int(line, 16) for line in printed.split()]


def _flash(
    folder: Path, size: str, compile_command: Sequence[str], libraries: Sequence[str]
) -> int:
    """Return flash of the policy, with what it takes from the compiler's library."""
    declared = "void rolecast_policy_step(const float *o, float *a);\n"
    (folder / "alone.c").write_text(
        f"{declared}void start(void);\n"
        "void start(void) { rolecast_policy_step((const float *)64, (float *)128); }\n"
    )
    (folder / "empty.c").write_text(
        declared + "void rolecast_policy_step(const float *o, float *a) { (void)o; (void)a; }\n"
    )
    run_program([*compile_command, "-c", "alone.c", "empty.c"], folder)
    found = []
    for part in ("rolecast_policy.o", "empty.o"):
        link = [*compile_command, "-nostdlib", "-Wl,--gc-sections"]
        link += ["-Wl,-e,start", "-o", "alone.elf", "alone.o", part, *libraries]
        run_program(link, folder)
        found.append(binary_sizes(folder, size, "alone.elf")[0])
    return found[0] - found[1]


def run_as_wasm(folder: Path, *, vectors: int, bound: float, fixed: bool = False) -> int:
    """Return the digest of the policy of a folder as WebAssembly, run by Node.

    Args:
        folder: with `rolecast_policy.c` and `.h`; the program is written beside them.
        vectors: streamed observations of the digest.
        bound: to which the policy clips.
        fixed: whether observations and actions are integers of 16 bits.
    Raises:
        RequestError: a program is not installed; names its package.
        RunError: a program failed.
    """
    node = require_program("node")
    _write_stream(folder, bound, fixed=fixed)
    compile_wasm(folder, "stream.c", "-Os", "-Wl,--export=digest")
    return int(run_program([node, "-e", _NODE_SCRIPT.replace("COUNT", str(vectors))], folder), 16)


def streamed_observations(count: int, agents: int, size: int, bound: float) -> Float32:
    """Return the observations [count, n, do] that a device makes itself.

    Of each eight vectors: four of magnitude 2^-7 to 2, one with equal agents, one of zeros and
    bounds, one of subnormal numbers, one of any finite numbers.
    """
    word, kind = _words(count, agents, size)
    exponent, rest = word >> 23 & 0xFF, word & 0x807FFFFF
    plain = rest | (120 + (exponent & 7)) << 23
    ends = (word & 0x80000000) | np.where(word & 1, np.uint32(int(_bits(bound)[:-1], 16)), 0)
    finite = rest | np.minimum(exponent, 254) << 23
    bits = np.select([kind < 5, kind == 5, kind == 6], [plain, ends, rest], finite)
    return bits.astype(np.uint32).view(np.float32)


def streamed_integers(count: int, agents: int, size: int) -> NDArray[np.int64]:
    """Return the observations [count, n, do] that a device without floats makes itself."""
    word, kind = _words(count, agents, size)
    wide = (word & 0xFFFF).astype(np.int64) - 32768
    ends, small = np.where(wide < 0, -32767, 32767), np.trunc(wide / 2048)
    drawn = np.select([kind < 5, kind == 5, kind == 6], [np.trunc(wide / 8), ends, small], wide)
    return drawn.astype(np.int64)


def _words(count: int, agents: int, size: int) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return a random word for each number [count, n, do], and the kind [count, 1, 1] of vectors.

    All agents have the same words in vectors of kind 4.
    """
    vector, agent, entry = np.ogrid[:count, :agents, :size]
    kind = vector % 8
    of = np.where(kind == 4, 0, agent)
    return _mixed(((vector * agents + of) * size + entry + 1).astype(np.uint32)), kind


def stream_digest(actions: Float32 | NDArray[np.int64]) -> int:
    """Return the digest of actions [V, ...], number by number: float32, or integers of 16 bits."""
    whole = actions.dtype.kind == "i"
    words = (
        actions.astype(np.int64) & 0xFFFF
        if whole
        else np.ascontiguousarray(actions).view(np.uint32)
    )
    total = 2166136261
    for word in words.ravel().tolist():
        total = (total ^ word) * 16777619 & 0xFFFFFFFF
    return total


def _mixed(x: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return a hash of each word."""
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        x = (np.bitwise_xor(x, np.right_shift(x, shift)) * np.uint32(factor)).astype(np.uint32)
    return np.bitwise_xor(x, np.right_shift(x, 16)).astype(np.uint32)


def _bits(value: float) -> str:
    """Return the bits of a float32 as a literal of C."""
    return f"{np.float32(value).view(np.uint32):#010x}u"
