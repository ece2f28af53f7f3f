"""The search itself: ask, evaluate, tell, record, again, until the budget is spent.

Synchronous by batch, so that the same seed gives the same history whoever computes, and whatever
died on the way: a batch is kept in the journal before the next one begins.
"""

from collections.abc import Sequence
from contextlib import ExitStack

import numpy as np

from rolecast.core.errors import RequestError, RunError
from rolecast.core.rounding import mean_and_error
from rolecast.core.seeds import Purpose, derived_seed, episode_seeds
from rolecast.core.threads import OneThread
from rolecast.core.types import Float, Seeds
from rolecast.platform.rollout.chunks import BatchResult, cut, join
from rolecast.platform.rollout.held_out import SEARCH_HELD_OUT_SEED
from rolecast.platform.search.backend import Backend
from rolecast.platform.search.confirmation import confirmation_batch, winner
from rolecast.platform.search.failed_episodes import settled
from rolecast.platform.search.planning import policy_hints
from rolecast.platform.search.planning.budget import Spent
from rolecast.platform.search.planning.plan import Plan
from rolecast.platform.search.progress import Progress
from rolecast.platform.search.records.batch_summary import BatchSummary
from rolecast.platform.search.records.history import Batch, Kind, PendingBatch, standard_errors
from rolecast.platform.search.records.journal import CheckpointTimer
from rolecast.platform.search.records.run_folder import RunFolder
from rolecast.platform.search.reporting import CandidateStats, Reporter, time_shares
from rolecast.platform.search.resilient_optimizer import ResilientOptimizer
from rolecast.platform.search.session import (
    BatchRequest,
    EvaluatedBatch,
    OptimizerReply,
    OptimizerSession,
)
from rolecast.policies.normalisation import ObservationStatistics, counted_share, observation_bound


