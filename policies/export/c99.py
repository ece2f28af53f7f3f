"""Target `c99`: source files of a policy, from the templates beside this file.

The code needs no heap, no recursion and no library but the compiler's own. Each loop has a constant
bound, and all working memory is static.
"""

from collections.abc import Mapping
from typing import Any, Final

import jinja2
import numpy as np

from rolecast.core.types import Float, Float32
from rolecast.policies.export import reference
from rolecast.policies.export.fixed import TANH_TABLE, FixedPolicy, Integers
from rolecast.policies.export.tables import hom_table, interacts, mlp_table, team_numbers
from rolecast.policies.hom.assignment import SUBSET_LIMIT
from rolecast.policies.hom.interaction import SOFT_EDGE_SLOPE
from rolecast.policies.hom.model import HomModel
from rolecast.policies.hom.policy import HomPolicy
from rolecast.policies.mlp import MlpPolicy
from rolecast.policies.network import TANH_BOUND

BOARD_FLAGS: Final = ("-Os", "-ffreestanding", "-ffunction-sections", "-fdata-sections")
"""Flags for every core, beside those of the promise that all bits are the same."""

COMPILER_FLAGS: Final = ("-std=c99", "-ffp-contract=off")
"""Without which a compiler may fuse a multiplication with an addition, and lose the equality."""

CODE_FILES: Final = ("rolecast_policy.h", "rolecast_policy.c")

_NUMBERS_A_LINE: Final = 6

_ARITHMETIC_GUARD: Final = """\
#if FLT_EVAL_METHOD != 0
#error "expected float arithmetic in float: on 32-bit x86, use -msse2 -mfpmath=sse"
#endif
#if defined(__FAST_MATH__)
#error "expected -fno-fast-math: the actions are equal bit by bit only without it"
#endif
#if defined(__GNUC__)
#define KEPT_APART __attribute__((noinline)) /* one copy, for size */
#else
#define KEPT_APART
#endif
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("no-tree-loop-distribute-patterns") /* no call of memset */
#endif
"""


def c_templates(package: str) -> jinja2.Environment:
    """Return the templates of C in the folder `templates` of a package."""
    return jinja2.Environment(
        loader=jinja2.PackageLoader(package),
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )


EXPORT_TEMPLATES: Final = c_templates("rolecast.policies.export")
EXPORT_TEMPLATES.tests["even"] = lambda number: number % 2 == 0


def float_literal(value: float | np.float32) -> str:
    """Return a float32 as a C literal of the same bits, in short decimals; it is finite."""
    exact = np.float32(value)
    short = np.format_float_scientific(exact, unique=True, trim="0", exp_digits=1)
    return f"{short}f"


def code_files(
    policy: HomPolicy | MlpPolicy, weights: Float, *, remarks: str, one_agent: bool = False
) -> dict[str, str]:
    """Return the header and the source of a policy, by name.

    Args:
        policy: what is exported.
        weights: [D], finite as float32.
        remarks: lines for the comment on top of each file.
        one_agent: what each robot of a team runs, in place of a step of the whole team.
    """
    numbers, starts = _numbers(policy, weights, one_agent)
    values = {
        "head": comment(remarks),
        "guard": _ARITHMETIC_GUARD,
        "kind": policy.name,
        "one_agent": one_agent,
        "number": "float",
        "input_bits": None,
        "weights": numbers,
        "starts": starts,
        "table": rows_of_text([float_literal(number) for number in numbers]),
        "numerator": [float_literal(each) for each in reference.TANH_NUMERATOR],
        "denominator": [float_literal(each) for each in reference.TANH_DENOMINATOR],
        "tanh_bound": float_literal(TANH_BOUND),
        **(_hom_values(policy) if isinstance(policy, HomPolicy) else _mlp_values(policy)),
    }
    if isinstance(policy, HomPolicy) and one_agent:
        return _rendered("hom_agent.c.jinja", values, header="agent.h.jinja")
    return _rendered("hom.c.jinja" if isinstance(policy, HomPolicy) else "mlp.c.jinja", values)


def _numbers(
    policy: HomPolicy | MlpPolicy, weights: Float, one_agent: bool
) -> tuple[Float32, dict[str, int]]:
    """Return the numbers of a float32 policy in the order of reading, and their starts."""
    if isinstance(policy, HomPolicy) and not one_agent:
        return team_numbers(policy, weights)
    table = hom_table(policy) if isinstance(policy, HomPolicy) else mlp_table(policy)
    return weights.astype(np.float32)[table.order] + np.float32(0.0), table.starts


def fixed_code_files(
    fixed: FixedPolicy, *, remarks: str, one_agent: bool = False
) -> dict[str, str]:
    """Return the header and the source of a policy in integers, by name.

    Args:
        fixed: what is exported.
        remarks: lines for the comment on top of each file.
        one_agent: leave the function out that steps the whole team.
    """
    policy = fixed.policy
    hom = isinstance(policy, HomPolicy)
    table = hom_table(policy) if isinstance(policy, HomPolicy) else mlp_table(policy)
    layers = [layer for net in fixed.nets.values() for layer in net]
    parts = [part.ravel() for layer in layers for part in (layer.weight, layer.bias)]
    numbers = np.concatenate(parts)[table.order].tolist()
    shifts = {name: [layer.shift for layer in net] for name, net in fixed.nets.items()}
    values = {
        **(_hom_values(policy) if isinstance(policy, HomPolicy) else _mlp_values(policy)),
        "head": comment(remarks),
        "kind": policy.name,
        "one_agent": one_agent,
        "number": "short",
        "weight": "signed char" if fixed.weight_bits == 8 else "short",
        "weights": numbers,
        "starts": table.starts,
        "table": rows_of_text([str(number) for number in numbers]),
        "tanh_table": rows_of_text([str(entry) for entry in TANH_TABLE.tolist()]),
        "clip": fixed.clip,
        "gain": fixed.gain,
        "input_bits": fixed.input_bits,
        "net_shifts": {name: each for name, each in shifts.items() if _is_read(name, policy)},
        "shifts": [] if hom else next(iter(shifts.values())),
    }
    return _rendered("hom_fixed.c.jinja" if hom else "mlp_fixed.c.jinja", values)


