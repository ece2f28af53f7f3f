"""What a search has seen, batch by batch, and the two tables that others read it from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rolecast.core.encoding import from_bytes, to_bytes
from rolecast.core.errors import RequestError, first_line
from rolecast.core.types import Float
from rolecast.platform.search.planning.budget import Spent
from rolecast.platform.search.records.list_columns import list_column, matrices
from rolecast.policies.normalisation import ObservationStatistics

NODE_PREFIX: Final = "node/"
"""Before the name of a metric, the column of its values."""


class Kind(StrEnum):
    """Why a batch was evaluated."""

    DESIGN = "design"
    """The initial design, from which the policy's structure is found; told, never asked."""

    SEARCH = "search"
    """Candidates that the optimiser asked for."""

    CONFIRM = "confirm"
    """The incumbent and its rivals on fresh episodes; told, never asked."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Batch:
    """One evaluated batch: q candidates of E episodes each."""

    index: int
    """Number of the batch, from 0."""

    kind: Kind
    """Why it was evaluated."""

    first: int
    """Number of its first evaluation."""

    spent: float
    """Share of the budget that was spent before it, as the optimiser was told."""

    candidates: Float
    """[q, D], in the unit cube."""

    episodes_of: np.ndarray[Any, np.dtype[np.int64]]
    """[q], number of the evaluation from which the seeds of its episodes are derived. It is that of
    this evaluation, or of an earlier one of the batch with the same episodes."""

    episode_returns: Float
    """[q, E], as earned: the score, which decides nothing in a search."""

    observed_returns: Float
    """[q, E], as paid by the task's reward settings: what the optimiser is told."""

    env_steps: np.ndarray[Any, np.dtype[np.int64]]
    """[q], cumulative over the search, up to and with each evaluation."""

    wall_time_s: float
    """Seconds of searching when it was done, time between interruption and resume left out."""

    incumbent: Float
    """[D], the incumbent after it."""

    statistics: ObservationStatistics | None = None
    """Statistics of all observations of the search up to and with this batch. The incumbent and the
    next candidates normalise by them. None where the policy does not normalise."""

    nodes: Mapping[str, Float] = field(default_factory=dict)
    """Metric to its values [q, E]: those that an optimiser learns from beside the return."""

    @property
    def means(self) -> Float:
        """[q], mean return of each candidate, as earned."""
        return np.asarray(self.episode_returns.mean(axis=1))

    @property
    def stderrs(self) -> Float | None:
        """[q], standard error of each mean; None where one episode says nothing of it."""
        return standard_errors(self.episode_returns)

    @property
    def observed_means(self) -> Float:
        """[q], mean return of each candidate, as paid."""
        return np.asarray(self.observed_returns.mean(axis=1))

    @property
    def observed_stderrs(self) -> Float | None:
        """[q], its standard error; None as above."""
        return standard_errors(self.observed_returns)

    @property
    def paid_as_earned(self) -> bool:
        """Whether learner and score saw the same returns."""
        return np.array_equal(self.observed_returns, self.episode_returns)

    @property
    def incumbent_returns(self) -> Float:
        """[n], as earned, of the episodes that the incumbent after it had in this batch."""
        rows = (self.candidates == self.incumbent).all(axis=1)
        return np.asarray(self.episode_returns[rows].ravel())

    def without_candidates(self) -> "Batch":
        """Return the batch with NaN for its candidates, one number in their shape.

        A confirmation, a small part of the search, keeps them: they say which one was kept.
        """
        if self.kind is Kind.CONFIRM:
            return self
        return replace(self, candidates=np.broadcast_to(np.nan, self.candidates.shape))

    @property
    def spent_after(self) -> Spent:
        """What the search has used with this batch."""
        return Spent(
            env_steps=int(self.env_steps[-1]), evaluations=self.first + len(self.candidates)
        )

    def spent_with(self, before: Spent) -> Spent:
        """Return what the search has used with this batch, by what it had used before."""
        steps = np.diff(self.env_steps, prepend=before.env_steps)
        return before.after(steps, self.episode_returns.shape[1])

    def to_bytes(self) -> bytes:
        """Encode for the journal."""
        known = None if self.statistics is None else self.statistics.to_json()
        return to_bytes(vars(self) | {"kind": str(self.kind), "statistics": known})

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Decode what `to_bytes` gave; ValueError if it is something else."""
        fields: dict[str, Any] = from_bytes(data)
        if "episodes_of" not in fields:  # of a release before common episodes
            fields["episodes_of"] = fields["first"] + np.arange(len(fields["candidates"]))
        known = fields.get("statistics")  # absent before observations could be normalised
        statistics = None if known is None else ObservationStatistics.from_json(known)
        return cls(**fields | {"kind": Kind(fields["kind"]), "statistics": statistics})


@dataclass(frozen=True, kw_only=True, eq=False)
class PendingBatch:
    """A batch that is to be evaluated."""

    kind: Kind
    spent: float
    candidates: Float
    episodes: int
    episode_rows: NDArray[np.int64] | None = None

    def episodes_of(self, first: int) -> NDArray[np.int64]:
        """Return the evaluation [q] whose episodes each candidate meets, the first one's given."""
        rows = self.episode_rows
        return first + (np.arange(len(self.candidates)) if rows is None else rows)


