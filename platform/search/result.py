"""What a finished search found, as a value and as metrics."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rolecast.core.types import Float
from rolecast.platform.search.records.frames import read_history
from rolecast.platform.search.records.run_folder import RunFolder


@dataclass(frozen=True, kw_only=True, eq=False)
class SearchResult:
    """What a finished search found."""

    out: Path
    """Folder of the run."""

    incumbent: Float
    """[D], in the unit cube."""

    test_return: float
    """Mean return of the incumbent on seeds that no search has seen."""

    test_stderr: float | None
    """Its standard error; None for a single episode."""

    summary: Mapping[str, Any]
    """summary.json. `best_return` is a maximum of noisy means, `test_return` the held-out score."""

    @property
    def history(self) -> pd.DataFrame:
        """One row an evaluation."""
        return read_history(self.out)


def held_out_metrics(env_steps: int, mean: float, stderr: float | None) -> dict[str, float]:
    """Return a held-out score as metrics (`METRIC_VOCABULARY`)."""
    error = {} if stderr is None else {"test_return_stderr": stderr}
    return {"env_steps": env_steps, "test_return": mean, **error}


def result_of(folder: RunFolder, incumbent: Float, summary: Mapping[str, Any]) -> SearchResult:
    """Return the result that a summary describes."""
    return SearchResult(
        out=folder.path,
        incumbent=np.array(incumbent),
        test_return=summary["test_return"],
        test_stderr=summary["test_stderr"],
        summary=summary,
    )
