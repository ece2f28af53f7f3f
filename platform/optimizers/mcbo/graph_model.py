"""The model of a causal graph: simulated parents feed simulated children, up to the reward.

Equation 11 of the MCBO paper: x_i = mu_i(z, a) + beta s_i(z, a) eta_i(z, a) + w_i, where eta_i in
[-1, 1] chooses one of the plausible mechanisms. An argument gives eta, so that one rollout serves
optimism (a function of the inputs), posterior means (0) and posterior samples (normal draws).
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor

from rolecast.core.types import Float
from rolecast.envs.causal.interventions import InterventionSpace
from rolecast.platform.optimizers.mcbo.hyperparameters import Hyperparameters, fit
from rolecast.platform.optimizers.mcbo.node_data import (
    NodeInputs,
    NodeUnits,
    Observed,
    node_targets,
)
from rolecast.platform.optimizers.mcbo.node_process import NodeProcess

Deviates = Callable[[int, Callable[[], Tensor]], Tensor | float]
"""eta_i [B, S] of a node's place and what gives its scaled inputs [B, S, P]."""

ROLLED_OUT_AT_ONCE: Final = 16_384
"""Rollouts in one piece where no gradient is wanted, so that kernel matrices stay in the cache."""


def no_deviates(place: int, inputs: Callable[[], Tensor]) -> float:
    """Return eta = 0: the rollout is that of posterior means."""
    return 0.0


class GraphModel:
    """Processes of all nodes, given what was observed."""

    def __init__(
        self,
        space: InterventionSpace,
        data: Observed,
        *,
        hyper: Hyperparameters | None = None,
        units: NodeUnits | None = None,
        constant_mean: bool = False,
        device: str = "cpu",
        told: int | None = None,
    ) -> None:
        """Condition all processes.

        Args:
            space: the interventions.
            data: one evaluation or more.
            hyper: hyperparameters; None: fitted.
            units: in which inputs and values are scaled; None: those of the data.
            constant_mean: of processes that are fitted, as of `fit`.
            device: of the tensors.
            told: rows of the data that were told, the first; the others are imagined. None: all.
        """
        self.space, self.data, self.device = space, data, device
        self.told = len(data) if told is None else told
        self.inputs = NodeInputs(space.graph)
        targets = node_targets(space, self.inputs, data, units)
        self.units = targets.units
        self.hyper = hyper or fit(targets, constant_mean=constant_mean)
        self.processes = [
            NodeProcess(targets, self.hyper, place, size, device)
            for place, size in enumerate(self.inputs.sizes)
        ]
        soft = len(space.graph.actions)
        self._settable = {
            space.graph.names.index(each.name): (soft + k, each.low, each.high - each.low)
            for k, each in enumerate(space.graph.do)
        }
        self._members = torch.as_tensor(space.members, device=device)
        self._rest = torch.as_tensor(space.rest, device=device)

    def rollout(
        self,
        places: Tensor,
        chosen: Tensor,
        *,
        noise: Tensor,
        deviates: Deviates = no_deviates,
        beta: float = 1.0,
    ) -> Tensor:
        """Return simulated values [B, S, m] of all nodes, the reward last.

        Args:
            places: [B, A], of the interventions in [0, 1].
            chosen: [B], set of interventions.
            noise: [S, m], w of each sample and node.
            deviates: eta.
            beta: width of the plausible band, in posterior standard deviations.
        """
        count, samples = len(places), len(noise)
        members = self._members[chosen]
        places = torch.where(members, places, self._rest)
        values: list[Tensor] = []
        for i, process in enumerate(self.processes):
            columns = [values[parent] for parent in self.inputs.parents[i]]
            columns += [places[:, k, None].expand(-1, samples) for k in self.inputs.actions[i]]
            if not columns:
                columns = [places.new_zeros((count, samples))]
            features = torch.stack(columns, dim=-1)
            mean, deviation = process.posterior(features)
            eta = deviates(i, partial(process.scaled, features))
            value = mean + beta * deviation * eta + noise[:, i]
            if i in self._settable:
                column, low, width = self._settable[i]
                fixed = low + width * places[:, column, None]
                value = torch.where(members[:, column, None], fixed, value)
            values.append(value)
        return torch.stack(values, dim=-1)

    def mean_rewards(self, candidates: Float, noise: Tensor) -> Float:
        """Return the rewards [q] of candidates [q, D] if all mechanisms are posterior means."""
        return np.asarray(self._mean_nodes(candidates, noise)[:, -1])

    def imagined(self, candidates: Float) -> "GraphModel":
        """Return the model as if candidates [q, D] had given their posterior means.

        Means stay, deviations shrink: the next candidate of a batch is then another one. Units are
        those of what was observed, or imagined values would move the prior mean.
        """
        quiet = torch.zeros((1, len(self.processes)), dtype=torch.float64, device=self.device)
        values = self._mean_nodes(candidates, quiet)
        variances = np.broadcast_to(self.data.variances.mean(axis=0), values.shape)
        data = self.data.joined(Observed(candidates, values, np.array(variances)))
        known: dict[str, Any] = {"hyper": self.hyper, "units": self.units, "told": self.told}
        return GraphModel(self.space, data, device=self.device, **known)

    def _mean_nodes(self, candidates: Float, noise: Tensor) -> Float:
        """Return the nodes [q, m] of posterior-mean rollouts, averaged over the noise [S, m]."""
        chosen, places = self.space.decode(candidates)
        rows = max(1, ROLLED_OUT_AT_ONCE // len(noise))
        parts = []
        with torch.no_grad():
            for start in range(0, len(places), rows):
                part = slice(start, start + rows)
                found = self.rollout(
                    torch.as_tensor(places[part], device=self.device),
                    torch.as_tensor(chosen[part], device=self.device),
                    noise=noise,
                )
                parts.append(found.mean(dim=1).cpu().numpy())
        return np.concatenate(parts)


def node_noise(
    space: InterventionSpace, samples: int, rng: np.random.Generator, device: str
) -> Tensor:
    """Return noise [S, m] of all nodes, by scrambled Sobol points; S = 1 of zeros without noise."""
    nodes = space.graph.nodes
    if not space.graph.noisy:
        return torch.zeros((1, len(nodes)), dtype=torch.float64, device=device)
    sobol: Any = torch.quasirandom.SobolEngine  # without types
    engine = sobol(len(nodes), scramble=True, seed=int(rng.integers(2**31)))
    uniforms = engine.draw(samples, dtype=torch.float64).numpy().clip(1e-9, 1.0 - 1e-9)
    columns = [
        node.noise.quantiles(uniforms[:, k]) if node.noise.deviation else np.zeros(samples)
        for k, node in enumerate(nodes)
    ]
    return torch.as_tensor(np.stack(columns, axis=1), device=device)
