"""The same nets in C by others: onnx2c (a program) and emlearn (a library), with tanhf of libc."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Final

from rolecast.core.errors import RequestError
from rolecast.core.types import Float
from rolecast.platform.deployment.compiler import has_program, run_program
from rolecast.policies.export.c99 import float_literal
from rolecast.policies.export.onnx.graph import Graph
from rolecast.policies.export.onnx.hom import hom_model
from rolecast.policies.hom.policy import HomPolicy
from rolecast.policies.mlp import MlpPolicy
from rolecast.policies.network import unpack

EMLEARN_NAME: Final = "emlearn"
ONNX2C_NAME: Final = "onnx2c"

_EMLEARN_SOURCE: Final = """\
#include "eml_net.h"
#include "rolecast_policy.h"
{arrays}
static float activations[2][{widest}];
static const EmlNetLayer layers[{count}] = {{{layers}}};
static EmlNet net = {{{count}, layers, activations[0], activations[1], {widest}}};
static void act(const float *observation, float *action)
{{
    int i;
    (void)eml_net_infer(&net, observation, ROLECAST_OBSERVATION_SIZE);
    for (i = 0; i < ROLECAST_ACTION_SIZE; i++) {{
        action[i] = activations[1][i];
    }}
}}
"""

_ONNX2C_SOURCE: Final = """\
{code}
#include "rolecast_policy.h"
static void act(const float *observation, float *action)
{{
    entry((const float (*){observed})observation, (float (*){acted})action);
}}
"""

_EACH_AGENT: Final = """\
void rolecast_policy_step(const float *observations, float *actions)
{
    int i;
    for (i = 0; i < CALLS; i++) {
        act(observations + i * ROLECAST_OBSERVATION_SIZE, actions + i * ROLECAST_ACTION_SIZE);
    }
}
"""


@dataclass(frozen=True, kw_only=True)
class RivalCode:
    """Source of a policy by another library, and how it is built."""

    source: str
    """Content of `rolecast_policy.c`."""

    flags: tuple[str, ...] = ()
    """Further flags of the compiler."""


@dataclass(frozen=True, kw_only=True)
class Rival:
    """Another way to C."""

    installed: Callable[[], bool]
    """Whether it is here."""

    code: Callable[[HomPolicy | MlpPolicy, Float], RivalCode]
    """From a policy and its weights [D]."""


def emlearn_code(policy: HomPolicy | MlpPolicy, weights: Float) -> RivalCode:
    """Return a shared MLP, without clipping, in the layout of emlearn.

    Raises:
        RequestError: emlearn is not installed, or has no such policy.
    """
    found = find_spec(EMLEARN_NAME)
    if found is None or found.origin is None:
        raise RequestError("emlearn is not installed; expected: pip install emlearn")
    if not isinstance(policy, MlpPolicy):
        raise RequestError(f"emlearn has no policy {policy.name!r}; expected an mlp")
    nets = unpack(weights, [policy.net])[policy.net.name]
    arrays = [
        f"static const float {name}{place}[] = {{{_literals(values)}}};"
        for place, (weight, bias) in enumerate(nets)
        for name, values in (("w", weight.T.ravel()), ("b", bias))
    ]
    widths = policy.net.widths
    layers = [
        f"{{{out}, {given}, w{place}, b{place}, EmlNetActivationTanh}}"
        for place, (given, out) in enumerate(pairwise(widths))
    ]
    source = _EMLEARN_SOURCE.format(
        arrays="\n".join(arrays),
        layers=", ".join(layers),
        count=len(layers),
        widest=max(widths),
    )
    return RivalCode(
        source=source + _EACH_AGENT.replace("CALLS", "ROLECAST_AGENTS"),
        flags=(f"-I{Path(found.origin).parent}",),
    )


def onnx2c_code(policy: HomPolicy | MlpPolicy, weights: Float) -> RivalCode:
    """Return what onnx2c makes of a model: Gemm and Tanh of an MLP, the exported graph of HOM.

    Raises:
        RunError: it failed.
        FileNotFoundError: it is not installed.
    """
    if isinstance(policy, MlpPolicy):
        model, calls = gemm_model(policy, weights), "ROLECAST_AGENTS"
        sizes = f"[{policy.net.widths[0]}]", f"[{policy.net.widths[-1]}]"
    else:
        model, calls = hom_model(policy, weights), "1"
        n, settings = policy.model.agents, policy.model
        sizes = f"[{n}][{settings.observation_size}]", f"[{n}][{settings.action_size}]"
    with TemporaryDirectory() as folder:
        (Path(folder) / "model.onnx").write_bytes(model)
        code = run_program([ONNX2C_NAME, "-d", "N:1", "model.onnx"], Path(folder))
    source = _ONNX2C_SOURCE.format(code=code, observed=sizes[0], acted=sizes[1])
    return RivalCode(source=source + _EACH_AGENT.replace("CALLS", calls))


def gemm_model(policy: MlpPolicy, weights: Float) -> bytes:
    """Return a shared MLP, without clipping, as frameworks write it: Gemm and Tanh by turns."""
    layers = unpack(weights, [policy.net])[policy.net.name]
    graph, value = Graph(), "observation"
    for place, (weight, bias) in enumerate(layers, start=1):
        arrays = graph.constant(weight), graph.constant(bias)
        value = graph.add("Gemm", value, *arrays, transB=1)
        value = graph.add("Tanh", value, output="action" if place == len(layers) else "")
    widths = policy.net.widths
    return graph.model(policy.name, ("observation", widths[:1]), ("action", widths[-1:]))


RIVALS_BY_NAME: Final[Mapping[str, Rival]] = MappingProxyType(
    {
        ONNX2C_NAME: Rival(installed=lambda: has_program(ONNX2C_NAME), code=onnx2c_code),
        EMLEARN_NAME: Rival(
            installed=lambda: find_spec(EMLEARN_NAME) is not None, code=emlearn_code
        ),
    }
)
"""Name of another way to C to it."""


def _literals(values: Sequence[float] | Float) -> str:
    return ", ".join(float_literal(value) for value in values)
