"""Returns of scripted policies in the tasks of a comparison: measured once, stored with it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from rolecast.core.errors import RequestError, RunError
from rolecast.core.files import parsed, read_json, write_sealed_json
from rolecast.core.patience import Patience
from rolecast.envs.causal.problem import HasCausalGraph
from rolecast.envs.registry import make_task
from rolecast.envs.rewards.task import under_patience, unwrapped
from rolecast.envs.trust import require_trust
from rolecast.platform.search.records.measurements import (
    SLOW_EPISODES,
    Yardstick,
    fast_yardsticks,
    slow_yardsticks,
)
from rolecast.platform.tuning.comparison_folder import ComparisonFolder

NOT_MEASURED: Final = "not measured yet; `rolecast report DIR` does"


@dataclass(frozen=True, kw_only=True)
class TaskYardsticks:
    """Scripted policies of one task."""

    yardsticks: tuple[Yardstick, ...] = ()
    """Empty where none plays the task; of few episodes where these are not compiled."""

    missing: str = ""
    """Why they are not known; empty if they are."""


def complete_comparison(out: str | Path, *, trust: bool = False) -> None:
    """Measure the scripted policies of all tasks of a comparison that lack them.

    Args:
        out: folder of the comparison.
        trust: make its tasks, though their ids may run any code (`envs.trust`).
    Raises:
        RequestError: this is no folder of a comparison, or a task is not trusted.
    """
    folder = ComparisonFolder(out)
    tasks = folder.read_experiment()["experiment"]["tasks"]
    known = {task: each for task, each in read_yardsticks(folder).items() if not each.missing}
    if any(task not in known for task in tasks):
        for task in tasks:
            require_trust(task, trust=trust)
        found = {task: known.get(task) or _measured(task) for task in tasks}
        stored = {task: asdict(each) for task, each in found.items()}
        write_sealed_json(folder.yardsticks_file, stored)


def read_yardsticks(folder: ComparisonFolder) -> Mapping[str, TaskYardsticks]:
    """Return the scripted policies that were measured, by task."""
    if not folder.yardsticks_file.is_file():
        return {}
    stored = read_json(folder.yardsticks_file)
    return parsed(
        folder.yardsticks_file,
        lambda: {
            task: TaskYardsticks(
                yardsticks=tuple(Yardstick(**each) for each in values["yardsticks"]),
                missing=values["missing"],
            )
            for task, values in stored.items()
        },
    )


def _measured(task: str) -> TaskYardsticks:
    try:
        made = make_task(task)
    except RequestError as error:
        return TaskYardsticks(missing=str(error))
    try:
        if hasattr(made, "lanes"):
            return TaskYardsticks(yardsticks=fast_yardsticks(made))
        if isinstance(unwrapped(made), HasCausalGraph):
            return TaskYardsticks()
        with under_patience(made, Patience()):
            return TaskYardsticks(yardsticks=slow_yardsticks(made, SLOW_EPISODES))
    except RunError as error:  # of an environment that fails now and then
        return TaskYardsticks(missing=str(error))
    finally:
        made.close()
