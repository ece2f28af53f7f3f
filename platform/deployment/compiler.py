"""Compiles exported C on this machine and calls it, by ctypes."""

import ctypes
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rolecast.core.errors import RequestError, RunError

DEBIAN_PACKAGES: Final = {
    "arm-none-eabi-gcc": "gcc-arm-none-eabi",
    "riscv64-unknown-elf-gcc": "gcc-riscv64-unknown-elf",
    "qemu-system-arm": "qemu-system-arm",
    "qemu-system-riscv32": "qemu-system-misc",
    "clang": "clang",
    "wasm-ld": "lld",
    "node": "nodejs",
    "size": "binutils",
}
"""Program to the package of Debian that has it; all other compilers: gcc."""

NO_UNWIND_TABLES: Final = "-fno-asynchronous-unwind-tables"
"""Flag by which an object has no tables for debuggers, which `size` counts as code."""

AGENT_MEMORY_SOURCE: Final = """\
#include "rolecast_policy.h"
char agent_bytes[sizeof(rolecast_agent)];
"""
"""A program's static memory, which is that of one agent."""

_STACK_FILE: Final = "*.su"


def has_program(name: str) -> bool:
    """Tell whether a program is installed."""
    return shutil.which(name) is not None


def require_program(name: str) -> str:
    """Return the absolute path of a program, for it is run in another folder.

    Raises:
        RequestError: it is not installed; names the package. Or a path names no program.
    """
    path = shutil.which(name)
    if path is None and Path(name).name != name:
        raise RequestError(f"{name} is no file that can be executed; expected a program")
    if path is None:
        package = DEBIAN_PACKAGES.get(name, "gcc")
        raise RequestError(
            f"program {name!r} is not installed; expected it on PATH (Debian: apt-get install "
            f"{package})"
        )
    return str(Path(path).absolute())


def compiler_version(name: str) -> str:
    """Return the first line of what a compiler says of its version.

    Raises:
        RequestError: it is not installed; names its package.
        RunError: it failed.
    """
    return run_program([require_program(name), "--version"], Path()).splitlines()[0]


def run_program(
    command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None
) -> str:
    """Run a program in a folder, and in an environment, and return what it printed.

    Raises:
        RequestError: the system cannot execute it.
        RunError: it failed; has its first error, or its last line.
    """
    try:
        ended = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise RequestError(
            f"{command[0]} cannot be executed ({error.strerror}); expected a program"
        ) from error
    if ended.returncode:
        words = (ended.stderr or ended.stdout).strip().splitlines()
        errors = [line for line in words if "error:" in line] or words[-1:]
        why = errors[0] if errors else "it printed nothing"
        raise RunError(f"{command[0]} ended with {ended.returncode} in {folder}: {why}")
    return ended.stdout


@dataclass(frozen=True, kw_only=True)
class HostBuild:
    """A policy's C as a library of this machine."""

    act: Callable[[NDArray[Any]], NDArray[Any]]
    """From observations [V, ...] to actions [V, outputs], by the compiled function."""

    stack_bytes: int | None
    """Sum of the stack frames of all functions: more than a call can use; None if not told."""


def object_sizes(folder: Path, compiler: str, flags: Sequence[str]) -> tuple[int, int]:
    """Return bytes of code and constants, and of static memory, of `rolecast_policy.c`.

    Args:
        folder: holds the files; the object is written beside them.
        compiler: name or path of a C compiler, for whose machine they are.
        flags: of the compiler.
    Raises:
        RequestError: there is no such compiler, or no `size`.
        RunError: it failed.
    """
    command = [require_program(compiler), *flags, NO_UNWIND_TABLES, "-c", "rolecast_policy.c"]
    run_program(command, folder)
    return binary_sizes(folder, require_program("size"), "rolecast_policy.o")


def agent_size(folder: Path, compiler: str, flags: Sequence[str]) -> int:
    """Return the bytes of one `rolecast_agent` of `rolecast_policy.h`, which a robot must hold.

    Args:
        folder: holds the header; a source and its object are written beside it.
        compiler: name or path of a C compiler, for whose machine they are.
        flags: of the compiler.
    Raises:
        RequestError: there is no such compiler, or no `size`.
        RunError: it failed.
    """
    (folder / "agent.c").write_text(AGENT_MEMORY_SOURCE, encoding="utf-8")
    run_program([require_program(compiler), *flags, "-c", "agent.c"], folder)
    return binary_sizes(folder, require_program("size"), "agent.o")[1]


def binary_sizes(folder: Path, program: str, file: str) -> tuple[int, int]:
    """Return bytes of code and constants, and of static memory, of an object or a program.

    Args:
        folder: holds the file.
        program: `size` of the file's machine.
        file: its name.
    Raises:
        RunError: it failed.
    """
    named, sizes = run_program([program, file], folder).splitlines()[:2]
    found = dict(zip(named.split(), sizes.split(), strict=False))
    if "__TEXT" in found:  # of macOS: segments, constants among the text
        return int(found["__TEXT"]), int(found["__DATA"])
    text, data, bss = (int(found[name]) for name in ("text", "data", "bss"))
    return text + data, data + bss


def run_check(folder: Path, compiler: str, flags: Sequence[str]) -> None:
    """Compile `rolecast_policy.c` with `main_test.c`, which compares its actions, and run that.

    Args:
        folder: holds the files; the program is written beside them.
        compiler: name or path of a C compiler.
        flags: of the compiler.
    Raises:
        RequestError: there is no such compiler.
        RunError: it failed, or an action differs.
    """
    command = [require_program(compiler), *flags, "-o", "main_test"]
    run_program([*command, "rolecast_policy.c", "main_test.c"], folder)
    try:
        run_program([str(folder / "main_test")], folder)
    except RunError as error:
        raise RunError(
            f"actions of {compiler} are not those of the reference, by main_test.c: {error}"
        ) from error


def build_library(
    folder: Path,
    compiler: str,
    flags: Sequence[str],
    *,
    function: str,
    outputs: int,
    fixed: bool = False,
) -> HostBuild:
    """Compile `rolecast_policy.c` in a folder, and load it.

    Args:
        folder: holds the files; the library is written beside them.
        compiler: name or path of a C compiler.
        flags: of the compiler.
        function: that is called for each vector.
        outputs: numbers that it writes.
        fixed: whether its numbers are integers of 16 bits, not float32.
    Raises:
        RequestError: there is no such compiler.
        RunError: it failed.
    """
    path = require_program(compiler)
    library = folder / f"{function}.so"
    command = [path, *flags, "-shared", "-fPIC", "-fstack-usage", "-o", str(library)]
    run_program([*command, "rolecast_policy.c"], folder)
    frames = [
        int(line.split("\t")[1])
        for file in folder.glob(_STACK_FILE)
        for line in file.read_text().splitlines()
    ]
    called = getattr(ctypes.CDLL(str(library)), function)
    number = np.int16 if fixed else np.float32
    pointer = ctypes.POINTER(ctypes.c_int16 if fixed else ctypes.c_float)
    called.argtypes, called.restype = [pointer, pointer], None

    def act(observations: NDArray[Any]) -> NDArray[Any]:
        given = np.ascontiguousarray(observations, dtype=number).reshape(len(observations), -1)
        found = np.empty((len(given), outputs), dtype=number)
        for row, result in zip(given, found, strict=True):
            called(row.ctypes.data_as(pointer), result.ctypes.data_as(pointer))
        return found

    return HostBuild(act=act, stack_bytes=sum(frames) if frames else None)
