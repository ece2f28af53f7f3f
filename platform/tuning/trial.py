"""The one Trainable of a comparison: a trial is a whole search or a whole training.

A step is the way from one evaluation point to the next, and the held-out score there. Whatever
dies, the next process takes the trial up from its own folder (`record`), and hands to Tune the
reports that it has not yet got, so that Tune's files have no gap and no report twice.
"""

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

from ray import tune
from ray.tune import PlacementGroupFactory

from rolecast.core.patience import Patience
from rolecast.core.rounding import mean_and_error
from rolecast.core.types import Float, Seeds
from rolecast.envs.registry import make_task
from rolecast.envs.rewards.task import under_patience
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
    Raises:
        RunError: the task failed, or a step lasted too long.
    """
    made = make_task(task)
    with closing(made), under_patience(made, Patience()):
        returns = rollout(made, policy, weights, seeds).returns[0]
    return mean_and_error(returns)


class TrialRun:
    """One trial at work, taken up where its folder ends; each of its steps is written down."""

    def __init__(
        self,
        experiment: Experiment,
        folder: TrialFolder,
        start: Callable[[], MethodRunner],
        score: Callable[[Policy, Float, Seeds], tuple[float, float | None]],
    ) -> None:
        """Read where the trial stands, and keep other processes of it out.

        Args:
            experiment: whose trial it is.
            folder: of the trial.
            start: gives what computes, when it is first needed.
            score: gives mean and standard error of a policy's return with weights [1, D], as
                earned, on seeds [E].
        """
        self._experiment, self._folder = experiment, folder
        self._start, self._score = start, score
        self._lock = folder.lock()
        self._record = folder.read()
        self._sent = self._record.delivered
        self._runner: MethodRunner | None = None
        folder.drop_learners(but=len(self._record.rows))
        folder.write(self._record)

    def step(self) -> tuple[Row, int]:
        """Return the next report, made before or now, and its number; the last has `done`."""
        # Tune asks again only after it has taken in what it was given before.
        self._record = replace(self._record, delivered=self._sent)
        self._folder.write(self._record)
        if self._sent == len(self._record.rows):
            self._advance()
        row = self._record.rows[self._sent]
        self._sent += 1
        return row, self._sent

    def close(self) -> None:
        """End what the trial started; all that counts is on disk."""
        if self._runner is not None:
            self._runner.close()
            self._runner = None
        self._lock.close()

    def _advance(self) -> None:
        """Train to the next point, score, and write both down."""
        clock, record, experiment = self._folder.clock, self._record, self._experiment
        start = clock()
        if self._runner is None:
            self._runner = self._start()
        running = self._runner
        before: Row = record.rows[-1] if record.rows else {"point": 0, "wall_time_s": 0.0}
        advancing = clock()
        report, point = running.advance(before["point"] + 1)
        advanced_s = clock() - advancing
        # More than that where a process that died had evaluated batches, which are kept.
        training_s = report.wall_time_s - before["wall_time_s"]
        done = point == experiment.points
        score = running.finish() if done else None
        if score is None or not experiment.scored_as_searches:
            episodes = experiment.final_test_episodes if done else experiment.test_episodes
            score = self._score(*running.policy(), experiment.held_out_seeds(episodes))
        running.scored(report.env_steps, score)
        row = report.row(
            test_return=score[0],
            test_return_stderr=score[1],
            point=point,
            done=done,
        )
        running.keep(len(record.rows) + 1)
        self._record = replace(
            record,
            rows=[*record.rows, row],
            parameters=running.parameters,
            seconds=record.seconds + clock() - start - advanced_s + training_s,
        )
        self._folder.write(self._record)
        self._folder.drop_learners(but=len(self._record.rows))


class ComparisonTrial(tune.Trainable):
    """One trial, as Tune holds it.

    Its config holds `out`, the comparison's folder, `trial`, the fields of a `TrialPlan`,
    `workers`, the processes that run its episodes beside its own, and `devices` of all methods.
    """

    def __repr__(self) -> str:
        return self._name

    @classmethod
    def default_resource_request(cls, config: dict[str, Any]) -> PlacementGroupFactory:
        """Return one CPU for the trial, one for each of its workers, and the optimiser's GPU."""
        return trial_resources(int(config["workers"]), config["devices"][config["trial"]["method"]])

    def setup(
        self, config: dict[str, Any], methods: Mapping[str, MethodFactory] = MappingProxyType({})
    ) -> None:
        """Read where the trial stands."""
        comparison, plan = ComparisonFolder(config["out"]), TrialPlan(**config["trial"])
        experiment = Experiment.from_json(comparison.read_experiment()["experiment"])
        self._name, work = plan.trial, comparison.work(plan.trial)
        start = partial(method_runner, experiment, plan, work, methods)
        self._run = TrialRun(experiment, work, start, partial(held_out_score, plan.task))

    def step(self) -> dict[str, Any]:
        """Hand over the next report."""
        return _for_tune(*self._run.step())

    def cleanup(self) -> None:
        """End what the trial started."""
        self._run.close()


def _for_tune(row: Row, number: int) -> dict[str, Any]:
    """Return a report as Tune takes it: NaN for what is missing, and its number."""
    figures = {name: float("nan") if value is None else value for name, value in row.items()}
    return {**figures, "training_iteration": number}
