"""The incumbents of a run as a curve: measured, or else as the optimiser's model saw them."""

import numpy as np

from rolecast.platform.reports.curves import Curve
from rolecast.platform.reports.folder import Run
from rolecast.platform.search.records.history import Kind
from rolecast.platform.search.records.measurements import INCUMBENT_EPISODES, RunMeasurements


def incumbents_of(run: Run, measured: RunMeasurements | None) -> tuple[Curve, str]:
    """Return the incumbents along a run, and a sentence that says where their returns are from."""
    if measured is not None and measured.returns:
        how = f"Incumbents are evaluated again on {INCUMBENT_EPISODES} held-out episodes each."
        return _measured(run, measured), how
    believed = believed_incumbents(run)
    if len(believed.returns):
        return believed, "Incumbents have the return that the optimiser's model expects of them."
    how = "The incumbents at the end are those of the search's own confirmation."
    return run.curve(Kind.CONFIRM), how


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
