"""Scripted policies without parameters, as yardsticks: random actions and simple rules."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from rolecast.core.counter_random import UInt32, draw, episode_keys, symmetric_uniform
from rolecast.core.errors import RequestError, RunError, unknown_name
from rolecast.core.types import BATCHED_LANES, COMPILED_LANES, Float, Seeds
from rolecast.envs.drone_delivery.expert import expert_actions
from rolecast.envs.drone_delivery.task import DroneDeliveryTask
from rolecast.envs.predator_prey.task import DEFAULT_VIEW, PredatorPreyTask
from rolecast.envs.rewards.task import earned_reward, unwrapped
from rolecast.envs.spec import BatchedTask
from rolecast.envs.still import StillPolicy

FIRST_ACTION_COUNTER: Final = 2**31
"""First counter of the script; smaller ones are for the task."""

_LEAST_NORM: Final = 1e-300
"""Minimum length in a division: the direction to a prey at the same point is zero."""

PINCER_REACH: Final = 0.2
"""Distance of a prey within which the first predator of a pincer waits."""

PINCER_GAP: Final = 0.1
"""Distance by which the second may be farther without being waited for."""

T = TypeVar("T")


class ScriptedPolicy(Protocol):
    """Scripted policy: a fixed rule from the state of a task to actions."""

    @property
    def summary(self) -> str:
        """Description in one line."""

    def plays(self, task: BatchedTask) -> bool:
        """Return whether the rule fits a task."""

    def act(self, task: BatchedTask, keys: tuple[UInt32, UInt32], step: int) -> Float:
        """Return actions [B, n, da] for the running episodes.

        Args:
            task: task in its current state.
            keys: keys of the B episodes, [B] each, from `episode_keys`.
            step: steps taken before, from 0.
        Raises:
            RequestError: the rule does not fit this task.
        """


class RandomPolicy:
    """Uniform actions in [-1, 1), from the episode's seed and the step alone."""

    summary = "uniformly random actions"

    def plays(self, task: BatchedTask) -> bool:
        """Return True."""
        return True

    def act(self, task: BatchedTask, keys: tuple[UInt32, UInt32], step: int) -> Float:
        """Return actions [B, n, da]."""
        spec = task.spec
        count = spec.agents * spec.action_size
        counters = np.uint32(FIRST_ACTION_COUNTER + step * count) + np.arange(
            count, dtype=np.uint32
        )
        bits = draw(keys[0][:, None], keys[1][:, None], counters)
        return symmetric_uniform(bits).reshape(-1, spec.agents, spec.action_size)


def _nearest_prey(
    task: PredatorPreyTask, known: NDArray[np.bool_] | None = None
) -> tuple[Float, Float]:
    """Return the offset [B, n, 2] to the nearest prey of each predator, and its velocity.

    Args:
        task: in its current state.
        known: [B, n, k], prey among which to look; None for all.
    """
    n, movers = task.params.predators, task.params.movers
    offset = task.positions[:, None, n:movers] - task.positions[:, :n, None]
    squared = np.square(offset).sum(axis=-1)
    if known is not None:
        squared = np.where(known, squared, np.inf)
    nearest = squared.argmin(axis=-1)[..., None, None]
    velocities = np.take_along_axis(task.velocities[:, None, n:movers], nearest, axis=2)
    return np.take_along_axis(offset, nearest, axis=2)[:, :, 0], velocities[:, :, 0]


class ChasePolicy:
    """Full acceleration of each predator towards its nearest prey, at any distance."""

    summary = "each predator runs to its nearest prey (predator-prey only)"

    def plays(self, task: BatchedTask) -> bool:
        """Return whether there are predators."""
        return isinstance(task, PredatorPreyTask)

    def act(self, task: BatchedTask, keys: tuple[UInt32, UInt32], step: int) -> Float:
        """Return actions [B, n, 2]: the direction over its larger component."""
        task = _require(PredatorPreyTask, task, "chase", "a predator-prey task")
        direction, _ = _nearest_prey(task)
        largest = np.abs(direction).max(axis=-1, keepdims=True)
        return np.asarray(direction / np.maximum(largest, _LEAST_NORM))


