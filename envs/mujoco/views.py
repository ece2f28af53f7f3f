"""Observations and motors of each agent, as columns of the simulator's state.

Source: gymnasium-robotics 1.4, `mamujoco_v1` with its default neighbourhood: an agent's own joints,
its neighbours' joints, and the root. Shorter observations are padded with zeros.

Differs:
- `obs="own"`: positions and velocities of the agent's own joints alone, as the parameter counts of
  the DSS-GP-UCB paper require. The library's swimmer adds a velocity of the root to each joint.
- `manyagent_ant_N`: the library reads the joints of all segments but the last with a wrong offset.
  Some "joints" are then the torso's position. It also swaps the torques of a segment's two legs.
  Here each agent observes and drives its own joints, in their order.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rolecast.core.errors import unknown_name
from rolecast.core.types import Float
from rolecast.envs.mujoco.robots import Robot

Columns = list[int]

OBSERVATION_VIEWS: Final = ("local", "own")
"""Values of the option `obs` of tasks with several agents."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Columns of one row [positions, velocities, contact forces of each body, a zero] [F]."""

    seen: NDArray[np.intp]
    """Observed columns [n, do] of each agent; -1 is the zero."""

    limit: Float
    """Bounds [n, do] of the observations, which are clipped; infinite for none."""

    moved: NDArray[np.intp]
    """Motors [n, da] of the actions."""

    def observe(self, state: Float) -> Float:
        """Return observations [B, n, do] of rows [B, F]."""
        from rolecast.envs.mujoco.step_fused import View, observe_all

        observations = np.empty((len(state), *self.seen.shape))
        observe_all(View(self.seen, self.limit), state, observations)
        return observations

    def torques(self, actions: Float) -> Float:
        """Return the motors' inputs [B, nu] of actions [B, n, da]."""
        inputs = np.empty((len(actions), self.moved.size))
        inputs[:, self.moved.ravel()] = actions.reshape(len(actions), -1)
        return inputs


@dataclass(frozen=True)
class _Body:
    """Columns of the simulator's state by quantity."""

    robot: Robot

    def p(self, *numbers: int) -> Columns:
        """Positions."""
        return list(numbers)

    def v(self, *numbers: int) -> Columns:
        """Velocities."""
        return [self.robot.positions + number for number in numbers]

    def angle(self, *joints: int) -> Columns:
        """Positions of joints."""
        return [self.robot.root[0] + joint for joint in joints]

    def hinge(self, *joints: int) -> Columns:
        """Position, then velocity, of each joint."""
        return [
            column
            for joint in joints
            for column in (*self.angle(joint), *self.v(self.robot.root[1] + joint))
        ]

    def f(self, *bodies: int) -> Columns:
        """Six contact forces and torques of each body."""
        first = self.robot.positions + self.robot.velocities
        return [first + 6 * body + axis for body in bodies for axis in range(6)]


