"""Target `wasm`: the same C as WebAssembly, checked by Node bit by bit."""

from pathlib import Path
from typing import Final

import numpy as np

from rolecast.core.errors import RunError
from rolecast.core.types import Float32
from rolecast.platform.deployment.compiler import require_program, run_program
from rolecast.policies.export.c99 import COMPILER_FLAGS

WASM_FILE: Final = "rolecast_policy.wasm"

WASM_COMPILERS: Final = ("clang", "wasm-ld")
"""Programs that build WebAssembly."""

WASM_TOOLS: Final = (*WASM_COMPILERS, "node")
"""Programs that build and run it."""

_FACE_SOURCE: Final = """\
#include "rolecast_policy.h"

static float observations[ROLECAST_AGENTS * ROLECAST_OBSERVATION_SIZE];
static float actions[ROLECAST_AGENTS * ROLECAST_ACTION_SIZE];

__attribute__((export_name("observations"))) float *rolecast_observations(void)
{
    return observations;
}

__attribute__((export_name("actions"))) float *rolecast_actions(void)
{
    return actions;
}

__attribute__((export_name("step"))) void rolecast_step(void)
{
    rolecast_policy_step(observations, actions);
}
"""

_NODE_CHECK: Final = """\
const fs = require('fs');
const given = new Float32Array(new Uint8Array(fs.readFileSync('observations.bin')).buffer);
WebAssembly.instantiate(fs.readFileSync('rolecast_policy.wasm')).then(({instance}) => {
    const {memory, observations, actions, step} = instance.exports;
    const input = new Float32Array(memory.buffer, observations(), INPUTS);
    const output = new Float32Array(memory.buffer, actions(), OUTPUTS);
    const found = new Float32Array(given.length / INPUTS * OUTPUTS);
    for (let v = 0; v * INPUTS < given.length; v++) {
        input.set(given.subarray(v * INPUTS, (v + 1) * INPUTS));
        step();
        found.set(output, v * OUTPUTS);
    }
    fs.writeFileSync('actions.bin', Buffer.from(found.buffer));
});
"""


def build_wasm(folder: Path, observations: Float32, expected: Float32) -> bytes:
    """Return the policy of a folder as WebAssembly, whose actions are those expected.

    It exports `memory`, `observations()` and `actions()`, addresses of float32 numbers, and
    `step()`.

    Args:
        folder: with `rolecast_policy.c` and `.h`; what is built is written beside them.
        observations: [V, n, do], on which it is checked.
        expected: [V, n, da].
    Raises:
        RequestError: a program is not installed; names its package.
        RunError: a program failed, or an action differs.
    """
    node = require_program("node")
    (folder / "wasm_face.c").write_text(_FACE_SOURCE)
    built = compile_wasm(folder, "wasm_face.c", "-Os")
    (folder / "observations.bin").write_bytes(observations.astype("<f4").tobytes())
    sizes = (("INPUTS", observations[0].size), ("OUTPUTS", expected[0].size))
    script = _NODE_CHECK
    for name, size in sizes:
        script = script.replace(name, str(size))
    run_program([node, "-e", script], folder)
    found = np.frombuffer((folder / "actions.bin").read_bytes(), dtype="<u4")
    wrong = int((found != np.ascontiguousarray(expected).view(np.uint32).ravel()).sum())
    if wrong:
        raise RunError(f"{wrong} of {found.size} actions of WebAssembly are not equal")
    return built


def compile_wasm(folder: Path, face: str, *flags: str) -> bytes:
    """Return `rolecast_policy.c` and another C file of a folder as WebAssembly, kept beside them.

    Args:
        folder: with both files.
        face: name of the file whose functions are exported.
        flags: for the compiler, besides those of the promise that all bits are the same.
    Raises:
        RequestError: a program is not installed; names its package.
        RunError: a program failed.
    """
    clang, _ = (require_program(name) for name in WASM_COMPILERS)
    build = [clang, "--target=wasm32", *COMPILER_FLAGS, *flags, "-nostdlib", "-Wl,--no-entry"]
    run_program([*build, "-Wl,--strip-all", "-o", WASM_FILE, "rolecast_policy.c", face], folder)
    return (folder / WASM_FILE).read_bytes()
