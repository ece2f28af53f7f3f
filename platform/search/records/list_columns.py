"""Columns of lists: the matrices of all batches, row by row, in one column of a table."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rolecast.core.types import Float


def list_column(parts: Sequence[Float]) -> pa.Array:
    """Return the rows of matrices [., K], each of its own K, as one column of lists."""
    sizes = np.repeat([part.shape[1] for part in parts], [len(part) for part in parts])
    offsets = np.append(0, sizes).cumsum(dtype=np.int32)
    return pa.ListArray.from_arrays(
        pa.array(offsets), np.concatenate([np.zeros(0), *(part.ravel() for part in parts)])
    )


def matrices(column: pa.ChunkedArray, parts: Sequence[slice]) -> list[Float]:
    """Undo `list_column`, where these rows were a matrix each."""
    lists = column.combine_chunks()
    values = lists.flatten().to_numpy(zero_copy_only=False).astype(np.float64)
    ends = np.append(0, pc.list_value_length(lists).to_numpy(zero_copy_only=False)).cumsum()
    return [
        values[ends[part.start] : ends[part.stop]].reshape(part.stop - part.start, -1)
        for part in parts
    ]
