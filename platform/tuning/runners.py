"""A method at work in one trial: a search, or a learner, behind one face.

Both are advanced from one evaluation point to the next, both hand over a policy with weights, and
both go on from what their trial's folder holds.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Protocol

import numpy as np

from rolecast.core.files import is_file, unwritable
from rolecast.core.rounding import mean_and_error
from rolecast.core.types import Float
from rolecast.envs.spec import BatchedTask
from rolecast.platform.search.backend import Backend, backend_for
from rolecast.platform.search.loop import Search
from rolecast.platform.search.planning.config import SearchConfig
from rolecast.platform.search.planning.plan import Plan, make_plan, run_record
from rolecast.platform.search.progress import Silent
from rolecast.platform.search.records.metrics import BELIEF_PREFIX, batch_metrics
from rolecast.platform.search.records.run_folder import RunFolder
from rolecast.platform.search.result import held_out_metrics
from rolecast.platform.search.run import finish
from rolecast.platform.tuning.experiment import Experiment, TrialPlan
from rolecast.platform.tuning.learner import LearningMethod, MethodFactory, method_factory
from rolecast.platform.tuning.methods import SearchMethod
from rolecast.platform.tuning.record import Report, TrialFolder
from rolecast.platform.tuning.rewards import task_with_reward
from rolecast.policies.protocol import Policy


class MethodRunner(Protocol):
    """A method at work."""

    parameters: int
    """D of the policy that acts."""

    def advance(self, point: int) -> tuple[Report, int]:
        """Train until an evaluation point; return the figures, and the point that was reached."""

    def policy(self) -> tuple[Policy, Float]:
        """Return the policy to be scored, and its weights [1, D]."""

    def keep(self, report: int) -> None:
        """Write what the next process needs to go on from this report; numbers are from 1."""

    def scored(self, env_steps: int, score: tuple[float, float | None]) -> None:
        """Take in the held-out score of the policy after these steps, with its standard error."""

    def finish(self) -> tuple[float, float | None] | None:
        """Write the result of the whole training; return its held-out score if that was needed."""

    def close(self) -> None:
        """End what it started."""


def method_runner(
    experiment: Experiment,
    plan: TrialPlan,
    folder: TrialFolder,
    methods: Mapping[str, MethodFactory],
) -> MethodRunner:
    """Return the method of a trial, taken up where its folder ends."""
    method = experiment.method(plan.method)
    if isinstance(method, SearchMethod):
        search = make_plan(search_config(experiment, plan, method))
        return SearchRunner(search, backend_for, experiment.points, folder)
    learner = method_factory(method.algorithm, methods).start(
        _task_id(plan),
        method.settings,
        seed=plan.seed,
        workers=experiment.workers,
        env_steps=experiment.env_steps,
    )
    return LearnerRunner(learner, experiment, folder)


def _task_id(plan: TrialPlan) -> str:
    """Return the id of the task under the reward that a trial learns from."""
    task: BatchedTask = task_with_reward(plan.task, plan.reward)
    task.close()
    return task.spec.id


def search_config(experiment: Experiment, plan: TrialPlan, method: SearchMethod) -> SearchConfig:
    """Return the search that a trial of a search is."""
    in_steps = method.evaluations is None
    return SearchConfig(
        task=_task_id(plan),
        policy=method.policy,
        policy_options=method.policy_options,
        optimizer=method.optimizer,
        optimizer_settings=method.optimizer_settings,
        env_steps=experiment.env_steps if in_steps else None,
        evaluations=method.evaluations,
        episodes=method.episodes,
        batch_size=method.batch_size,
        seed=plan.seed,
        workers=experiment.workers,
        test_episodes=experiment.final_test_episodes,
    )


class SearchRunner:
    """A whole search."""

    def __init__(
        self, plan: Plan, start: Callable[[Plan], Backend], points: int, folder: TrialFolder
    ) -> None:
        """Take up a search.

        Args:
            plan: what is searched.
            start: gives what computes, once nobody else writes the run.
            points: evaluation points of the budget.
            folder: of the trial.
        """
        self._plan, self._points = plan, points
        self.parameters = plan.dimension
        self._folder = RunFolder(folder.run, disk=folder.disk, clock=folder.clock)
        with ExitStack() as opened:
            opened.callback(plan.task.close)
            if is_file(self._folder.run_file, disk=folder.disk):
                self._folder.read_run()
                self._folder.lock()
            else:  # a process that died in the middle of making it has left nothing in it
                folder.disk.remove_folder(folder.run)
                self._folder.make(run_record(plan))
            opened.callback(self._folder.release)
            backend = start(plan)
            opened.callback(backend.close)
            self._search = Search(plan, self._folder, backend, Silent())
            opened.callback(self._search.close)
            self._opened = opened.pop_all()
        self._beliefs: dict[str, float] | None = None
        self._reached_s: float | None = None

    def advance(self, point: int) -> tuple[Report, int]:
        """Evaluate batches until the point's share of the budget is spent."""
        search, budget, clock = self._search, self._plan.budget, self._folder.clock
        if self._reached_s is not None:  # since then, the trial has scored
            search.leave_out(clock() - self._reached_s)
        last = point == self._points
        while not search.finished and (last or self._reached < point):
            metrics = search.step()
            self._beliefs = {k: v for k, v in metrics.items() if k.startswith(BELIEF_PREFIX)}
        if self._beliefs is None:  # a process before this one evaluated all batches of the point
            self._beliefs = {BELIEF_PREFIX + k: v for k, v in search.beliefs().items()}
        reached = max(point, math.floor(self._reached))
        best, latest = search.seen.best_return, search.seen.last
        assert latest is not None, "expected a budget of at least one batch"
        figures = batch_metrics(latest, budget=budget, best_return=best, beliefs={})
        report = Report(
            env_steps=int(figures["env_steps"]),
            policy_evaluations=int(figures["policy_evaluations"]),
            episode_return_mean=figures["episode_return_mean"],
            episode_return_stderr=figures.get("episode_return_stderr"),
            observed_return_mean=figures["observed_return_mean"],
            best_return=best,
            wall_time_s=figures["wall_time_s"],
            extras=self._beliefs,
        )
        self._reached_s = clock()
        return report, self._points if search.finished else min(reached, self._points - 1)

    @property
    def _reached(self) -> float:
        """Points whose share of the budget is spent, without the last digits of a float."""
        return round(self._plan.budget.share(self._search.spent) * self._points, 9)

    def policy(self) -> tuple[Policy, Float]:
        """Return the policy with the weights of the incumbent."""
        policy, search = self._plan.policy, self._search
        return policy, policy.space.weights(search.incumbent, search.statistics)[None]

    def keep(self, report: int) -> None:
        """Keep nothing more: the run folder has every batch."""

    def scored(self, env_steps: int, score: tuple[float, float | None]) -> None:
        """Write the score beside the events of the search."""
        self._search.reporter.write(held_out_metrics(env_steps, *score))

    def finish(self) -> tuple[float, float | None]:
        """Write artefact and summary, with the held-out score, into the run folder."""
        result = finish(self._plan, self._folder, self._search)
        return result.test_return, result.test_stderr

    def close(self) -> None:
        """Save, and end the actors and the task."""
        self._opened.close()


