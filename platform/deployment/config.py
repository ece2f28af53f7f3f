"""Settings of `rolecast export`, said once for Python and the command line."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from types import MappingProxyType
from typing import Final, Literal

from rolecast.core.errors import ConfigError
from rolecast.core.memory import EPISODE_BYTES, require_room
from rolecast.core.validation import make_plain

EXPORT_TARGETS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "c99": "C99 source without heap, recursion or library",
        "onnx": "that source, and an ONNX model",
        "micropython": "one Python file without imports",
        "wasm": "that source, and WebAssembly built from it",
    }
)
"""Target to what it is."""


WEIGHT_BITS: Final[Mapping[str, int]] = MappingProxyType({"float32": 32, "int16": 16, "int8": 8})
"""Kind of weights to the bits of one."""


@dataclass(frozen=True, kw_only=True)
class ExportConfig:
    """What is exported, and how."""

    target: Literal["c99", "onnx", "micropython", "wasm"] = "c99"
    """Language of the device: c99, onnx, micropython or wasm. wasm is the same C built as
    WebAssembly, and onnx adds a model to the C. micropython is one Python file without imports."""

    one_agent: bool = False
    """Export the step of one agent, for a device on each, rather than that of the whole team."""

    weights: Literal["float32", "int16", "int8"] = "float32"
    """Numbers of the weights: float32, or integers for a core without floats, rounded after the
    search: int16 or int8."""

    max_loss: float = 0.02
    """Largest loss of mean return by integer weights, as a share of it."""

    compiler: str = "cc"
    """C compiler of this machine, by which the files are checked."""

    cores: tuple[str, ...] = ()
    """Microcontroller in QEMU on which the C is checked and measured too: Cortex-M0, Cortex-M3,
    Cortex-M4F, Cortex-M33, RV32IMC; may be repeated."""

    def __post_init__(self) -> None:
        if self.target not in EXPORT_TARGETS:
            expected = f"one of {', '.join(EXPORT_TARGETS)}"
            raise ConfigError("export.target", self.target, expected)
        if self.weights not in WEIGHT_BITS:
            expected = f"one of {', '.join(WEIGHT_BITS)}"
            raise ConfigError("export.weights", self.weights, expected)
        if self.target != "c99" and (self.one_agent or self.weights != "float32"):
            expected = f"a whole team in float32 for target {self.target}"
            raise ConfigError("export.one_agent, weights", (self.one_agent, self.weights), expected)
        if not 0.0 <= self.max_loss < inf:
            raise ConfigError("export.max_loss", self.max_loss, "a number >= 0")
        if self.cores and (self.one_agent or self.target == "micropython"):
            raise ConfigError("export.cores", self.cores, "none but for C of a whole team")


@dataclass(frozen=True, kw_only=True)
class CertifyConfig:
    """How a lower bound on returns is found."""

    episodes: int = 10_000
    """Fresh episodes."""

    confidence: float = 0.99
    """Probability that a bound holds, over the draw of the episodes."""

    returns_within: tuple[float, float] | None = None
    """Least and largest return that the task can pay. With them the bound holds for any number of
    episodes; without them it is the normal approximation."""

    seed: int = 0
    """Set of episodes; none of them is met by a search."""

    def __post_init__(self) -> None:
        make_plain(self)
        if type(self.episodes) is not int or self.episodes < 2:
            raise ConfigError("certify.episodes", self.episodes, "an integer >= 2")
        require_room("certify.episodes", self.episodes, EPISODE_BYTES * self.episodes, "fewer")
        if not 0.5 <= self.confidence < 1.0:
            raise ConfigError("certify.confidence", self.confidence, "a number in [0.5, 1)")
        if type(self.seed) is not int or self.seed < 0:
            raise ConfigError("certify.seed", self.seed, "an integer >= 0")
        within = self.returns_within
        if within is not None and not -inf < within[0] < within[1] < inf:
            expected = "two finite numbers, the least first"
            raise ConfigError("certify.returns_within", within, expected)
