"""Samples joint transitions from B episodes that run side by side, and begin anew as they end."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rolecast.baselines.rllib.episodes import (
    Episodes,
    Flags,
    Step,
    episodes_of,
    state_size_of,
)
from rolecast.baselines.rllib.transitions import (
    COLUMN_NAMES,
    EndedEpisode,
    Fragment,
    StepsFragment,
    Transitions,
)
from rolecast.core.errors import RunError
from rolecast.core.types import Float, Float32, Seeds
from rolecast.envs.spec import BatchedTask

Act = Callable[[Float32, Float32], Float32]
"""Maps observations [B, n, do] and a memory [B, n, da] to actions [B, n, da] in [-1, 1]. The memory
is zero at the start of an episode; correlated noise keeps its state there."""

_SEED_FAMILY: Final = 0x6C656172
"""Keeps the seeds of training episodes apart from those of a search and of held-out episodes."""


class Sampler:
    """B running episodes, and the state to continue them elsewhere.

    Seeds of episodes follow from the stream and from how many have begun before, never from time.
    Each step raises `RunError` where a task pays or shows what is not finite in float32, so that
    this reaches neither a replay nor a checkpoint.
    """

    def __init__(
        self, task: BatchedTask, batch: int, stream: tuple[int, ...], *, states: bool = False
    ) -> None:
        """Prepare; the first episodes begin with the first step.

        Args:
            task: belongs to this sampler from now on.
            batch: B, episodes side by side.
            stream: integers >= 0 that tell this sampler's seeds from those of others: root seed,
                runner, its life, and what else.
            states: whether transitions have the task's states.
        """
        self.spec = task.spec
        self._episodes: Episodes = episodes_of(task)
        self._stream = stream
        self._state_size = state_size_of(task) if states else 0
        self._shape = (batch, self.spec.agents, self.spec.action_size)
        self._resting: Flags = np.zeros(batch, dtype=np.bool_)
        self._running = False
        self._begun = 0

    def forget(self) -> None:
        """Drop the running episodes; new ones begin with the next step."""
        self._running = False

    def record(self, act: Act, steps: int) -> StepsFragment:
        """Advance all episodes by some steps; return all of them in their order.

        Args:
            act: chooses actions.
            steps: T >= 1.
        """
        spec, (batch, *_) = self.spec, self._shape
        shapes = {
            "observations": (spec.agents, spec.observation_size),
            "actions": (spec.agents, spec.action_size),
            "rewards": (spec.agents,),
            "next_observations": (spec.agents, spec.observation_size),
            "states": (self._state_size,),
            "next_states": (self._state_size,),
            "terminated": (),
            "ended": (),
            "live": (),
        }
        samples = {
            name: np.empty((steps, batch, *shape), dtype=np.float32)
            for name, shape in shapes.items()
        }
        ended: list[EndedEpisode] = []
        for t in range(steps):
            self._ensure_running()
            live = ~self._resting
            samples["observations"][t] = self._observations
            samples["states"][t] = self._states()
            step, actions = self._advance(act)
            over = live & step.done
            for name, rows in (
                ("actions", actions),
                ("rewards", step.rewards),
                ("next_observations", step.observations),
                ("next_states", self._states()),
                ("terminated", step.terminated),
                ("ended", over | ~live),
                ("live", live),
            ):
                samples[name][t] = rows
            ended += [episode for _, episode in self._end(over)]
        return StepsFragment(samples=samples, ended=ended)

    def collect(self, act: Act, steps: int) -> Fragment:
        """Advance all episodes by some steps; return transitions.

        Args:
            act: chooses actions.
            steps: T >= 1. There are T B transitions, or fewer where a task begins episodes together
                and some wait.
        """
        found = self.record(act, steps)
        live = found.samples["live"] > 0.0
        columns = {name: found.samples[name] for name in COLUMN_NAMES}
        rows = {
            name: column.reshape(live.size, *column.shape[2:]) if live.all() else column[live]
            for name, column in columns.items()
        }
        return Fragment(transitions=Transitions(**rows), ended=found.ended)

    def play(self, act: Act, count: int) -> list[EndedEpisode]:
        """Run whole new episodes, `count` in all.

        Each of the B rows runs its share, so that short episodes do not count more than long ones.
        """
        batch = self._shape[0]
        share = np.full(batch, count // batch) + (np.arange(batch) < count % batch)
        played: list[EndedEpisode] = []
        self.forget()
        while share.any():
            self._ensure_running()
            live = ~self._resting
            step, _ = self._advance(act)
            for row, episode in self._end(live & step.done):
                if share[row]:
                    share[row] -= 1
                    played.append(episode)
        self.forget()
        return played

    def get_state(self) -> dict[str, Any]:
        """Return what `set_state` needs: counts, and seeds and actions of the running episodes.

        A simulator cannot be saved, but an episode is a function of its seed and its actions.
        """
        state: dict[str, Any] = {
            "life": self._stream[2],
            "begun": self._begun,
            "running": self._running,
        }
        if self._running:
            longest = int(self._lengths.max())
            state |= {
                "seeds": self._seeds.copy(),
                "lengths": self._lengths.copy(),
                "resting": self._resting.copy(),
                "actions": self._actions[:, :longest].copy(),
                "memory": self._memory.copy(),
            }
        return state

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Continue the episodes of another sampler of the same task and B by playing them again.

        Each begins so late that all reach their present step together.
        """
        self._stream = (*self._stream[:2], int(state.get("life", 0)), *self._stream[3:])
        self._begun, self._running = int(state["begun"]), bool(state["running"])
        if not self._running:
            return
        self._begin(state["seeds"])
        lengths = np.asarray(state["lengths"])
        longest = int(lengths.max())
        late = longest - lengths if self._episodes.can_restart else np.zeros_like(lengths)
        for t in range(longest):
            rows = np.flatnonzero((late == t) & (late > 0))
            if rows.size:
                self._restart(rows, self._seeds[rows])
            at = np.clip(t - late, 0, None)
            actions = state["actions"][np.arange(len(late)), at]
            played = (t >= late) & (t - late < lengths)
            step = self._take(np.where((t >= late)[:, None, None], actions, 0.0), played)
            self._observations = step.observations
        begins = np.flatnonzero((lengths == 0) & (late > 0))
        if begins.size:
            self._restart(begins, self._seeds[begins])
        self._resting, self._memory = state["resting"].copy(), state["memory"].copy()

    def begin_life(self, life: int) -> None:
        """Use other seeds from here on: earlier ones may have been played already."""
        self._stream = (*self._stream[:2], life, *self._stream[3:])
        self._begun = 0
        self.forget()

    def _ensure_running(self) -> None:
        """Begin all episodes where none runs, or all wait for each other."""
        if not self._running or self._resting.all():
            self._begin(self._draw_seeds(self._shape[0]))
            self._running = True

    def _begin(self, seeds: Seeds) -> None:
        batch = self._shape[0]
        self._seeds = np.array(seeds, dtype=np.uint64)
        self._observations = self._episodes.begin(self._seeds)
        self._resting = np.zeros(batch, dtype=np.bool_)
        self._lengths = np.zeros(batch, dtype=np.int64)
        self._earned, self._paid = np.zeros(batch), np.zeros(batch)
        self._memory = np.zeros(self._shape, dtype=np.float32)
        self._actions = np.zeros((batch, self.spec.horizon, *self._shape[1:]), dtype=np.float32)
        self._require_finite("showed", self._observations, "observations", np.arange(batch))

    def _restart(self, rows: np.ndarray[tuple[int], np.dtype[np.int64]], seeds: Seeds) -> None:
        self._seeds[rows] = seeds
        self._observations = self._episodes.restart(rows, seeds)
        self._lengths[rows] = 0
        self._earned[rows] = self._paid[rows] = 0.0
        self._memory[rows] = 0.0
        self._require_finite("showed", self._observations, "observations", rows)

    def _advance(self, act: Act) -> tuple[Step, Float32]:
        """Take one step with actions [B, n, da] of `act`; return them too."""
        actions = act(self._observations, self._memory)
        step = self._take(actions, ~self._resting)
        self._observations = step.observations
        return step, actions

    def _states(self) -> Float32:
        """Return the present states [B, S], S 0 where they are not asked for."""
        if not self._state_size:
            return np.empty((self._shape[0], 0), dtype=np.float32)
        states = self._episodes.state()
        self._require_finite("showed", states, "states", np.flatnonzero(~self._resting))
        return states

    def _require_finite(
        self, verb: str, values: Float | Float32, noun: str, rows: NDArray[np.int64]
    ) -> None:
        """Refuse values [B, ...] of the last step or reset that are not finite, in some rows.

        Rows of episodes that have ended, or are not played yet, say nothing.
        """
        finite = np.isfinite(values)
        if finite.all() or finite[rows].all():
            return
        first, *within = np.argwhere(~finite[rows])[0].tolist()
        place = (int(rows[first]), *within)
        steps, seed = int(self._lengths[place[0]]), int(self._seeds[place[0]])
        where = f"step {steps}" if steps else "the reset"
        raise RunError(
            f"task {self.spec.id!r} {verb} {values[place]} in {where} of the episode of seed "
            f"{seed}; expected {noun} that are finite in float32"
        )

    def _take(self, actions: Float32, played: Flags) -> Step:
        """Take one step, and record its actions and rewards.

        Args:
            actions: [B, n, da].
            played: [B], whose step belongs to an episode; what others bring is dropped.
        """
        live = np.flatnonzero(~self._resting)
        room = np.minimum(self._lengths[live], self.spec.horizon - 1)
        self._actions[live, room] = actions[live]
        step = self._episodes.step(actions)
        self._lengths[live] += 1
        rows = np.flatnonzero(played & ~self._resting)
        self._require_finite("paid", step.earned, "rewards", rows)
        self._require_finite("paid", step.rewards, "rewards", rows)
        self._require_finite("showed", step.observations, "observations", rows)
        self._earned += step.earned
        self._paid += step.paid
        return step

    def _end(self, over: Flags) -> list[tuple[int, EndedEpisode]]:
        """Report the episodes that have just ended, and begin anew in their rows."""
        if not over.any():
            return []
        rows = np.flatnonzero(over)
        ended = [
            (
                row,
                EndedEpisode(
                    earned=float(self._earned[row]),
                    paid=float(self._paid[row]),
                    steps=int(self._lengths[row]),
                ),
            )
            for row in rows.tolist()
        ]
        if self._episodes.can_restart:
            self._restart(rows, self._draw_seeds(rows.size))
        else:
            self._resting = self._resting | over
        return ended

    def _draw_seeds(self, count: int) -> Seeds:
        """Return the seeds of the next episodes."""
        sequence = np.random.SeedSequence((_SEED_FAMILY, *self._stream), spawn_key=(self._begun,))
        self._begun += count
        return np.asarray(sequence.generate_state(count, dtype=np.uint64), dtype=np.uint64)
