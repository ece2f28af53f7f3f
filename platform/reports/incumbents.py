"""The incumbents of a run as a curve: measured, or else as the optimiser's model saw them."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from rolecast.core.rounding import mean_and_error
from rolecast.platform.reports.curves import Curve
from rolecast.platform.reports.folder import Run
from rolecast.platform.search.records.history import Kind
from rolecast.platform.search.records.measurements import INCUMBENT_EPISODES, RunMeasurements

HEALTHY_EXPECTATION: Final = (
    "Healthy: what the model expects is within some two standard errors of the held-out return. "
    "Far above it, the model takes noise for signal; play more episodes."
)

REPLACED_INCUMBENT: Final = (
    "At its end, the search evaluated its incumbent and some rivals on new episodes, and kept a "
    "rival."
)


@dataclass(frozen=True, kw_only=True)
class Incumbents:
    """Incumbents along a run."""

    curve: Curve
    """Their returns."""

    name: str
    """What they are, in a legend."""

    source: str
    """Where their returns are from, in a sentence."""


def incumbents_of(run: Run, measured: RunMeasurements | None) -> Incumbents:
    """Return the incumbents along a run."""
    if measured is not None and measured.returns:
        return Incumbents(
            curve=_measured(run, measured),
            name="incumbent, evaluated again",
            source=f"Incumbents are evaluated again on {INCUMBENT_EPISODES} held-out episodes.",
        )
    believed = believed_incumbents(run)
    if len(believed.returns):
        return Incumbents(
            curve=believed,
            name="incumbent, as the model expects",
            source="Incumbents have the return that the optimiser's model expects of them.",
        )
    return Incumbents(
        curve=_confirmed(run),
        name="incumbent, confirmed",
        source="The incumbents at the end are those of the search's own confirmation.",
    )


def _confirmed(run: Run) -> Curve:
    """Return the incumbents after confirmations, by the episodes that these gave them."""
    batches = [batch for batch in run.batches if batch.kind is Kind.CONFIRM]
    estimates = [mean_and_error(batch.incumbent_returns) for batch in batches]
    return Curve(
        env_steps=np.array([run.env_steps(batch.index) for batch in batches], dtype=np.int64),
        returns=np.array([mean for mean, _ in estimates], dtype=np.float64),
        stderrs=np.array([error or 0.0 for _, error in estimates], dtype=np.float64),
        batches=np.array([batch.index for batch in batches], dtype=np.int64),
    )


def _measured(run: Run, measured: RunMeasurements) -> Curve:
    chosen = list(measured.incumbent_batches)
    return Curve(
        env_steps=np.array([run.env_steps(index) for index in chosen]),
        returns=np.array(measured.returns),
        stderrs=np.array(measured.stderrs),
        batches=np.array(chosen),
    )


def believed_incumbents(run: Run) -> Curve:
    """Return the model's view of the incumbents; none where it is told other returns than ours."""
    means, errors = (dict(run.told.get(f"incumbent_{name}", ())) for name in ("mean", "stderr"))
    steps = [step for step in means if step in errors]
    if not all(batch.paid_as_earned for batch in run.batches):
        steps = []
    return Curve(
        env_steps=np.array(steps, dtype=np.int64),
        returns=np.array([means[step] for step in steps]),
        stderrs=np.array([errors[step] for step in steps]),
        batches=np.arange(len(steps)),
    )


def expectation_text(run: Run) -> str:
    """Return how to judge what the model expects of the incumbent; nothing where it says nothing.

    Of a rival that the confirmation kept in the incumbent's place, the model says nothing.
    """
    last = run.batches[-1]
    if last.kind is Kind.CONFIRM and not np.array_equal(last.candidates[0], last.incumbent):
        return REPLACED_INCUMBENT
    return HEALTHY_EXPECTATION if believed_incumbents(run).returns.size else ""