def _is_read(net: str, policy: HomPolicy | MlpPolicy) -> bool:
    """Return whether a step reads a net."""
    silent = isinstance(policy, HomPolicy) and not interacts(policy.model)
    return not (silent and net in {"edge", "message"})


def _rendered(
    source: str, values: Mapping[str, Any], header: str = "policy.h.jinja"
) -> dict[str, str]:
    return {
        "rolecast_policy.h": EXPORT_TEMPLATES.get_template(header).render(values),
        "rolecast_policy.c": EXPORT_TEMPLATES.get_template(source).render(values),
    }


def message_phases(model: HomModel) -> list[tuple[int, str]]:
    """Return the exchanges of a step of robots that compute alone: numbers sent, and what.

    Args:
        model: sizes and switches of `hom`.
    """
    phases = []
    if model.role_assignment:
        phases.append((model.agents, "how well each role fits the sender"))
    if interacts(model):
        hidden = model.hidden[0]
        if model.message_reads == "observation":
            phases.append((2 * hidden, "first layers of the sender, of edges and of messages"))
        else:
            phases.append((hidden, "the first layer of the sender, of edges"))
            phases += [(model.message_width, "the state of the sender's role")] * (model.rounds - 1)
    return phases


def check_program(
    observations: Float32 | Integers,
    actions: Float32 | Integers,
    *,
    remarks: str,
    function: str = "rolecast_policy_step",
    phases: int | None = None,
) -> str:
    """Return `main_test.c`: it compares the policy with vectors, bit by bit.

    Args:
        observations: [V, ...], of a team, or of one agent; integers for a policy in integers.
        actions: [V, ...], those of the reference.
        remarks: lines for the comment on top.
        function: that is called for a vector.
        phases: exchanges of a team whose agents compute alone; None: there is one device.
    """
    given, expected = (rows.reshape(len(rows), -1) for rows in (observations, actions))
    fixed = given.dtype.kind == "i"
    source = "main_test_fixed.c.jinja" if fixed else "main_test.c.jinja"
    texts = [
        [str(number) for number in rows.ravel().tolist()]
        if fixed
        else bit_patterns(rows.astype(np.float32))
        for rows in (given, expected)
    ]
    return EXPORT_TEMPLATES.get_template(source).render(
        head=comment(remarks),
        count=len(given),
        inputs=given.shape[1],
        outputs=expected.shape[1],
        function=function if phases is None else "step",
        agent=phases is not None,
        phases=phases,
        observations=rows_of_text(texts[0]),
        actions=rows_of_text(texts[1]),
    )


def bit_patterns(numbers: Float32) -> list[str]:
    """Return the bits of float32 numbers as C literals."""
    words = np.ascontiguousarray(numbers, dtype=np.float32).view(np.uint32).ravel()
    return [f"{word:#010x}u" for word in words.tolist()]


def comment(text: str) -> str:
    """Return text as a comment of C, which nothing in the text can end."""
    lines = [f" * {line}".rstrip() for line in text.replace("*/", "* /").splitlines()]
    return "\n".join(["/*", *lines, " */"])


def rows_of_text(numbers: list[str]) -> str:
    """Return numbers as the lines between the braces of an initialiser."""
    starts = range(0, len(numbers), _NUMBERS_A_LINE)
    rows = [", ".join(numbers[start : start + _NUMBERS_A_LINE]) for start in starts]
    return ",\n".join(f"    {row}" for row in rows)


def _mlp_values(policy: MlpPolicy) -> Mapping[str, Any]:
    widths = policy.net.widths
    inner = widths[:-1]
    return {
        "agents": policy.agents,
        "observation_size": widths[0],
        "action_size": widths[-1],
        "widths": widths,
        "hidden": widths[1:-1],
        "inputs_width": max(inner),
        "sums_width": max(widths[1:]),
        "buffers": (max(inner[0::2]), max(inner[1::2], default=0)),
        "clip": float_literal(policy.observation_clip),
        "gain": float_literal(policy.output_gain),
    }


def _hom_values(policy: HomPolicy) -> Mapping[str, Any]:
    model = policy.model
    phases = message_phases(model)
    codes = model.bits * (2 if model.role_assignment else 1)
    return {
        "agents": model.agents,
        "observation_size": model.observation_size,
        "action_size": model.action_size,
        "width": model.hidden[0],
        "depth": len(model.hidden),
        "message_width": model.message_width,
        "bits": model.bits,
        "inputs": 1 + model.observation_size + codes,
        "phases": phases,
        "roles": model.role_assignment,
        "interacts": interacts(model),
        "soft": model.soft_edges,
        "self_edges": model.self_edges,
        "reads_hidden": model.message_reads == "hidden",
        "rounds": model.rounds,
        "subset_limit": SUBSET_LIMIT,
        "half_slope": float_literal(0.5 * SOFT_EDGE_SLOPE),
        "clip": float_literal(model.observation_clip),
        "gain": float_literal(model.settings.output_gain),
    }