class Search:
    """One search that can be advanced batch by batch; begins where its folder ends."""

    def __init__(self, plan: Plan, folder: RunFolder, backend: Backend, progress: Progress) -> None:
        """Take up the search.

        Args:
            plan: what is searched, with which budget.
            folder: locked by the caller; its batches and its clock are taken over.
            backend: closed by the caller.
            progress: started and finished by the caller.
        Raises:
            RequestError: the folder is damaged.
        """
        self._plan, self._folder, self._backend, self._note = plan, folder, backend, progress.note
        clock = self._clock = folder.clock
        folder.repair()
        known, state = folder.read_state()
        self.seen, scores, since = BatchSummary(plan.budget), CandidateStats(), list[Batch]()
        for batch in folder.batches():
            self.seen.add(batch)
            scores.add(batch)
            since += [batch] if batch.index >= known else []
        if known > self.seen.count:
            raise RequestError(f"{folder.path} is damaged: its state knows batches that it lacks")
        alike = not plan.config.asynchronous
        self._optimizer_session = ResilientOptimizer(
            self._optimizer, backend.losses, progress.note, state, since, asked_alike=alike
        )
        self.reporter = Reporter(folder, progress, plan.budget, backend, scores, self.seen)
        self._pending: PendingBatch | None = None
        self._unkept: Batch | None = None
        self._start = clock()
        self._wall_before = self.seen.wall_time_s
        self._checkpoints = CheckpointTimer(clock, least_s=None if alike else 0.0)
        self._evaluating_s, self._tabled = 0.0, 0
        self._episode_s: float | None = None

    @property
    def spent(self) -> Spent:
        """What the search has used."""
        return self.seen.spent

    @property
    def finished(self) -> bool:
        """Whether the budget is spent and the incumbent confirmed."""
        return self._next_kind(self.spent, self._last_kind) is None

    @property
    def incumbent(self) -> Float:
        """[D], after the last batch."""
        return self.seen.incumbent

    @property
    def wall_time_s(self) -> float:
        """Seconds of searching, earlier parts included."""
        return self._wall_before + self._clock() - self._start

    def leave_out(self, seconds: float) -> None:
        """Do not count seconds that have just passed between two batches as searching."""
        self._start += seconds

    @property
    def workers(self) -> int:
        """Ray workers at the end; 0: all ran in this process."""
        return self._backend.workers

    def time_shares(self) -> dict[str, float]:
        """Return where the time of searching in this process went; no share without a batch."""
        return time_shares(
            whole=self._clock() - self._start,
            evaluating=self._evaluating_s,
            rollouts=self._backend.evaluator.busy_s,
            optimizer=self._optimizer_session.seconds,
        )

    def step(self) -> dict[str, float]:
        """Evaluate one batch; return the metrics after it (`METRIC_VOCABULARY`).

        Raises:
            RunError: the task failed, or the optimiser did; all batches before are kept.
        """
        pending = self.prepare()
        result = self._evaluate(pending)
        if pending.kind is Kind.DESIGN:
            self._learn_structure(pending.candidates, result)
        return self._learn(pending, result, asked=pending.kind is Kind.SEARCH)

    def _learn(
        self, pending: PendingBatch, result: BatchResult, *, asked: bool
    ) -> dict[str, float]:
        """Tell a batch, ask for the next, and record; return the metrics after it.

        Args:
            pending: what was evaluated.
            result: what it gave.
            asked: whether it is the whole batch for which the optimiser was asked last.
        """
        spent = self.spent.after(result.lengths.sum(axis=1), result.lengths.shape[1])
        told = EvaluatedBatch(
            returns=result.observed_returns.mean(axis=1),
            stderrs=standard_errors(result.observed_returns),
            candidates=None if asked else pending.candidates,
            nodes=result.nodes,
        )
        wanted = self._wanted(self._next_kind(spent, pending.kind), spent)
        keep = wanted is None or self._checkpoints.due or self._folder.journal.full
        reply = self._optimizer_session.advance(told, wanted, keep=keep)
        batch = self._batch(pending, result, reply)
        self._unkept = batch
        self._folder.append(batch)
        self._unkept = None
        self.seen.add(batch)
        self._optimizer_session.remember(batch, reply.state)
        if reply.state is not None:
            with self._checkpoints.timed():
                self._folder.write_checkpoint(self.seen.count, reply.state)
        self._pending = self._asked(wanted, reply)
        waiting = self.time_shares().get("workers_wait", 0.0)
        return self.reporter.batch(batch, reply, result.metrics, workers_wait=waiting)

    def test(self) -> tuple[float, float | None]:
        """Return mean and standard error of what the incumbent earns on unseen seeds."""
        count = self._plan.test_episodes
        seeds = episode_seeds(0, Purpose.HELD_OUT, SEARCH_HELD_OUT_SEED, count)[None]
        result = self._run(self.incumbent[None], seeds, ["the held-out test"])
        return mean_and_error(result.returns[0])

    def beliefs(self) -> dict[str, float]:
        """Return what the optimiser explains of itself after the last batch."""
        return self._optimizer_session.advance(None, None).beliefs

    def save(self) -> None:
        """Write the tables, so that they hold every batch; safe at any moment."""
        if self._unkept is not None:  # Ctrl-C came just before it was in the journal, or after
            self._folder.append_again(self._unkept)
            self.seen.add(self._unkept)
            self._unkept = None
        if self._tabled != self.seen.count:
            self._folder.write_tables()
            self._tabled = self.seen.count

    def close(self) -> None:
        """Save, and release the optimiser, whatever of it fails."""
        with ExitStack() as closing:
            closing.callback(self._optimizer_session.close)
            closing.callback(self.reporter.close)
            closing.callback(self.save)

    @property
    def _last_kind(self) -> Kind | None:
        return self.seen.last.kind if self.seen.last else None

    def _next_kind(self, spent: Spent, last: Kind | None) -> Kind | None:
        """Return why the batch after one of kind `last` is evaluated; None if there is none."""
        budget = self._plan.budget
        if last is None and self._plan.design is not None:
            return Kind.DESIGN
        if budget.search_fits(spent) > 0:
            return Kind.SEARCH
        return None if last is Kind.CONFIRM or not budget.confirmation_fits(spent) else Kind.CONFIRM

    def _wanted(self, kind: Kind | None, spent: Spent) -> BatchRequest | None:
        """Return the batch to ask the optimiser for."""
        if kind is not Kind.SEARCH:
            return None
        q = min(self._plan.batch_size, self._plan.budget.search_fits(spent))
        planned = self._plan.episodes if self._plan.config.fewer_episodes else None
        return BatchRequest(q=q, spent=self._plan.budget.share(spent), episodes=planned)

    def prepare(self) -> PendingBatch:
        """Return the next batch; one that begins the search, goes on or ends it is made here."""
        if self._pending is not None:
            return self._pending
        plan, spent = self._plan, self.spent
        kind, share = self._next_kind(spent, self._last_kind), plan.budget.share(spent)
        if kind is Kind.DESIGN and plan.design is not None:
            design = plan.design[: plan.budget.search_fits(spent)]
            return PendingBatch(kind=kind, spent=share, candidates=design, episodes=plan.episodes)
        if kind is Kind.CONFIRM:
            rows = confirmation_batch(self.seen, plan.budget.confirmation_fits(spent))
            return PendingBatch(kind=kind, spent=share, candidates=rows, episodes=plan.episodes)
        wanted = self._wanted(kind, spent)
        pending = (
            self._asked(wanted, self._optimizer_session.advance(None, wanted)) if wanted else None
        )
        if pending is None:
            raise RunError("the search cannot be advanced: its budget is spent")
        self._pending = pending
        return pending

    def _asked(self, wanted: BatchRequest | None, reply: OptimizerReply) -> PendingBatch | None:
        if wanted is None or reply.candidates is None:
            return None
        return PendingBatch(
            kind=Kind.SEARCH,
            spent=wanted.spent,
            candidates=reply.candidates,
            episodes=self._plan.episodes if reply.episodes is None else reply.episodes,
            episode_rows=reply.episode_rows,
        )

    def _evaluate(self, pending: PendingBatch) -> BatchResult:
        plan, first = self._plan, self.seen.next_number
        numbers = range(first, first + len(pending.candidates))
        seeds = [
            episode_seeds(plan.seed, Purpose.SEARCH, int(number), pending.episodes)
            for number in pending.episodes_of(first)
        ]
        labels = [f"evaluation {number}" for number in numbers]
        record = policy_hints.RECORDED_OBSERVATIONS if pending.kind is Kind.DESIGN else 0
        return self._run(pending.candidates, np.stack(seeds), labels, record)

    @property
    def statistics(self) -> ObservationStatistics | None:
        """Statistics that normalise observations from now on; None where the policy has none."""
        if observation_bound(self._plan.policy.options) is None:
            return None
        known = self.seen.last.statistics if self.seen.last else None
        return known or ObservationStatistics.none(self._plan.task.spec.observation_size)

    def _statistics_after(self, kind: Kind, result: BatchResult) -> ObservationStatistics | None:
        """Return the statistics with a batch; those of a confirmation, or late, stay."""
        known, plan = self.statistics, self._plan
        share = max(plan.budget.share(self.spent), self.seen.searched_share)
        late = share >= counted_share(plan.policy.options)
        if known is None or result.sums is None or kind is Kind.CONFIRM or late:
            return known
        return known.merged(ObservationStatistics.of_sums(result.sums))

    def _run(
        self, candidates: Float, seeds: Seeds, labels: Sequence[str], record: int = 0
    ) -> BatchResult:
        evaluator, compiled = self._backend.evaluator, self._plan.compiled
        workers = evaluator.workers
        chunks = cut(
            candidates,
            seeds,
            labels,
            compiled=compiled,
            workers=workers,
            record=record,
            statistics=self.statistics,
            episode_s=self._episode_s,
        )
        start = self._clock()
        results = evaluator.evaluate(chunks)
        self._evaluating_s += self._clock() - start
        self._episode_s = sum(result.seconds for result in results) / seeds.size
        result = join(chunks, results, seeds.shape, self._plan.observed_metrics)
        return settled(result, self.seen.lowest, self._note)

    def _learn_structure(self, candidates: Float, result: BatchResult) -> None:
        """Find the policy's structure from the initial design, and keep it."""
        plan = self._plan
        if result.observations is None:
            raise RunError("the initial design met no observations")
        with OneThread()():
            structure = policy_hints.find_structure(
                plan.optimizer, plan.policy, candidates, result.observations
            )
        if structure is not None:
            self._folder.write_structure(structure)

    def _optimizer(self) -> OptimizerSession:
        """Return a fresh optimiser with the structure that was found of the policy."""
        plan = self._plan
        config = policy_hints.with_structure(plan.optimizer, self._folder.read_structure())
        seed = derived_seed(plan.seed, Purpose.OPTIMIZER)
        return self._backend.optimizer(config, dimension=plan.dimension, seed=seed)

    def _batch(self, pending: PendingBatch, result: BatchResult, reply: OptimizerReply) -> Batch:
        best = reply.best
        if pending.kind is Kind.CONFIRM:
            best = winner(pending.candidates, result.observed_returns, self.seen)
        if best is None:
            raise RunError("the optimiser named no incumbent after it was told a batch")
        return Batch(
            index=self.seen.count,
            kind=pending.kind,
            first=self.spent.evaluations,
            spent=pending.spent,
            candidates=pending.candidates,
            episodes_of=pending.episodes_of(self.seen.next_number),
            episode_returns=result.returns,
            observed_returns=result.observed_returns,
            env_steps=self.spent.env_steps + np.cumsum(result.lengths.sum(axis=1)),
            wall_time_s=self.wall_time_s,
            incumbent=best,
            statistics=self._statistics_after(pending.kind, result),
            nodes=result.nodes,
        )
