"""`rolecast export` of a comparison's learner: the network that acts, as an ONNX model."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np

from rolecast.core.errors import RequestError, RunError
from rolecast.envs.trust import make_stored_task
from rolecast.platform.deployment.config import ExportConfig
from rolecast.platform.deployment.manifest import BuiltExport, refuse_existing, write_export
from rolecast.platform.deployment.onnx import ONNX_FILE, RUNTIME_MODULE, run_onnx
from rolecast.platform.tuning.comparison_folder import ComparisonFolder
from rolecast.platform.tuning.experiment import Experiment, TrialPlan
from rolecast.platform.tuning.learner import LoadsPolicies, PolicyWithGraph, method_factory
from rolecast.platform.tuning.methods import LearnerMethod
from rolecast.platform.tuning.record import TrialFolder
from rolecast.policies.certificate import weights_digest
from rolecast.policies.export.onnx.graph import ONNX_OPSET

LEARNER_TOLERANCE: Final = 1e-6
"""Largest difference of an action from that of the learner's network in float64."""

LEARNER_VECTORS: Final = 1000


def is_trial(folder: Path) -> bool:
    """Tell whether a folder is that of a trial in a comparison."""
    return TrialFolder(folder).begun


def export_learner(
    folder: Path,
    out: str | Path,
    config: ExportConfig,
    *,
    sign: str | Path | None = None,
    trust: bool = False,
) -> dict[str, Any]:
    """Write the network of a learner as an ONNX model, and return its manifest.

    Args:
        folder: `work/TRIAL` of a comparison.
        out: folder to make; it must not exist.
        config: what is exported.
        sign: file of an Ed25519 private key for the manifest.
        trust: read RLlib's checkpoint, which runs what it holds.
    Raises:
        RequestError: the trial is that of a search, has saved nothing, or is not trusted; or the
            target is not onnx.
        RunError: ONNX Runtime's actions differ.
    """
    target = Path(out).absolute()
    refuse_existing(target)
    plan, method = _planned(folder)
    if config.target != "onnx":
        raise RequestError(
            f"{folder} holds a learner, {plan.method}, for which there is no target "
            f"{config.target}; expected --target onnx"
        )
    saved = TrialFolder(folder).learner(len(TrialFolder(folder).read().rows))
    if not saved.is_dir():
        raise RequestError(f"{folder} has no saved learner; expected a trial with a report")
    factory = method_factory(method.algorithm, {})
    if not isinstance(factory, LoadsPolicies):
        raise RequestError(
            f"learner {method.algorithm!r} has no exporter; expected one of rolecast"
        )
    if not trust:
        raise RequestError(
            f"{saved} is a checkpoint of RLlib, which runs what it holds; expected --trust, for a "
            "folder of your own"
        )
    policy = factory.learnt(saved, method.settings)
    task = make_stored_task(plan.task, trust=trust)
    sizes = task.spec.agents, task.spec.observation_size, task.spec.action_size
    task.close()
    told = {
        "weights": "float32",
        "deployment": "whole team",
        "policy": {
            "name": policy.name,
            "task": plan.task,
            "parameters": policy.space.size,
            "options": dict(policy.options),
            "weights_sha256": weights_digest(policy.space.centre),
        },
        "trial": plan.trial,
    }
    return write_export(target, "onnx", told, lambda _: _built(policy, *sizes), sign=sign)


def _planned(folder: Path) -> tuple[TrialPlan, LearnerMethod]:
    """Return what a trial runs."""
    comparison = ComparisonFolder(folder.absolute().parent.parent)
    experiment = Experiment.from_json(comparison.read_experiment()["experiment"])
    found = [plan for plan in experiment.trials() if plan.trial == folder.absolute().name]
    if not found:
        raise RequestError(f"{folder} is no trial of the comparison in {comparison.path}")
    method = experiment.method(found[0].method)
    if not isinstance(method, LearnerMethod):
        raise RequestError(
            f"{folder} is the trial of a search; expected its run: {TrialFolder(folder).run}"
        )
    return found[0], method


def _built(
    policy: PolicyWithGraph, agents: int, observation_size: int, action_size: int
) -> BuiltExport:
    """Return the model, compared with the network where ONNX Runtime is installed."""
    model = policy.onnx_model(agents, observation_size, action_size)
    equal = apart = None
    if find_spec(RUNTIME_MODULE) is not None:
        rng = np.random.default_rng(policy.space.size)
        drawn = rng.normal(size=(LEARNER_VECTORS, agents, observation_size)).astype(np.float32)
        wide, found = drawn.astype(np.float64), run_onnx(model, drawn)
        wanted = policy.exact_actions(wide)
        equal = int((np.abs(found - wanted).max(axis=(1, 2)) <= LEARNER_TOLERANCE).sum())
        if equal < LEARNER_VECTORS:
            raise RunError(
                f"only {equal} of {LEARNER_VECTORS} actions of ONNX Runtime are within "
                f"{LEARNER_TOLERANCE:g} of the learner's"
            )
        apart = float(np.abs(found - policy.act(policy.space.centre[None], wide[None])[0]).max())
    return BuiltExport(
        files={ONNX_FILE: model},
        check={
            "onnx": {
                "opset": ONNX_OPSET,
                "vectors_drawn": LEARNER_VECTORS,
                "vectors_equal": equal,
                "largest_difference_allowed": LEARNER_TOLERANCE,
                "largest_difference_from_float32": apart,
            }
        },
    )
