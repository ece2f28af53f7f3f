"""The incumbents of a run as a curve: measured, or else as the optimiser's model saw them."""

from dataclasses import dataclass

import numpy as np

from rolecast.platform.reports.curves import Curve
from rolecast.platform.reports.folder import Run
from rolecast.platform.search.records.history import Kind
from rolecast.platform.search.records.measurements import INCUMBENT_EPISODES, RunMeasurements


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
        curve=run.curve(Kind.CONFIRM),
        name="incumbent, confirmed",
        source="The incumbents at the end are those of the search's own confirmation.",
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
