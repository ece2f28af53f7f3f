"""The one Trainable of a comparison: a trial is a whole search or a whole training.

A step is the way from one evaluation point to the next, and the held-out score there. Whatever
dies, the next process takes the trial up from its own folder (`record`), and hands to Tune the
reports that it has not yet got, so that Tune's files have no gap and no report twice.
"""

import time
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
from ray import tune
from ray.tune import PlacementGroupFactory

from rolecast.core.types import Float, Seeds
from rolecast.envs.registry import make_task
from rolecast.platform.rollout.rollout import rollout
from rolecast.platform.tuning.comparison_folder import ComparisonFolder
from rolecast.platform.tuning.experiment import Experiment, TrialPlan
from rolecast.platform.tuning.learner import MethodFactory
from rolecast.platform.tuning.record import Row, TrialFolder
from rolecast.platform.tuning.resources import trial_resources
from rolecast.platform.tuning.runners import MethodRunner, method_runner
from rolecast.policies.protocol import Policy


def held_out_score(
    task: str, policy: Policy, weights: Float, seeds: Seeds
) -> tuple[float, float | None]:
    """Return mean and standard error of the return as earned, on seeds that nothing learns from.

    Args:
        task: id without reward settings, so that only the raw reward can count.
        policy: as it would be handed over.
        weights: [1, D].
        seeds: [E], of held-out episodes, the same for every method.
    """
    made = make_task(task)
    try:
        returns = rollout(made, policy, weights, seeds).returns[0]
    finally:
        made.close()
    stderr = float(returns.std(ddof=1) / np.sqrt(len(returns))) if len(returns) > 1 else None
    return float(returns.mean()), stderr


class ComparisonTrial(tune.Trainable):
    """One trial.

    Its config holds `out`, the comparison's folder, `trial`, the fields of a `TrialPlan`,
    `workers`, the processes that run its episodes beside its own, and `devices` of all methods.
    """

    def __repr__(self) -> str:
        return self._plan.trial

    @classmethod
    def default_resource_request(cls, config: dict[str, Any]) -> PlacementGroupFactory:
        """Return one CPU for the trial, one for each of its workers, and the optimiser's GPU."""
        return trial_resources(int(config["workers"]), config["devices"][config["trial"]["method"]])

    def setup(
        self, config: dict[str, Any], methods: Mapping[str, MethodFactory] = MappingProxyType({})
    ) -> None:
        """Read where the trial stands; what computes is made when it is first needed."""
        comparison = ComparisonFolder(config["out"])
        self._experiment = Experiment.from_json(comparison.read_experiment()["experiment"])
        self._plan = TrialPlan(**config["trial"])
        self._methods = methods
        self._work: TrialFolder = comparison.work(self._plan.trial)
        self._lock = self._work.lock()
        self._record = self._work.read()
        self._sent = self._record.delivered
        self._runner: MethodRunner | None = None
        self._work.write(self._record)

    def step(self) -> dict[str, Any]:
        """Hand over the next report, made before or now; the last has `done`."""
        # Tune asks again only after it has taken in what it was given before.
        self._record = replace(self._record, delivered=self._sent)
        self._work.write(self._record)
        if self._sent == len(self._record.rows):
            self._advance()
        row = self._record.rows[self._sent]
        self._sent += 1
        return _for_tune(row, self._sent)

    def cleanup(self) -> None:
        """End what the trial started; all that counts is on disk."""
        if self._runner is not None:
            self._runner.close()
            self._runner = None
        self._lock.close()

    def _advance(self) -> None:
        """Train to the next point, score, and write both down."""
        start, record, experiment = time.monotonic(), self._record, self._experiment
        if self._runner is None:
            self._runner = method_runner(experiment, self._plan, self._work, self._methods)
        running = self._runner
        before: Row = record.rows[-1] if record.rows else {"point": 0, "wall_time_s": 0.0}
        training = time.monotonic()
        report, point = running.advance(before["point"] + 1)
        wall_time_s = before["wall_time_s"] + time.monotonic() - training
        done = point == experiment.points
        score = running.finish() if done else None
        if score is None or not experiment.scored_as_searches:
            episodes = experiment.final_test_episodes if done else experiment.test_episodes
            seeds = experiment.held_out_seeds(episodes)
            score = held_out_score(self._plan.task, *running.policy(), seeds)
        row = report.row(
            test_return=score[0],
            test_return_stderr=score[1],
            wall_time_s=wall_time_s,
            point=point,
            done=done,
        )
        running.keep(len(record.rows) + 1)
        self._record = replace(
            record,
            rows=[*record.rows, row],
            parameters=running.parameters,
            seconds=record.seconds + time.monotonic() - start,
        )
        self._work.write(self._record)
        self._work.drop_learners(but=len(self._record.rows))


def _for_tune(row: Row, number: int) -> dict[str, Any]:
    """Return a report as Tune takes it: NaN for what is missing, and its number."""
    figures = {name: float("nan") if value is None else value for name, value in row.items()}
    return {**figures, "training_iteration": number}
