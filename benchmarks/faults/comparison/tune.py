"""In place of Tune: trials side by side, which die, are begun again, and are given up at last."""

from collections import Counter
from collections.abc import Callable
from typing import Final

from rolecast.benchmarks.faults.comparison.parts import EXPERIMENT, trial_run
from rolecast.benchmarks.faults.disk import SimulatedDisk
from rolecast.benchmarks.faults.outcome import InvariantError, require_sentence
from rolecast.benchmarks.faults.schedule import Fault, FaultKind
from rolecast.benchmarks.faults.world import Killed, World
from rolecast.core.errors import RequestError, RunError
from rolecast.core.signals import Terminated
from rolecast.platform.tuning.comparison_folder import ComparisonFolder
from rolecast.platform.tuning.experiment import TrialPlan
from rolecast.platform.tuning.trial import TrialRun
from rolecast.platform.tuning.watch import Watch

TRIALS_AT_ONCE: Final = 2
"""Trials that run side by side."""

LOOK_SHARE: Final = 0.1
"""Chance that the driver looks at all trials after a step of one."""

LONGEST_LATE_S: Final = 3600.0
"""Longest time by which a step takes longer."""

DEATH_TEXT: Final = "the process of the trial was lost"


class SimulatedTune:
    """Runs the trials of one life of a driver."""

    def __init__(
        self,
        world: World,
        disk: SimulatedDisk,
        folder: ComparisonFolder,
        reports: Counter[str],
    ) -> None:
        """Begin.

        Args:
            world: whose faults strike here.
            disk: with the trials' locks.
            folder: of the comparison.
            reports: most reports that any driver has got of each trial; kept up to date.
        """
        self._world, self._disk, self._folder = world, disk, folder
        self._reports = reports
        self._waiting = list(EXPERIMENT.trials())
        self._open: dict[TrialPlan, TrialRun] = {}
        self._got = Counter[TrialPlan]()
        self._deaths = Counter[TrialPlan]()
        self.begun = Counter[str]()
        """Trial to the times that it was begun."""
        self._now: TrialPlan | None = None
        self._doomed: set[TrialPlan] = set()
        self._lost_alone = False
        """Whether the process of the trial that runs now has ended, and no other."""
        world.on_cluster = self.strike

    def run(self, watch: Watch) -> None:
        """Run all trials to their ends, or until the driver is asked to end."""
        world = self._world
        self._folder.begin_again(EXPERIMENT.trials())
        while self._waiting or self._open:
            if world.terminated:
                self._stop()
                return
            if self._waiting and len(self._open) < TRIALS_AT_ONCE:
                self._begin(self._waiting.pop(0))
            else:
                self._step(list(self._open)[int(world.rng.integers(0, len(self._open)))])
            for plan in sorted(self._doomed & set(self._open), key=lambda each: each.trial):
                self._died(plan, DEATH_TEXT)
            self._doomed.clear()
            if world.rng.random() < LOOK_SHARE:
                self._elsewhere(None, watch.glance)

    def strike(self, fault: Fault) -> None:
        """Let something go wrong with the trials.

        Raises:
            Killed: the process of the trial that runs now ends.
        """
        if fault.kind is FaultKind.LATE:
            self._world.spend(LONGEST_LATE_S * 1e-2 ** float(self._world.rng.random()))
            return
        if fault.kind is FaultKind.NODE:
            self._doomed |= set(self._open)
        elif self._now is None and self._open:
            self._doomed.add(next(iter(self._open)))
        if self._now is not None:
            self._lost_alone = self._world.dead = True
            raise Killed

    def _begin(self, plan: TrialPlan) -> None:
        """Start the process of a trial."""
        work = self._folder.work(plan.trial)
        self.begun[plan.trial] += 1

        def start() -> None:
            self._open[plan] = trial_run(plan, work, self._world, self._disk)

        self._elsewhere(plan, start)

    def _step(self, plan: TrialPlan) -> None:
        """Let a trial make its next report."""
        self._elsewhere(plan, lambda: self._report(plan, self._open[plan]))

    def _report(self, plan: TrialPlan, run: TrialRun) -> None:
        row, number = run.step()
        # A trial that died may repeat the report that Tune has got last.
        if number not in {self._got[plan], self._got[plan] + 1}:
            raise InvariantError(f"{plan.trial}: report {number} after {self._got[plan]}")
        self._got[plan] = number
        self._reports[plan.trial] = max(self._reports[plan.trial], number)
        if row["done"]:
            run.close()
            del self._open[plan]

    def _elsewhere(self, plan: TrialPlan | None, function: Callable[[], None]) -> None:
        """Run what belongs to the process of a trial, or to another thread of the driver."""
        self._world.guest, self._now = True, plan
        try:
            function()
        except Killed:
            if plan is None or not self._lost_alone:
                raise
            self._lost_alone = self._world.dead = False
            self._died(plan, DEATH_TEXT)
        except (RunError, RequestError) as error:
            if plan is None:
                raise InvariantError(f"the watch has ended: {error}") from error
            require_sentence(str(error))
            if not any(fault.kind is FaultKind.FULL for fault in self._world.struck):
                raise InvariantError(f"{plan.trial}: {error}") from error
            self._died(plan, str(error))
        finally:
            self._world.guest, self._now = False, None

    def _died(self, plan: TrialPlan, why: str) -> None:
        """Begin a trial anew, or give it up."""
        self._open.pop(plan, None)
        self._doomed.discard(plan)
        work = self._folder.work(plan.trial)
        self._disk.release(work.path)
        self._deaths[plan] += 1
        self._world.guest, self._now = False, None
        if self._deaths[plan] > EXPERIMENT.retries:
            work.fail(why)
        else:
            self._waiting.insert(0, plan)

    def _stop(self) -> None:
        """End as Tune does at Ctrl-C, with all trials closed, or as at SIGTERM, with none.

        Raises:
            Terminated: as at SIGTERM.
        """
        if self._world.rng.random() < 0.5:
            raise Terminated
        for plan, run in list(self._open.items()):
            self._elsewhere(plan, run.close)
