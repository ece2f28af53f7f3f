"""Maximisation of an acquisition function over interventions, all starts in one tensor.

Points of all allowed sets are drawn and scored together, the best become starts, and one L-BFGS-B
climbs all of them at once (`joint_ascent`). The best end is then climbed alone (`config.climbed`).
Differs: the authors climb a thousand starts by stochastic gradients; here samples are common, the
objective is a plain function, and few starts that were chosen among many are enough.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rolecast.core.types import Float
from rolecast.envs.causal.interventions import InterventionSpace
from rolecast.platform.optimizers.mcbo.joint_ascent import ascended

Value = Callable[[Tensor, Tensor, Tensor], Tensor]
"""Acquisition value [B] of places [B, A], sets [B] and parameters [B, K]."""

NEAR_DEVIATION: Final = 0.05
"""Deviation, in the cube, of points drawn round those that were good before."""

SCORED_AT_ONCE: Final = 512
"""Points scored in one piece."""


@dataclass(frozen=True, eq=False)
class Points:
    """B points of the search: an intervention, and parameters of the acquisition function."""

    places: Float
    """[B, A]."""

    chosen: NDArray[np.int64]
    """[B]."""

    parameters: Float
    """[B, K]."""

    def __getitem__(self, rows: NDArray[np.int64] | slice) -> "Points":
        return Points(self.places[rows], self.chosen[rows], self.parameters[rows])

    def __len__(self) -> int:
        return len(self.places)


def drawn_points(
    space: InterventionSpace,
    draw: Callable[[int, np.random.Generator], Float],
    count: int,
    good: Float,
    rng: np.random.Generator,
) -> Points:
    """Return random points of every set, and points round good ones.

    Args:
        space: of the interventions.
        draw: parameters [count, K].
        count: points drawn uniformly, at least one a set; a quarter as many are drawn near.
        good: [G, D], candidates that were good before, themselves among the points.
        rng: source of randomness.
    """
    sets = np.arange(max(count, len(space.sets))) % len(space.sets)
    places = rng.random((len(sets), space.size))
    chosen, known = space.decode(good)
    if len(good):
        picked = rng.integers(len(good), size=-(-count // 4))
        near = known[picked] + NEAR_DEVIATION * rng.normal(size=(len(picked), space.size))
        places = np.concatenate([places, known, np.clip(near, 0.0, 1.0)])
        sets = np.concatenate([sets, chosen, chosen[picked]])
    return Points(places, sets, draw(len(places), rng))


def score(value: Value, points: Points, device: str = "cpu") -> Float:
    """Return the values [B] of points, without gradients."""
    parts = []
    with torch.no_grad():
        for start in range(0, len(points), SCORED_AT_ONCE):
            part = points[slice(start, start + SCORED_AT_ONCE)]
            parts.append(value(*_tensors(part, device)).cpu().numpy())
    return np.concatenate(parts)


def best_starts(points: Points, values: Float, count: int, sets: int) -> Points:
    """Return the best point of every set, then the best of all, `count` together or one a set."""
    order = np.argsort(-values, kind="stable")
    firsts = [order[points.chosen[order] == one][0] for one in range(sets)]
    others = [row for row in order if row not in firsts]
    return points[np.array([*firsts, *others[: max(0, count - sets)]])]


def climb(
    value: Value,
    points: Points,
    bounds: list[tuple[float, float]],
    *,
    steps: int,
    device: str = "cpu",
) -> Points:
    """Return points after a joint L-BFGS-B over places in [0, 1] and parameters in their bounds."""
    width = points.places.shape[1]
    chosen = torch.as_tensor(points.chosen, device=device)
    rows = ascended(
        lambda rows: value(rows[:, :width], chosen, rows[:, width:]),
        np.concatenate([points.places, points.parameters], axis=1),
        [(0.0, 1.0)] * width + bounds,
        steps=steps,
        device=device,
    )
    return Points(np.clip(rows[:, :width], 0.0, 1.0), points.chosen, rows[:, width:])


def _tensors(points: Points, device: str) -> tuple[Tensor, Tensor, Tensor]:
    return (
        torch.as_tensor(points.places, device=device),
        torch.as_tensor(points.chosen, device=device),
        torch.as_tensor(points.parameters, device=device),
    )