class PursuitPolicy:
    """Damped pursuit with a lead: three numbers for each predator, which knows no team mate.

    a = tanh(10 (d - 0.3 v + 0.45 u)): d the offset to the nearest prey, v the own velocity and u
    that of the prey. The numbers are the best of a grid of 125 on `pred_prey_3`.
    """

    summary = "each predator leads its nearest prey, and brakes (predator-prey only)"

    def plays(self, task: BatchedTask) -> bool:
        """Return whether there are predators."""
        return isinstance(task, PredatorPreyTask)

    def act(self, task: BatchedTask, keys: tuple[UInt32, UInt32], step: int) -> Float:
        """Return actions [B, n, 2]."""
        task = _require(PredatorPreyTask, task, "pursuit", "a predator-prey task")
        return _pursue(task, *_nearest_prey(task))


def _pursue(task: PredatorPreyTask, offset: Float, velocities: Float) -> Float:
    """Return the actions [B, n, 2] of pursuit, for offset and velocity [B, n, 2] of the prey."""
    own = task.velocities[:, : task.params.predators]
    return np.asarray(np.tanh(10.0 * (offset - 0.3 * own + 0.45 * velocities)))


class SightedPursuitPolicy:
    """Pursuit of a prey that the predator observes; without one it brakes.

    Alone it bounds what predators earn without a word. Told, each knows what any of them observes:
    what perfect messages are worth. `pursuit` knows all.
    """

    def __init__(self, *, told: bool) -> None:
        self._told = told
        who = "any predator sees" if told else "the predator itself sees"
        self.summary = f"pursuit of what {who} (predator-prey with a team's rules only)"

    def plays(self, task: BatchedTask) -> bool:
        """Return whether there are predators whose view differs from the source's."""
        return isinstance(task, PredatorPreyTask) and _has_team_rules(task)

    def act(self, task: BatchedTask, keys: tuple[UInt32, UInt32], step: int) -> Float:
        """Return actions [B, n, 2]."""
        name = "told_pursuit" if self._told else "sighted_pursuit"
        task = _require(PredatorPreyTask, task, name, "a predator-prey task")
        n, movers = task.params.predators, task.params.movers
        offset = task.positions[:, None, n:movers] - task.positions[:, :n, None]
        seen = np.square(offset).sum(axis=-1) <= task.params.view_radius**2
        if task.params.scouts:
            seen[:, task.params.scouts :] = False
        if self._told:
            seen |= seen.any(axis=1, keepdims=True)
        towards, velocities = _nearest_prey(task, seen)
        knows = seen.any(axis=-1)[..., None]
        return _pursue(task, *(np.where(knows, each, 0.0) for each in (towards, velocities)))


class PincerPolicy:
    """Pursuit as a team: who is first at a prey waits for the second, if a capture needs two.

    Each predator pursues its nearest prey as `pursuit` does. The nearest of those that pursue the
    same prey brakes within PINCER_REACH of it, while the second is more than PINCER_GAP farther.
    A predator alone in its pursuit does not wait. Reach and gap are the best of a grid on
    `pred_prey_3?capture=2`.
    """

    summary = "pursuit in which the first at a prey waits for the second (team's rules only)"

    def plays(self, task: BatchedTask) -> bool:
        """Return whether there are predators, under rules that make a team of them."""
        return isinstance(task, PredatorPreyTask) and _has_team_rules(task)

    def act(self, task: BatchedTask, keys: tuple[UInt32, UInt32], step: int) -> Float:
        """Return actions [B, n, 2]."""
        task = _require(PredatorPreyTask, task, "pincer", "a predator-prey task")
        n, movers = task.params.predators, task.params.movers
        offset = task.positions[:, None, n:movers] - task.positions[:, :n, None]
        distance = np.sqrt(np.square(offset).sum(axis=-1))
        mine = distance.argmin(axis=-1)
        own = distance.min(axis=-1)
        together = mine[:, :, None] == mine[:, None, :]
        together &= ~np.eye(n, dtype=bool)
        mates = np.where(together, own[:, None, :], np.inf).min(axis=-1)
        gap = np.where(np.isfinite(mates), mates - own, 0.0)
        waits = (own < PINCER_REACH) & (gap > PINCER_GAP) & (task.params.capture > 1)
        towards, velocities = _nearest_prey(task)
        hunting = np.where(waits[..., None], 0.0, 1.0)
        return _pursue(task, hunting * towards, hunting * velocities)


def _has_team_rules(task: PredatorPreyTask) -> bool:
    """Whether an option of the task makes a team of its predators."""
    params = task.params
    return params.capture > 1 or params.scouts > 0 or params.view_radius != DEFAULT_VIEW