class LearnerRunner:
    """A learning algorithm."""

    def __init__(
        self, learner: LearningMethod, experiment: Experiment, folder: TrialFolder
    ) -> None:
        """Take up a learner that has just begun."""
        self._experiment, self._folder, self._learner = experiment, folder, learner
        self.parameters = learner.parameters
        rows = folder.read().rows
        self._last = Report.of_row(rows[-1]) if rows else None
        if rows:
            self._learner.restore(folder.learner(len(rows)).absolute())

    def advance(self, point: int) -> tuple[Report, int]:
        """Train until the point's env steps."""
        points, budget = self._experiment.points, self._experiment.env_steps
        start = self._folder.clock()
        progress = self._learner.train(-(-budget * point // points))
        seconds = self._folder.clock() - start
        mean, stderr = _mean_and_error(progress.returns)
        before = self._last
        candidates = (before.best_return if before else None, mean)
        bests = [value for value in candidates if value is not None]
        self._last = Report(
            env_steps=progress.env_steps,
            policy_evaluations=len(progress.returns) + (before.policy_evaluations if before else 0),
            episode_return_mean=mean,
            episode_return_stderr=stderr,
            observed_return_mean=_mean_and_error(progress.observed_returns)[0],
            best_return=max(bests) if bests else None,
            wall_time_s=seconds + (before.wall_time_s if before else 0.0),
        )
        return self._last, min(max(point, progress.env_steps * points // budget), points)

    def policy(self) -> tuple[Policy, Float]:
        """Return the learner's policy without exploration."""
        return self._learner.policy()

    def keep(self, report: int) -> None:
        """Save the learner under the number of its report."""
        folder = self._folder.new_learner(report)
        try:
            self._learner.save(folder.absolute())
        except OSError as error:
            raise unwritable(folder, error) from error
        self._folder.settle_learner(report)

    def scored(self, env_steps: int, score: tuple[float, float | None]) -> None:
        """Keep nothing more: a report has it."""

    def finish(self) -> None:
        """Keep nothing more: the last report's learner is the result."""

    def close(self) -> None:
        """End the learner's processes."""
        self._learner.close()


def _mean_and_error(returns: Sequence[float]) -> tuple[float | None, float | None]:
    """Return mean and standard error of the episodes; None where there are too few."""
    values = np.asarray(returns, dtype=np.float64)
    return mean_and_error(values) if values.size else (None, None)
