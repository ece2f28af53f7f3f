"""Robots: sizes, rewards, ends of episodes, and the spread of starts.

Source: Gymnasium 1.2, environments Ant-v5, Hopper-v5, Swimmer-v5 and Walker2d-v5. Differs: contact
forces of Ant are not observed (27 numbers, as in the papers).
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
    """Body and rules of one task."""

    asset: str
    """Model file of Gymnasium."""

    reference: str
    """Id of the equal environment of Gymnasium."""

    root: tuple[int, int]
    """Number of positions and velocities of the root, before those of the joints."""

    joints: int
    """Number of hinges, one motor each."""

    segments: int = 0
    """Number of segments of a generated body; 0 for the model file."""

    frame_skip: int
    """Simulator steps in one step of the task."""

    hidden_positions: int
    """Number of first positions that a single agent does not observe: the body's place."""

    start_noise: float
    """Half width of uniform starts round the positions and velocities of the model."""

    normal_velocities: bool = False
    """Whether start velocities are normal instead, with `start_noise` as standard deviation."""

    observed_speed: float = np.inf
    """Bound of the observed velocities, which are clipped."""

    healthy_reward: float = 0.0
    """Reward of a step after which the body is healthy."""

    control_cost: float
    """Weight of the sum of squared actions."""

    contact_cost: float = 0.0
    """Weight of the sum of squared contact forces, each clipped to [-1, 1]."""

    height: tuple[int, float, float] | None = None
    """Position index of the height, and its open range for a healthy body."""

    angle: tuple[float, float] = NO_BOUNDS
    """Open range of position 2, the angle of the trunk; used together with `height`."""

    state_limit: float = np.inf
    """Bound of the absolute positions from index 2 on, and of the absolute velocities."""

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
        """Whether an episode ends when the body is not healthy."""
        return self.height is not None

    @property
    def pays_survival(self) -> bool:
        """Whether rewards have a part for a healthy body: a survival bonus."""
        return self.mortal and self.healthy_reward != 0.0

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
"""Robots by name."""

JOINTS_OF_SEGMENT: Final[Mapping[str, int]] = MappingProxyType({"ant": 4, "swimmer": 1})
"""Hinges in each segment of a chain."""

FEWEST_SEGMENTS: Final = 2


def segmented(name: str, segments: int) -> Robot:
    """Return the body "ant" or "swimmer" with a number of segments.

    Raises:
        ConfigError: segments is no integer of at least 2.
    """
    if type(segments) is not int or segments < FEWEST_SEGMENTS:
        raise ConfigError(
            f"N of task 'manyagent_{name}_N'", segments, f"an integer >= {FEWEST_SEGMENTS}"
        )
    return replace(ROBOT_MODELS[name], segments=segments, joints=segments * JOINTS_OF_SEGMENT[name])
