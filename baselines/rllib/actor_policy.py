"""The network of a learner as a policy of the project, so that one rollout scores all alike."""

from collections.abc import Mapping
from copy import deepcopy
from math import prod
from typing import Any, Final, Protocol, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call

from rolecast.core.errors import ConfigError
from rolecast.core.types import Float, Float32
from rolecast.policies.export.onnx.graph import DOUBLE_ELEMENTS, FLOAT_ELEMENTS, Graph
from rolecast.policies.space import Block, ParameterSpace

HALF_RANGE: Final = 1.0
"""Half the range of each weight in the cube of its space, about what was learnt."""


class ActingNet(Protocol):
    """A module that chooses actions without exploring."""

    def act(self, observations: Tensor) -> Tensor:
        """Return actions [..., n, da] in [-1, 1] for observations [..., n, do]."""

    def act_in_graph(self, graph: Graph, observations: str) -> str:
        """Add what `act` returns to an ONNX graph, for observations [N, n, do]."""

    def acting_modules(self) -> list[nn.Module]:
        """Return what `act` depends on, whose parameters are the policy's."""


class ActorPolicy:
    """What a module does once learning is over; see `rolecast.policies.protocol.Policy`.

    It is scored like any policy but is not made from a cube. Its space has D, and the learnt
    weights as centre.
    """

    def __init__(self, name: str, net: ActingNet, options: Mapping[str, Any] | None = None) -> None:
        """Take a copy of a module.

        Args:
            name: of the algorithm.
            net: its module, whose weights become the centre of the space.
            options: settings of the algorithm, JSON values.
        """
        self.name, self.options = name, dict(options or {})
        self._acting = _Acting(deepcopy(net)).requires_grad_(False)
        own = {id(p) for module in net.acting_modules() for p in module.parameters()}
        outside = dict(_Acting(net).named_parameters())
        self._shapes = {key: tuple(p.shape) for key, p in outside.items() if id(p) in own}
        self.space = ParameterSpace(
            tuple(
                Block(
                    net=name,
                    layer=index,
                    kind=key,
                    centre=outside[key].detach().cpu().numpy().astype(np.float64),
                    half_range=HALF_RANGE,
                )
                for index, key in enumerate(self._shapes)
            )
        )

    @property
    def weights(self) -> Float:
        """What was learnt, [1, D]."""
        return self.space.centre[None]

    def act(self, weights: Float, observations: Float) -> Float:
        """Return actions [P, B, n, da] for weights [P, D] and observations [P, B, n, do].

        Computed in float32, as it was learnt.

        Raises:
            ConfigError: the weights are not [P, D].
        """
        if weights.ndim != 2 or weights.shape[1] != self.space.size:
            raise ConfigError("weights", weights.shape, f"shape [P, {self.space.size}]")
        with torch.no_grad():
            return np.stack(
                [
                    self.relaxed_act(_float32(row), _float32(seen)).numpy().astype(np.float64)
                    for row, seen in zip(weights, observations, strict=True)
                ]
            )

    def exact_actions(self, observations: Float) -> Float:
        """Return actions [S, n, da] of what was learnt for observations [S, n, do], in float64."""
        net = cast(ActingNet, deepcopy(self._acting).double().net)
        with torch.no_grad():
            actions: Float = net.act(torch.from_numpy(observations)).numpy()
        return actions

    def relaxed_act(self, weights: Tensor, observations: Tensor) -> Tensor:
        """Return actions [S, n, da] for weights [D] and observations [S, n, do]."""
        parts = torch.split(weights, [prod(shape) for shape in self._shapes.values()])
        named = {
            key: part.reshape(shape)
            for (key, shape), part in zip(self._shapes.items(), parts, strict=True)
        }
        actions: Tensor = functional_call(self._acting, named, (observations,))
        return actions

    def onnx_model(self, agents: int, observation_size: int, action_size: int) -> bytes:
        """Return an ONNX model from `observations` [N, n, do] to `actions` [N, n, da], float32.

        Inside it computes in float64, whose rounding decides no choice and no digit of float32.
        """
        graph, net = Graph(double=True), cast(ActingNet, self._acting.net)
        seen = graph.add("Cast", "observations", to=DOUBLE_ELEMENTS)
        graph.add("Cast", net.act_in_graph(graph, seen), output="actions", to=FLOAT_ELEMENTS)
        given = "observations", (agents, observation_size)
        return graph.model(self.name, given, ("actions", (agents, action_size)))

    def lanes(self) -> "ActorLanes":
        """Return the face over lanes of episodes, with a net of its own that it fills."""
        return ActorLanes(deepcopy(self))


class ActorLanes:
    """The same over K blocks of W lanes; a `LanePolicy`.

    All lanes of one candidate are computed in one pass. Their indices are kept as long as the array
    of weights is the same.
    """

    def __init__(self, policy: ActorPolicy) -> None:
        self._policy = policy
        self._known: Float32 | None = None
        self._groups: list[tuple[Tensor, np.ndarray[tuple[int], np.dtype[np.int64]]]] = []

    def act(self, weights: Float32, observations: Float32, actions: Float32) -> None:
        """Write actions [K, n, da, W] for weights [K, D, W] and observations [K, n, do, W]."""
        if weights is not self._known:
            self._known, self._groups = weights, _candidates(weights)
        blocks, _, _, width = observations.shape
        rows = observations.transpose(0, 3, 1, 2).reshape(blocks * width, *observations.shape[1:3])
        done = np.empty((len(rows), *actions.shape[1:3]), dtype=np.float32)
        with torch.no_grad():
            for vector, held in self._groups:
                seen = torch.from_numpy(rows[held])
                done[held] = self._policy.relaxed_act(vector, seen).numpy()
        actions[:] = done.reshape(blocks, width, *actions.shape[1:3]).transpose(0, 2, 3, 1)


class _Acting(nn.Module):
    """Makes a module's `act` what is called."""

    def __init__(self, net: Any) -> None:
        super().__init__()
        self.net = net

    def forward(self, observations: Tensor) -> Tensor:
        actions: Tensor = self.net.act(observations)
        return actions


def _candidates(
    weights: Float32,
) -> list[tuple[Tensor, np.ndarray[tuple[int], np.dtype[np.int64]]]]:
    """Return the different weights [D] of lanes [K, D, W], each with the lanes that have them."""
    left = np.arange(weights.shape[0] * weights.shape[2])
    found = []
    while left.size:
        block, lane = divmod(int(left[0]), weights.shape[2])
        vector = weights[block, :, lane]
        same = (weights == vector[None, :, None]).all(axis=1).ravel()[left]
        found.append((torch.from_numpy(vector.copy()), left[same]))
        left = left[~same]
    return found


def _float32(numbers: Float) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(numbers, dtype=np.float32))
