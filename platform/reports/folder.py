"""What a report needs of a run: its settings, its history, and its policy at any moment.

A run that is still going on, or was interrupted, has no artefact yet; its policy is then the
incumbent of the last whole batch.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

from rolecast.core.errors import RequestError
from rolecast.core.files import in_shell
from rolecast.core.types import Float
from rolecast.envs.spec import BatchedTask
from rolecast.envs.trust import make_stored_task
from rolecast.platform.reports.curves import Curve
from rolecast.platform.search.records.history import Batch, Kind
from rolecast.platform.search.records.run_folder import RunFolder
from rolecast.policies.artefact import load_policy
from rolecast.policies.certificate import weights_digest
from rolecast.policies.normalisation import ObservationStatistics
from rolecast.policies.protocol import Policy
from rolecast.policies.registry import make_policy

PLAY_FILE: Final = "play.html"
"""Page of `rolecast play` beside a run; its report links it."""

MOST_HEAD_LETTERS: Final = 2000
"""Letters of that page in which it names its policy."""

Scalars = Mapping[str, Sequence[tuple[float, float]]]
"""Name to environment steps and values, in order."""


@dataclass(frozen=True)
class Run:
    """A run as its folder tells it."""

    folder: RunFolder
    """Paths."""

    record: Mapping[str, Any]
    """run.json."""

    batches: list[Batch]
    """All whole batches, at least one, without their candidates but for confirmations."""

    trust: bool = False
    """Whether its task is made though the id may run any code (`envs.trust`)."""

    @classmethod
    def read(cls, path: str | Path, *, trust: bool = False) -> "Run":
        """Read a folder.

        Raises:
            RequestError: no run is there, it is damaged, of a newer schema, or has no batch yet.
        """
        folder = RunFolder.open(path)
        batches = folder.read_batches(candidates=False)
        if not batches:
            again = f"rolecast resume {in_shell(path)}"
            raise RequestError(f"{path} has no evaluation yet; go on with: {again}")
        return cls(folder, folder.read_run(), batches, trust)

    @cached_property
    def task_id(self) -> str:
        """The whole id of the task, options included."""
        return str(self.record["task"]["id"])

    @cached_property
    def told(self) -> Scalars:
        """What the optimiser told of itself."""
        return _optimizer_scalars(self.folder.events_folder)

    def task(self, **options: Any) -> BatchedTask:
        """Make the task again, with further options.

        Raises:
            RequestError: the task was a callable that no id names, is not trusted, or cannot be
                made.
        """
        return make_stored_task(self.task_id, trust=self.trust, **options)

    def policy(self, task: BatchedTask) -> Policy:
        """Make the policy again, with the centre that the search had."""
        described = self.record["policy"]
        return make_policy(described["name"], task, **described["options"])

    def env_steps(self, batch: int = -1) -> int:
        """Return the env steps up to the end of a batch, those of random play included."""
        return self._random_play_steps + self.batches[batch].spent_after.env_steps

    @property
    def _random_play_steps(self) -> int:
        """Env steps in which symmetries were looked for before the first evaluation."""
        return int(self.record["search"].get("random_play_steps", 0))

    @property
    def playable(self) -> bool:
        """Whether a page of `rolecast play` beside the run is of the policy that the run has."""
        page, policy = self.folder.path / PLAY_FILE, self.folder.policy_folder
        if not (page.is_file() and policy.is_dir()) or self.folder.read_summary() is None:
            return False  # the policy of a run that goes on is that of a smaller budget
        with page.open(encoding="utf-8", errors="replace") as text:
            return weights_digest(load_policy(policy).weights) in text.read(MOST_HEAD_LETTERS)

    @property
    def incumbent(self) -> Float:
        """[D], in the unit cube, after the last batch."""
        return self.batches[-1].incumbent

    @property
    def statistics(self) -> ObservationStatistics | None:
        """By which the incumbent normalises observations; None where it does not."""
        return self.batches[-1].statistics

    def curve(self, *kinds: Kind) -> Curve:
        """Return the evaluations of batches of these kinds, in order."""
        chosen = [batch for batch in self.batches if batch.kind in kinds]
        if not chosen:
            none = np.zeros(0)
            return Curve(
                env_steps=none.astype(np.int64),
                returns=none,
                stderrs=none,
                batches=none.astype(np.int64),
            )
        return Curve(
            env_steps=self._random_play_steps
            + np.concatenate([batch.env_steps for batch in chosen]),
            returns=np.concatenate([batch.means for batch in chosen]),
            stderrs=np.concatenate(
                [np.zeros(len(b.means)) if b.stderrs is None else b.stderrs for b in chosen]
            ),
            batches=np.repeat([b.index for b in chosen], [len(b.means) for b in chosen]),
        )


def _optimizer_scalars(folder: Path) -> Scalars:
    """Return `optimizer/NAME` of TensorBoard's events, the latest of each step."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    if not folder.is_dir():
        return {}
    events = EventAccumulator(str(folder), size_guidance={"scalars": 0})
    events.Reload()
    found: dict[str, list[tuple[float, float]]] = {}
    for tag in events.Tags()["scalars"]:
        kind, _, name = tag.partition("/")
        if kind == "optimizer":
            by_step = {float(each.step): float(each.value) for each in events.Scalars(tag)}
            found[name] = sorted(by_step.items())
    return found
