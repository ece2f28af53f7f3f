"""The bodies: sizes, what a step pays, when an episode ends, and how far starts spread.

Source: Gymnasium 1.2, environments Ant-v5, Hopper-v5, Swimmer-v5 and Walker2d-v5 as they come,
but for Ant's contact forces, which are left out of what is observed (27 numbers, as in the papers).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

import numpy as np

from rolecast.core.errors import ConfigError
from rolecast.core.types import Float

NO_BOUNDS: Final = (-np.inf, np.inf)


@dataclass(frozen=True, kw_only=True)
class Robot:
    """One body and the rules of its task."""

    asset: str
    """Model file among Gymnasium's."""

    reference: str
    """Id of the environment that it equals."""

    root: tuple[int, int]
    """Positions and velocities of the root, before those of the joints."""

    joints: int
    """Hinges, one motor each."""

    segments: int = 0
    """Segments of a body that is generated; 0 for the model file as it is."""

    frame_skip: int
    """Steps of the simulator in one step of the task."""

    hidden_positions: int
    """Positions at the front that a single agent does not observe: where the body is."""

    start_noise: float
    """Starts are uniform in +- this round the model's own positions and velocities."""

    normal_velocities: bool = False
    """Whether velocities of a start are normal instead, with this as standard deviation."""

    observed_speed: float = np.inf
    """Velocities are observed clipped to +- this."""

    healthy_reward: float = 0.0
    """Paid for a step after which the body is healthy."""

    control_cost: float
    """Weight of the sum of squared actions."""

    contact_cost: float = 0.0
    """Weight of the sum of squared contact forces, each clipped to [-1, 1]."""

    height: tuple[int, float, float] | None = None
    """Position number, and the open range outside which the body has fallen."""

    angle: tuple[float, float] = NO_BOUNDS
    """Open range of position 2, the trunk's angle; used where `height` is."""

    state_limit: float = np.inf
    """All positions from number 2, and all velocities, must stay below this in size."""

    @property
    def positions(self) -> int:
        """Number of positions, nq."""
        return self.root[0] + self.joints

    @property
    def velocities(self) -> int:
        """Number of velocities, nv."""
        return self.root[1] + self.joints

    @property
    def mortal(self) -> bool:
        """Whether an episode ends where the body is not healthy."""
        return self.height is not None

    def healthy_range(self) -> tuple[Float, Float]:
        """Return the open ranges [nq + nv], low and high, of positions and velocities."""
        high = np.full(self.positions + self.velocities, np.inf)
        high[2:] = self.state_limit
        low = -high
        if self.height is not None:
            column, floor, ceiling = self.height
            low[column], high[column] = floor, ceiling
            low[2], high[2] = max(low[2], self.angle[0]), min(high[2], self.angle[1])
        return low, high


ROBOT_MODELS: Final[Mapping[str, Robot]] = MappingProxyType(
    {
        "ant": Robot(
            asset="ant.xml",
            reference="Ant-v5",
            root=(7, 6),
            joints=8,
            frame_skip=5,
            hidden_positions=2,
            start_noise=0.1,
            normal_velocities=True,
            healthy_reward=1.0,
            control_cost=0.5,
            contact_cost=5e-4,
            # Gymnasium's range is closed here, and open for the two others.
            height=(2, float(np.nextafter(0.2, 0.0)), float(np.nextafter(1.0, 2.0))),
        ),
        "hopper": Robot(
            asset="hopper.xml",
            reference="Hopper-v5",
            root=(3, 3),
            joints=3,
            frame_skip=4,
            hidden_positions=1,
            start_noise=5e-3,
            observed_speed=10.0,
            healthy_reward=1.0,
            control_cost=1e-3,
            height=(1, 0.7, np.inf),
            angle=(-0.2, 0.2),
            state_limit=100.0,
        ),
        "swimmer": Robot(
            asset="swimmer.xml",
            reference="Swimmer-v5",
            root=(3, 3),
            joints=2,
            frame_skip=4,
            hidden_positions=2,
            start_noise=0.1,
            control_cost=1e-4,
        ),
        "walker2d": Robot(
            asset="walker2d_v5.xml",
            reference="Walker2d-v5",
            root=(3, 3),
            joints=6,
            frame_skip=4,
            hidden_positions=1,
            start_noise=5e-3,
            observed_speed=10.0,
            healthy_reward=1.0,
            control_cost=1e-3,
            height=(1, 0.8, 2.0),
            angle=(-1.0, 1.0),
        ),
    }
)
"""By name."""

JOINTS_OF_SEGMENT: Final[Mapping[str, int]] = MappingProxyType({"ant": 4, "swimmer": 1})
"""Hinges in each segment of a body that can have many."""

FEWEST_SEGMENTS: Final = 2


def segmented(name: str, segments: int) -> Robot:
    """Return the body "ant" or "swimmer" with that many segments.

    Raises:
        ConfigError: segments is no integer of at least 2.
    """
    if type(segments) is not int or segments < FEWEST_SEGMENTS:
        raise ConfigError(
            f"N of task 'manyagent_{name}_N'", segments, f"an integer >= {FEWEST_SEGMENTS}"
        )
    return replace(ROBOT_MODELS[name], segments=segments, joints=segments * JOINTS_OF_SEGMENT[name])
