"""The same net in C by others: emlearn's library (pip install emlearn), with newlib's tanh."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Final

from rolecast.core.errors import RequestError
from rolecast.core.types import Float
from rolecast.policies.export.c99 import float_literal
from rolecast.policies.mlp import MlpPolicy
from rolecast.policies.network import unpack

EMLEARN_NAME: Final = "emlearn"

_EMLEARN_SOURCE: Final = """\
#include "eml_net.h"
#include "rolecast_policy.h"
{arrays}
static float activations[2][{widest}];
static const EmlNetLayer layers[{count}] = {{{layers}}};
static EmlNet net = {{{count}, layers, activations[0], activations[1], {widest}}};
void rolecast_policy_step(
    const float observations[ROLECAST_OBSERVATION_SIZE], float actions[ROLECAST_ACTION_SIZE])
{{
    int i;
    (void)eml_net_infer(&net, observations, ROLECAST_OBSERVATION_SIZE);
    for (i = 0; i < ROLECAST_ACTION_SIZE; i++) {{
        actions[i] = activations[1][i];
    }}
}}
"""


@dataclass(frozen=True, kw_only=True)
class RivalCode:
    """Source of a policy by another library, and how it is built."""

    source: str
    """Content of `rolecast_policy.c`."""

    flags: tuple[str, ...]
    """Further flags of the compiler."""

    libraries: tuple[str, ...]
    """What it is linked with."""


def has_emlearn() -> bool:
    """Return whether emlearn is installed here."""
    return find_spec(EMLEARN_NAME) is not None


def emlearn_code(policy: MlpPolicy, weights: Float) -> RivalCode:
    """Return an MLP of one agent, without clipping and gain, in the layout of emlearn.

    Raises:
        RequestError: emlearn is not installed.
    """
    found = find_spec(EMLEARN_NAME)
    if found is None or found.origin is None:
        raise RequestError("emlearn is not installed; expected: pip install emlearn")
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
        source=source,
        flags=(f"-I{Path(found.origin).parent}",),
        libraries=("-Wl,--start-group", "-lm", "-lc", "-lgcc", "-Wl,--end-group"),
    )


def _literals(values: Sequence[float] | Float) -> str:
    return ", ".join(float_literal(value) for value in values)