def standard_errors(returns: Float) -> Float | None:
    """Return sd (ddof 1) / sqrt(E) for each row of returns [q, E]; None for E = 1."""
    episodes = returns.shape[1]
    if episodes < 2:
        return None
    return np.asarray(returns.std(axis=1, ddof=1) / np.sqrt(episodes))


def history_table(batches: Sequence[Batch]) -> pa.Table:
    """Return one row an evaluation, in order."""
    named = list(batches[0].nodes) if batches else []
    sizes = [len(batch.candidates) for batch in batches]
    evaluations = np.concatenate([np.zeros(0, dtype=np.int64), *_numbers(batches)])
    return pa.table(
        {
            "evaluation": evaluations,
            "batch": np.repeat(np.array([b.index for b in batches], dtype=np.int64), sizes),
            "episodes_of": np.concatenate(
                [np.zeros(0, dtype=np.int64), *(batch.episodes_of for batch in batches)]
            ),
            "candidate": list_column([batch.candidates for batch in batches]),
            "return_mean": _joined([batch.means for batch in batches]),
            "return_stderr": _joined([_or_nan(b.stderrs, b) for b in batches]),
            "episode_returns": list_column([batch.episode_returns for batch in batches]),
            "observed_return_mean": _joined([batch.observed_means for batch in batches]),
            "observed_return_stderr": _joined([_or_nan(b.observed_stderrs, b) for b in batches]),
            "observed_returns": list_column([batch.observed_returns for batch in batches]),
            "env_steps": np.concatenate(
                [np.zeros(0, dtype=np.int64), *(batch.env_steps for batch in batches)]
            ),
            "wall_time_s": np.repeat(
                np.array([b.wall_time_s for b in batches], dtype=float), sizes
            ),
            **{NODE_PREFIX + name: list_column([b.nodes[name] for b in batches]) for name in named},
        }
    )


def incumbents_table(batches: Sequence[Batch]) -> pa.Table:
    """Return one row a batch: what it was, and the incumbent after it."""
    ends = [batch.spent_after for batch in batches]
    known = [batch.statistics for batch in batches if batch.statistics is not None]
    normalised = {
        "observation_count": np.array([each.count for each in known], dtype=np.int64),
        "observation_mean": list_column([each.mean[None] for each in known]),
        "observation_squares": list_column([each.squares[None] for each in known]),
    }
    return pa.table(
        {
            "batch": np.array([batch.index for batch in batches], dtype=np.int64),
            "kind": pa.array([str(batch.kind) for batch in batches], type=pa.string()),
            "spent": np.array([batch.spent for batch in batches], dtype=float),
            "evaluation": np.array([end.evaluations for end in ends], dtype=np.int64),
            "env_steps": np.array([end.env_steps for end in ends], dtype=np.int64),
            "candidate": list_column([batch.incumbent[None] for batch in batches]),
            **(normalised if known else {}),
        }
    )


