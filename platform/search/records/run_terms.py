"""On what terms a run played, so that its policy is judged on the same."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np

from rolecast.core.errors import RequestError
from rolecast.core.files import in_shell
from rolecast.core.patience import Patience
from rolecast.envs.rewards.task import under_patience
from rolecast.envs.spec import FAILED_EPISODES, BatchedTask
from rolecast.platform.rollout.rollout import Rollout
from rolecast.platform.search.planning.config import recorded_patience
from rolecast.platform.search.records.history import Batch
from rolecast.platform.search.records.run_folder import RunFolder


@dataclass(frozen=True, kw_only=True)
class RunTerms:
    """Patience of a run with its environment, and what its failed episodes count as."""

    patience: Patience | None = None
    """None: calls last as long as they last, and a failed one ends all."""

    lowest: tuple[float, float] = (float("inf"), float("inf"))
    """Lowest return of an episode of the run, as earned and as paid."""

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Return the terms of a finished run; those of no run for another folder.

        Raises:
            RequestError: the run is damaged, or goes on.
        """
        folder = RunFolder(path)
        if not folder.run_file.is_file():
            return cls()
        patience = recorded_patience(folder.read_run()["search"])
        if folder.read_summary() is None:
            raise RequestError(
                f"the policy in {path} is of a smaller budget than the run's; expected a finished "
                f"run (rolecast resume {in_shell(path)}), or {folder.policy_folder} for that policy"
            )
        if not patience.forgives:
            return cls(patience=patience)
        return cls(patience=patience, lowest=lowest_returns(folder.read_batches(candidates=False)))

    @contextmanager
    def apply(self, task: BatchedTask) -> Iterator[None]:
        """Play a task for a while under the patience, if there is one."""
        if self.patience is None:
            yield
            return
        with under_patience(task, self.patience):
            yield

    def settled(self, played: Rollout) -> Rollout:
        """Return episodes of which those that failed count as the lowest of the run and candidate.

        So the return of a candidate does not depend on who plays beside it.

        Args:
            played: whose metrics may have `FAILED_EPISODES` [P, E].
        """
        if FAILED_EPISODES not in played.metrics:
            return played
        failed = played.metrics[FAILED_EPISODES] > 0.0
        earned, paid = (
            np.where(failed, returns.min(1, where=~failed, initial=lowest, keepdims=True), returns)
            for returns, lowest in zip(
                (played.returns, played.observed_returns), self.lowest, strict=True
            )
        )
        return replace(played, returns=earned, observed_returns=paid)


def lowest_returns(batches: Iterable[Batch]) -> tuple[float, float]:
    """Return the lowest return of an episode of any batch, as earned and as paid."""
    earned, paid = zip(
        *((each.episode_returns.min(), each.observed_returns.min()) for each in batches),
        strict=True,
    )
    return float(min(earned)), float(min(paid))
