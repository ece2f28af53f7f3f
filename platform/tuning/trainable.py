"""A search as a Ray Tune trainable: one trial is one whole search, beside any other algorithm.

A trial reports about twenty times, in the vocabulary that every trial has
(`rolecast.platform.search.metrics`), and keeps its run folder in the folder of the trial.
"""

import shutil
from pathlib import Path
from typing import Any, Final

from ray import tune
from ray.tune import PlacementGroupFactory

from rolecast.core.errors import RequestError
from rolecast.platform.search.backend import Crew
from rolecast.platform.search.config import SearchConfig
from rolecast.platform.search.loop import Search
from rolecast.platform.search.plan import Plan, make_plan, run_record
from rolecast.platform.search.progress import Silent
from rolecast.platform.search.run import crew_for, finish
from rolecast.platform.search.run_folder import RunFolder
from rolecast.platform.tuning.resources import search_device, trial_resources

REPORTS: Final = 20
"""Reports of one search."""


class SearchTrainable(tune.Trainable):
    """One search. Its config holds the fields of `SearchConfig`, except `out` and `address`.

    `workers` rollout actors live in the trial's placement group; with 0, the default here, the
    trial's own process runs the episodes.
    """

    @classmethod
    def default_resource_request(cls, config: dict[str, Any]) -> PlacementGroupFactory:
        """Return one CPU for the trial, one for each rollout actor, and the optimiser's GPU."""
        optimizer = config.get("optimizer", SearchConfig.optimizer)
        try:
            device = search_device(optimizer, config.get("optimizer_settings") or {})
        except RequestError:  # raised again by `setup`, which ends that trial and not all of them
            device = "cpu"
        return trial_resources(int(config.get("workers") or 0), device)

    def setup(self, config: dict[str, Any]) -> None:
        """Prepare the search; what a trial that died has left in its folder is taken up."""
        request = SearchConfig.from_json({"workers": 0, **config})
        self._plan: Plan = make_plan(request)
        self._path = Path(self.logdir) / "run"
        self._crew: Crew | None = None
        self._folder: RunFolder | None = None
        self._search: Search | None = None

    def step(self) -> dict[str, Any]:
        """Advance to the next point of report; the last one has `test_return` and `done`."""
        search, folder = self._running()
        budget = self._plan.budget
        point = int(budget.share(search.spent) * REPORTS) + 1
        metrics: dict[str, Any] = {}
        while not search.finished and budget.share(search.spent) * REPORTS < point:
            metrics = search.step()
        if search.finished:
            result = finish(self._plan, folder, search)
            metrics |= {"test_return": result.test_return, "done": True}
        return {**metrics, "timesteps_total": search.spent.env_steps}

    def save_checkpoint(self, checkpoint_dir: str) -> None:
        """Copy the run folder, in which every batch so far is kept."""
        search, folder = self._running()
        search.save()
        shutil.copytree(
            folder.path,
            Path(checkpoint_dir) / "run",
            ignore=shutil.ignore_patterns(".lock", "tensorboard"),
        )

    def load_checkpoint(self, checkpoint: Any) -> None:
        """Continue from the copy of a run folder in the folder `checkpoint`."""
        self.cleanup()
        shutil.rmtree(self._path, ignore_errors=True)
        shutil.copytree(Path(checkpoint) / "run", self._path)

    def cleanup(self) -> None:
        """Save, and end the actors."""
        if self._search is not None:
            self._search.close()
            self._search = None
        if self._crew is not None:
            self._crew.close()
            self._crew = None
        if self._folder is not None:
            self._folder.release()
            self._folder = None

    def _running(self) -> tuple[Search, RunFolder]:
        """Return the search, taken up from its folder if it does not run yet."""
        if self._search is None or self._folder is None:
            if self._path.exists():
                folder = RunFolder.open(self._path)
                folder.lock()
            else:
                folder = RunFolder.create(self._path, run_record(self._plan))
            self._folder, self._crew = folder, crew_for(self._plan)
            self._search = Search(self._plan, folder, self._crew, Silent())
        return self._search, self._folder
