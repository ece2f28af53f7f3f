"""Start states of episodes, drawn from the seed of each alone."""

import numpy as np

from rolecast.core.counter_random import UInt32, draw, symmetric_uniform
from rolecast.core.types import Float
from rolecast.envs.mujoco.robots import Robot


def start_states(robot: Robot, rest: Float, keys: tuple[UInt32, UInt32]) -> tuple[Float, Float]:
    """Return random positions and velocities of starts.

    Args:
        robot: the body.
        rest: [nq], positions of the model file, with velocities 0.
        keys: two keys [B], from `episode_keys`.
    Returns:
        Positions [B, nq] and velocities [B, nv].
    Source: `reset_model` of Gymnasium's environments. Differs: in the generator alone.
    """
    first, second = (key[:, None] for key in keys)

    def bits(start: int, count: int) -> UInt32:
        return draw(first, second, np.arange(start, start + count, dtype=np.uint32)[None])

    scale, count = robot.start_noise, robot.velocities
    positions = rest + scale * symmetric_uniform(bits(0, robot.positions))
    if robot.normal_velocities:
        radius, turn = (bits(robot.positions + half * count, count) for half in range(2))
        return positions, scale * _normal(radius, turn)
    return positions, scale * symmetric_uniform(bits(robot.positions, count))


def _normal(radius: UInt32, turn: UInt32) -> Float:
    """Return standard normal numbers by the transform of Box and Muller (1958).

    z = sqrt(-2 log u_1) cos(2 pi u_2).
    """
    share = (radius.astype(np.float64) + 0.5) * 2.0**-32
    return np.asarray(np.sqrt(-2.0 * np.log(share)) * np.cos(np.pi * symmetric_uniform(turn)))