def layout(robot: Robot, split: str, obs: str) -> Layout:
    """Return the observed columns and the motors of each agent.

    Args:
        robot: the body.
        split: "whole" (one agent), "4x2", "3x1", "2x1", "2x3", or "segments".
        obs: "local" or "own"; a single agent observes the whole body.

    Raises:
        RequestError: obs does not exist.
    """
    if obs not in OBSERVATION_VIEWS:
        raise unknown_name("obs", str(obs), OBSERVATION_VIEWS)
    body = _Body(robot)
    if split == "whole":
        position = range(robot.hidden_positions, robot.positions)
        seen = [body.p(*position) + body.v(*range(robot.velocities))]
        moved = [list(range(robot.joints))]
    else:
        divide = {
            ("4x2", 0): _ant,
            ("3x1", 0): _hopper,
            ("2x1", 0): _swimmer,
            ("2x3", 0): _walker2d,
            ("segments", 4): _ant_segments,
            ("segments", 1): _swimmer_segments,
        }[split, robot.joints // robot.segments if robot.segments else 0]
        parts = divide(body)
        seen = [own if obs == "own" else local for own, local, _ in parts]
        moved = [motors for *_, motors in parts]
    size = max(map(len, seen))
    padded = [columns + [-1] * (size - len(columns)) for columns in seen]
    chosen = np.array(padded, dtype=np.intp)
    kind = np.searchsorted([robot.positions, robot.positions + robot.velocities], chosen, "right")
    limits = np.array([np.inf, robot.observed_speed, 1.0])  # of positions, velocities, forces
    return Layout(seen=chosen, limit=limits[kind], moved=np.array(moved, dtype=np.intp))


_Part = tuple[Columns, Columns, list[int]]
"""Columns of `own`, of `local`, and motors of one agent."""


def _ant(body: _Body) -> list[_Part]:
    """Return the parts of four legs: hip and ankle each."""
    parts = []
    root = body.p(*range(2, 7)) + body.v(*range(6))
    for leg in range(4):
        hip, ankle, part = 2 * leg, 2 * leg + 1, 2 + 3 * leg
        others = [2 * other for other in range(4) if other != leg]
        local = body.hinge(ankle) + body.f(part, part + 1, part + 2) + body.hinge(hip) + body.f(1)
        local += body.angle(*others) + root
        motors = [(2 * leg + 2) % 8, (2 * leg + 3) % 8]  # the file's motors begin with leg 4
        parts.append((body.hinge(ankle, hip), local, motors))
    return parts


def _hopper(body: _Body) -> list[_Part]:
    """Return the parts of thigh, leg and foot; each observes the neighbouring joints."""
    root = body.p(1, 2) + body.v(0, 1, 2)
    return [
        (body.hinge(joint), body.hinge(joint) + body.angle(*beside) + root, [joint])
        for joint, beside in enumerate([(1,), (2, 0), (1,)])
    ]


def _swimmer(body: _Body) -> list[_Part]:
    """Return the parts of two joints; each also observes one velocity of the root."""
    return [
        (
            body.hinge(joint),
            body.angle(joint)
            + body.v(joint, 3 + joint)
            + body.angle(1 - joint)
            + [*body.p(2), *body.v(2)],
            [joint],
        )
        for joint in range(2)
    ]


def _walker2d(body: _Body) -> list[_Part]:
    """Return the parts of both legs, foot to thigh; each observes the other's thigh."""
    root = body.p(1, 2) + body.v(0, 1, 2)
    legs = ([2, 1, 0], [5, 4, 3])
    return [
        (body.hinge(*leg), body.hinge(*leg) + body.angle(other[2]) + root, leg)
        for leg, other in (legs, legs[::-1])
    ]


def _ant_segments(body: _Body) -> list[_Part]:
    """Return the parts of segments of two legs; each observes the hips of the one in front."""
    parts: list[_Part] = []
    root = body.p(*range(2, 7)) + body.v(*range(6))
    for segment in range(body.robot.segments):
        first, trunk = 4 * segment, 1 + 7 * segment
        hip_1, ankle_1, hip_2, ankle_2 = range(first, first + 4)
        local = body.hinge(ankle_1) + body.f(*range(trunk + 1, trunk + 4))
        local += body.hinge(ankle_2) + body.f(*range(trunk + 4, trunk + 7))
        local += body.hinge(hip_1) + body.f(trunk) + body.hinge(hip_2)
        local += body.angle(hip_1 - 4, hip_2 - 4) if segment else []
        own = body.hinge(ankle_1, ankle_2, hip_1, hip_2)
        parts.append((own, local + root, [hip_1, ankle_1, hip_2, ankle_2]))
    return parts


def _swimmer_segments(body: _Body) -> list[_Part]:
    """Return the parts of joints in a row; each observes its neighbours, not the root."""
    count = body.robot.segments
    parts = []
    for joint in range(count):
        beside = [other for other in (joint - 1, joint + 1) if 0 <= other < count]
        beside.sort(key=str)  # the library sorts by name, so that 10 comes before 8
        own = body.hinge(joint)
        parts.append((own, own + body.angle(*beside), [joint]))
    return parts
