"""The tables of a run as pandas frames."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa

from rolecast.platform.search.records.history import Batch, history_table, incumbents_table
from rolecast.platform.search.records.run_folder import RunFolder


def read_history(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Return the history of a run, one row an evaluation, also while the run goes on.

    Args:
        path: folder of the run.
    Raises:
        RequestError: no run is there, it is damaged, or of another schema.
    """
    folder = RunFolder.open(Path(path))
    return _frame(folder, history_table)


def read_incumbents(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Return the incumbents of a run, one row a batch; else as `read_history`."""
    return _frame(RunFolder.open(Path(path)), incumbents_table)


def _frame(folder: RunFolder, table: Callable[[Sequence[Batch]], pa.Table]) -> pd.DataFrame:
    frame: pd.DataFrame = table(folder.read_batches()).to_pandas()
    return frame
