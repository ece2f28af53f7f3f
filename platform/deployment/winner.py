"""The trial that has won a comparison, for a policy that is exported by the comparison's name."""

from pathlib import Path

from rolecast.core.errors import RequestError, require_known
from rolecast.envs.ids import format_id, parse_id
from rolecast.platform.tuning.comparison_folder import ComparisonFolder, read_comparison
from rolecast.platform.tuning.record import TrialFolder
from rolecast.platform.tuning.rewards import reward_options


def is_comparison(folder: Path) -> bool:
    """Tell whether a folder is that of a comparison."""
    return ComparisonFolder(folder).known


def winning_trial(folder: Path, task: str | None = None) -> TrialFolder:
    """Return the best trial of the method that has won a comparison.

    The method has the highest mean `test_return` over its seeds, and the trial the highest of
    those. That return was chosen among seeds; `rolecast certify` bounds it on fresh episodes.

    Args:
        folder: of a comparison.
        task: id with reward settings, where the comparison has several.
    Raises:
        RequestError: no trial has finished, or the task is not one of them.
    """
    rows = read_comparison(folder).rows
    rows = rows[rows["done"] & (rows["status"] == "ok") & rows["test_return"].notna()]
    if rows.empty:
        raise RequestError(f"{folder} has no finished trial; expected one, for a winner")
    pairs = zip(rows["task"], rows["reward"], strict=True)
    rows = rows.assign(problem=[_full_id(*pair) for pair in pairs])
    problems = sorted(set(rows["problem"]))
    if task is None and len(problems) > 1:
        raise RequestError(
            f"{folder} has a winner for each of {len(problems)} tasks; expected --task with one "
            f"of {', '.join(problems)}"
        )
    require_known("task", [] if task is None else [task], problems)
    rows = rows[rows["problem"] == (task or problems[0])]
    best = rows.groupby("method", sort=False)["test_return"].mean().idxmax()
    rows = rows[rows["method"] == best]
    place = int(rows["test_return"].argmax())
    return ComparisonFolder(folder).work(str(rows["trial"].iloc[place]))


def _full_id(task: str, reward: str) -> str:
    """Return the id of a task with its reward settings."""
    name, options = parse_id(task)
    return format_id(name, {**options, **reward_options(reward)})