class ExpertPolicy:
    """Flight of each drone to its goal, as fast as fuel allows, giving way unless blind.

    The sighted one waits in the middle for a giver that it does not see: what drones earn without
    a word. The others know where their givers are.
    """

    def __init__(self, name: str, summary: str, *, blind: bool = False, told: bool = True) -> None:
        self._name, self._blind, self._told = name, blind, told
        self.summary = f"{summary} (drone delivery{'' if told else ' with hand-overs'} only)"

    def plays(self, task: BatchedTask) -> bool:
        """Return whether there are drones, and hand-overs where it matters who is seen."""
        return isinstance(task, DroneDeliveryTask) and (self._told or task.params.handover)

    def act(self, task: BatchedTask, keys: tuple[UInt32, UInt32], step: int) -> Float:
        """Return actions [B, n, 2]; see `drone_delivery.expert`."""
        task = _require(DroneDeliveryTask, task, self._name, "a drone-delivery task")
        return expert_actions(task.params, task.state, blind=self._blind, told=self._told)


def _require(kind: type[T], task: BatchedTask, name: str, expected: str) -> T:
    """Return the task as the class that a script needs.

    Raises:
        RequestError: it is of another class.
    """
    if not isinstance(task, kind):
        raise RequestError(
            f"scripted policy {name!r} cannot play {task.spec.id!r}; expected {expected}"
        )
    return task


SCRIPTED: Final[Mapping[str, ScriptedPolicy]] = MappingProxyType(
    {
        "blind_expert": ExpertPolicy(
            "blind_expert", "the expert without giving way to others", blind=True
        ),
        "chase": ChasePolicy(),
        "expert": ExpertPolicy("expert", "each drone flies as fuel allows and gives way"),
        "pincer": PincerPolicy(),
        "pursuit": PursuitPolicy(),
        "random": RandomPolicy(),
        "sighted_expert": ExpertPolicy(
            "sighted_expert", "the expert, to the middle while it sees no giver", told=False
        ),
        "sighted_pursuit": SightedPursuitPolicy(told=False),
        "still": StillPolicy(),
        "told_pursuit": SightedPursuitPolicy(told=True),
    }
)
"""Scripted policies by name."""


def rollout_scripted(task: BatchedTask, name: str, seeds: Seeds) -> tuple[Float, NDArray[np.int64]]:
    """Run one whole episode of a scripted policy for each seed.

    Args:
        task: from `make_task`.
        name: one of `SCRIPTED`.
        seeds: [E]; an episode depends on its own seed alone.
    Returns:
        Team returns [E] as earned, for any reward settings, and lengths [E] in steps.
    Raises:
        RequestError: no script has this name, or it does not fit this task.
        RunError: the task paid a return that is not finite.
    """
    if name not in SCRIPTED:
        raise unknown_name("scripted policy", name, SCRIPTED)
    seeds = np.asarray(seeds, dtype=np.uint64)
    chunk = COMPILED_LANES if hasattr(task, "lanes") else BATCHED_LANES
    parts = [
        _run(task, SCRIPTED[name], seeds[start : start + chunk])
        for start in range(0, seeds.size, chunk)
    ]
    returns = np.concatenate([np.zeros(0), *(part[0] for part in parts)])
    lengths = np.concatenate([np.zeros(0, dtype=np.int64), *(part[1] for part in parts)])
    if not np.isfinite(returns).all():
        where = int(np.flatnonzero(~np.isfinite(returns))[0])
        raise RunError(
            f"task {task.spec.id!r} paid a return of {returns[where]} to scripted policy {name!r} "
            f"in the episode of seed {seeds[where]}; expected a finite number"
        )
    return returns, lengths


def _run(
    task: BatchedTask, policy: ScriptedPolicy, seeds: Seeds
) -> tuple[Float, NDArray[np.int64]]:
    """Run B parallel episodes until all are done."""
    keys, below = episode_keys(seeds), unwrapped(task)
    task.reset(seeds)
    returns, lengths = np.zeros(seeds.size), np.zeros(seeds.size, dtype=np.int64)
    done = np.zeros(seeds.size, dtype=bool)
    for step in range(task.spec.horizon):
        lengths += ~done
        _, reward, done, metrics = task.step(policy.act(below, keys, step))
        returns += earned_reward(task, reward, metrics)
        if done.all():
            break
    return returns, lengths
