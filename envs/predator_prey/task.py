"""Predator-prey as a batched task, with public state for scripts and renderers."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from rolecast.core.counter_random import episode_keys
from rolecast.core.errors import stepped_outside
from rolecast.core.types import Float, Seeds
from rolecast.envs.actions import checked_actions
from rolecast.envs.ids import format_id
from rolecast.envs.predator_prey.observation import observation_size, observe
from rolecast.envs.predator_prey.physics import (
    PredatorPreyParameters,
    parameters,
    start_positions,
    transition,
)
from rolecast.envs.predator_prey.prey import prey_policy
from rolecast.envs.predator_prey.symmetry import symmetries
from rolecast.envs.spec import BrowserWorld, TaskSpec

if TYPE_CHECKING:
    from rolecast.envs.predator_prey.physics_fused import PredatorPreyLanes

DEFAULT_VIEW: Final = 1.5
"""View radius of the source."""


class PredatorPreyTask:
    """Predator-prey with n predators and n / 3 scripted prey, over B parallel episodes; float64."""

    params: PredatorPreyParameters
    """Parameters of the world."""

    seeds: Seeds
    """Seeds [B] of the running episodes."""

    positions: Float
    """Current positions [B, m, 2] of predators, prey, landmarks."""

    velocities: Float
    """Current velocities [B, n + k, 2]."""

    steps: int
    """Steps taken in the running episodes, all of equal length."""

    def __init__(
        self,
        n: int,
        *,
        heterogeneous: bool = False,
        observation: str = "nearest16",
        task_seed: int = 0,
        capture: int = 1,
        view: float = 1.5,
        scout: int = 0,
    ) -> None:
        """Set up the task; it runs after `reset`.

        Args:
            n: predators, a multiple of 3.
            heterogeneous: predators differ in speed and acceleration.
            observation: one of `OBSERVATION_VARIANTS`.
            task_seed: seed of the order of the speed factors, for heterogeneous predators.
            capture: predators that must touch the same prey in a step, for a touch to pay.
            view: maximum distance of observed entities.
            scout: number of predators, the first ones, that observe the prey; 0: all do.

        Raises:
            RequestError: a setting is out of its range.
        """
        self.params = parameters(
            n,
            heterogeneous=heterogeneous,
            task_seed=task_seed,
            capture=capture,
            view=view,
            scout=scout,
        )
        self.observation = observation
        size = observation_size(self.params, observation)
        options: dict[str, str | float] = {}
        if observation != "nearest16":
            options["observation"] = observation
        kind = ""
        if heterogeneous:
            kind = " of unequal speed and acceleration"
            if task_seed:
                options["task_seed"] = task_seed
        params = self.params
        rules = ""
        if params.capture > 1:
            options["capture"] = capture
            rules += f", {capture} at a time"
        if params.view_radius != DEFAULT_VIEW:
            options["view"] = int(view) if view == int(view) else view
            rules += f", seeing {view:g} far"
        if params.scouts:
            options["scout"] = scout
            rules += f"; {'one sees' if scout == 1 else f'{scout} see'} the prey"
        ours = ["speeds"] * heterogeneous + ["rules"] * bool(rules)
        self._spec = TaskSpec(
            id=format_id(f"{'het_' if heterogeneous else ''}pred_prey_{n}", options),
            agents=n,
            observation_size=size,
            action_size=2,
            horizon=params.horizon,
            summary=f"{n} predators{kind} hunt {params.prey} scripted prey among obstacles" + rules,
            source="FACMAC, Peng et al. 2021" + (f" ({' and '.join(ours)}: ours)" if ours else ""),
            homogeneous_agents=not heterogeneous and not params.scouts,
            role_net_in_table3=False,
            symmetries=symmetries(
                params, observation, exchangeable=not heterogeneous and not params.scouts
            ),
        )
        self.close()

    @property
    def spec(self) -> TaskSpec:
        """Sizes of the task."""
        return self._spec

    def reset(self, seeds: Seeds) -> Float:
        """Begin B episodes; return observations [B, n, do]."""
        self.seeds = np.asarray(seeds, dtype=np.uint64)
        self._keys = episode_keys(self.seeds)
        self.positions = start_positions(self.params, self._keys)
        self.velocities = np.zeros((self.seeds.size, self.params.movers, 2))
        self.steps = 0
        return self._observe()

    def step(self, actions: Float) -> tuple[Float, Float, NDArray[np.bool_], Mapping[str, Float]]:
        """Advance all episodes by one step; see `BatchedTask.step`.

        Raises:
            RequestError: no episode has begun, or actions have a wrong shape or are not finite.
        """
        batch, params = self.seeds.size, self.params
        if not batch:
            raise stepped_outside(self.spec.id)
        actions = checked_actions(self.spec, actions, batch, self.steps)
        reward = np.zeros(batch)
        if self.steps < params.horizon:
            forces = prey_policy(params, self.positions, self._keys, self.steps)
            self.positions, self.velocities, reward = transition(
                params, self.positions, self.velocities, actions, forces
            )
            self.steps += 1
        done = np.full(batch, self.steps >= params.horizon)
        return self._observe(), reward, done, {}

    def lanes(self) -> "PredatorPreyLanes":
        """Return the compiled form."""
        from rolecast.envs.predator_prey.physics_fused import PredatorPreyLanes

        return PredatorPreyLanes(self.params, self.observation)

    def browser_world(self) -> BrowserWorld:
        """Return the world of a page, in which a policy plays."""
        from rolecast.envs.predator_prey.browser import browser_world  # loads the compiled task

        return browser_world(self.params, self.observation)

    def frame(self, episode: int = 0) -> NDArray[np.uint8]:
        """Return a picture [H, W, 3] of the current state of one episode."""
        still = self.snapshot(episode)[None]
        return self.draw_moment(still, np.zeros(0), 0, f"step {self.steps}")

    def snapshot(self, episode: int) -> Float:
        """Return the current positions [m, 2] of an episode."""
        positions: Float = self.positions[episode].copy()
        return positions

    def draw_moment(
        self, snapshots: Float, rewards: Float, step: int, title: str
    ) -> NDArray[np.uint8]:
        """Return a picture [H, W, 3] with trails; see `rolecast.envs.spec.DrawsEpisodes`."""
        from rolecast.envs.predator_prey.hunt import Hunt, draw_frame  # loads a drawing library

        predators, movers = self.params.predators, self.params.movers
        sizes = self.params.predator_size, self.params.prey_size, self.params.landmark_size
        hunt = Hunt(
            predators=snapshots[:, :predators],
            prey=snapshots[:, predators:movers],
            landmarks=snapshots[0, movers:],
            rewards=rewards,
            sizes=sizes,
        )
        return np.asarray(draw_frame(hunt, step, title))

    def close(self) -> None:
        """Release the running episodes."""
        self.seeds = np.zeros(0, dtype=np.uint64)
        self.positions = np.zeros((0, self.params.entities, 2))
        self.velocities = np.zeros((0, self.params.movers, 2))
        self.steps = 0

    def _observe(self) -> Float:
        return observe(self.params, self.positions, self.velocities, self.observation)
