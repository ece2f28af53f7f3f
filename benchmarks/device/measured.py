"""Policies of the tables of devices: their nets, by whom their C is written, and their digests."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rolecast.benchmarks.device.rivals import EMLEARN_NAME, ONNX2C_NAME, RIVALS_BY_NAME
from rolecast.core.types import Float
from rolecast.envs.spec import TaskSpec
from rolecast.platform.deployment.boards import (
    stream_digest,
    streamed_integers,
    streamed_observations,
)
from rolecast.policies.export.c99 import code_files, fixed_code_files
from rolecast.policies.export.fixed import fixed_policies
from rolecast.policies.export.reference import reference
from rolecast.policies.hom.policy import HomPolicy
from rolecast.policies.mlp import MlpPolicy
from rolecast.policies.registry import make_policy


@dataclass(frozen=True, kw_only=True)
class MeasuredPolicy:
    """A policy, and who writes its C."""

    name: str
    """In the registry of policies."""

    sizes: tuple[int, int, int] = (3, 16, 2)
    """Agents, observation size, action size."""

    options: Mapping[str, Any] = field(default_factory=dict)
    """Of the policy."""

    weight_bits: int | None = None
    """Of integers; None is float32."""

    rival: str | None = None
    """Name of another writer of C; None is ours."""

    def made(self) -> tuple[HomPolicy | MlpPolicy, Float]:
        """Return the policy, and weights [D] drawn in its cube."""
        agents, observed, acted = self.sizes
        spec = TaskSpec(
            id="device", agents=agents, observation_size=observed, action_size=acted, horizon=1
        )
        policy = make_policy(self.name, spec, **self.options)
        if not isinstance(policy, HomPolicy | MlpPolicy):
            raise TypeError(f"{self.name} has no templates")
        cube = np.random.default_rng(0).random(policy.space.dimension)
        return policy, policy.space.weights(cube)

    def files(self, remarks: str) -> tuple[dict[str, str], tuple[str, ...]]:
        """Return its source files, and further flags of their compiler."""
        policy, weights = self.made()
        if self.weight_bits is not None:
            fixed = fixed_policies(policy, weights, self.weight_bits)[0]
            return fixed_code_files(fixed, remarks=remarks), ()
        files = code_files(policy, weights, remarks=remarks)
        if self.rival is None:
            return files, ()
        theirs = RIVALS_BY_NAME[self.rival].code(policy, weights)
        return {**files, "rolecast_policy.c": theirs.source}, theirs.flags

    def streamed(self, vectors: int) -> NDArray[Any]:
        """Return the observations [V, n, do] that a device makes itself."""
        agents, observed, _ = self.sizes
        if self.weight_bits is not None:
            return streamed_integers(vectors, agents, observed)
        return streamed_observations(vectors, agents, observed, self.bound)

    @property
    def bound(self) -> float:
        """To which the policy clips."""
        return float(self.made()[0].options["observation_clip"])


_SMALL_NET: Final[Mapping[str, Any]] = {
    "name": "mlp",
    "sizes": (1, 4, 1),
    "options": {"hidden": [16, 16]},
}
_TEAM_NET: Final[Mapping[str, Any]] = {"name": "hom", "options": {"role_assignment": False}}

MEASURED_POLICIES: Final[Mapping[str, MeasuredPolicy]] = MappingProxyType(
    {
        "mlp 16x16": MeasuredPolicy(**_SMALL_NET),
        "mlp 16x16, onnx2c": MeasuredPolicy(**_SMALL_NET, rival=ONNX2C_NAME),
        "mlp 16x16, emlearn": MeasuredPolicy(**_SMALL_NET, rival=EMLEARN_NAME),
        "mlp 14x14": MeasuredPolicy(name="mlp"),
        "mlp 14x14, onnx2c": MeasuredPolicy(name="mlp", rival=ONNX2C_NAME),
        "mlp 14x14, emlearn": MeasuredPolicy(name="mlp", rival=EMLEARN_NAME),
        "hom": MeasuredPolicy(**_TEAM_NET),
        "hom, onnx2c": MeasuredPolicy(**_TEAM_NET, rival=ONNX2C_NAME),
        "hom, int16": MeasuredPolicy(**_TEAM_NET, weight_bits=16),
        "hom, int8": MeasuredPolicy(**_TEAM_NET, weight_bits=8),
        "hom, role net": MeasuredPolicy(name="hom", options={"role_assignment": True}),
    }
)
"""Row of the tables to its policy."""


@cache
def reference_digest(name: str, vectors: int) -> int:
    """Return the digest of a row's reference actions, which all its targets are held against.

    Args:
        name: row of the tables.
        vectors: V, of the observations that a device makes itself.
    """
    measured = MEASURED_POLICIES[name]
    policy, weights = measured.made()
    given = measured.streamed(vectors)
    if measured.weight_bits is not None:
        return stream_digest(fixed_policies(policy, weights, measured.weight_bits)[0].act(given))
    return stream_digest(reference(policy, weights)(given))


def measured_names() -> list[str]:
    """Return the rows whose C can be written here."""
    return [
        name
        for name, policy in MEASURED_POLICIES.items()
        if policy.rival is None or RIVALS_BY_NAME[policy.rival].installed()
    ]