def stored_batches(history: pa.Table, incumbents: pa.Table, *, first: int = 0) -> list[Batch]:
    """Return the batches of tables that were read, of which the incumbents' may have some more.

    Args:
        history: of whole batches.
        incumbents: of these batches.
        first: number of the evaluation with which the history begins.
    Raises:
        RequestError: the tables contradict each other, or a column is missing or of another kind.
    """
    try:
        whole = history["batch"].to_numpy()
        last = int(whole[-1]) if len(whole) else -1
        known = incumbents["batch"].to_numpy() <= last
        return batches_of(history, incumbents.filter(pa.array(known)), first=first)
    except RequestError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, pa.ArrowException) as e:
        raise RequestError(
            "history.parquet or incumbents.parquet is damaged: a column is missing or of another "
            f"kind ({first_line(e)})"
        ) from e


def batches_of(history: pa.Table, incumbents: pa.Table, *, first: int = 0) -> list[Batch]:
    """Undo `history_table` and `incumbents_table`, whose first evaluation has a number.

    Raises:
        RequestError: the tables contradict each other.
    """
    names = ("batch", "evaluation", "env_steps", "wall_time_s")
    rows = {name: history[name].to_numpy() for name in names}
    if not np.array_equal(rows["evaluation"], first + np.arange(len(history))):
        raise RequestError("history.parquet is damaged: its evaluations are not numbered from 0")
    marks = incumbents.to_pydict()
    starts = np.searchsorted(rows["batch"], marks["batch"])
    ends = np.array(marks["evaluation"], dtype=np.int64) - first
    parts = [slice(int(a), int(b)) for a, b in zip(starts, ends, strict=True)]
    for part, index in zip(parts, marks["batch"], strict=True):
        if part.stop > len(history) or not (rows["batch"][part] == index).all():
            raise RequestError(f"history.parquet is damaged: batch {index} is not whole")
    candidates, returns, observed = (
        matrices(history[name], parts)
        for name in ("candidate", "episode_returns", "observed_returns")
    )
    nodes = {
        name.removeprefix(NODE_PREFIX): matrices(history[name], parts)
        for name in history.column_names
        if name.startswith(NODE_PREFIX)
    }
    # Histories of releases before common episodes lack the column.
    named = "episodes_of" if "episodes_of" in history.column_names else "evaluation"
    episodes_of = history[named].to_numpy()
    batches = []
    for row, (index, part) in enumerate(zip(marks["batch"], parts, strict=True)):
        batches.append(
            Batch(
                index=index,
                kind=Kind(marks["kind"][row]),
                first=first + part.start,
                spent=marks["spent"][row],
                candidates=candidates[row],
                episodes_of=episodes_of[part],
                episode_returns=returns[row],
                observed_returns=observed[row],
                env_steps=rows["env_steps"][part],
                wall_time_s=float(rows["wall_time_s"][part.stop - 1]),
                incumbent=np.array(marks["candidate"][row]),
                statistics=_statistics(marks, row),
                nodes={name: values[row] for name, values in nodes.items()},
            )
        )
    return batches


def _statistics(marks: Mapping[str, Any], row: int) -> ObservationStatistics | None:
    """Return the statistics in a row of the incumbents, where the table has any."""
    if "observation_count" not in marks:
        return None
    names = ("count", "mean", "squares")
    return ObservationStatistics.from_json({n: marks[f"observation_{n}"][row] for n in names})


def _numbers(batches: Sequence[Batch]) -> list[np.ndarray[Any, np.dtype[np.int64]]]:
    return [b.first + np.arange(len(b.candidates), dtype=np.int64) for b in batches]


def _or_nan(errors: Float | None, batch: Batch) -> Float:
    return np.full(len(batch.candidates), np.nan) if errors is None else errors


def _joined(parts: Sequence[Float]) -> Float:
    return np.concatenate([np.zeros(0), *parts])
