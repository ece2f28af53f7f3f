"""Writes down which trials Tune has given up, and why; the only thing that a trial cannot say."""

from pathlib import Path
from typing import Any, Final

from ray.tune import Callback

from rolecast.platform.tuning.comparison_folder import ComparisonFolder

_FAILURE_MARK: Final = "Failure # "
"""Begins each failure in the error file that Tune keeps of a trial."""

_RAY_CALL: Final = "ray::"
"""Names the call that raised, before its traceback; what was lost begins with a sentence."""


class FailureNotes(Callback):
    """Leaves a note in the folder of each trial that has used up its retries."""

    def __init__(self, out: Path) -> None:
        self._out = out

    def on_trial_error(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
        """Write the note."""
        text = Path(trial.error_file).read_text(encoding="utf-8")
        name = trial.config["trial"]["trial"]
        ComparisonFolder(self._out).work(name).fail(why(text))


def why(errors: str) -> str:
    """Return what went wrong last, on one line.

    Args:
        errors: Tune's error file: tracebacks, or sentences about processes that were lost.
    """
    block = errors.rsplit(_FAILURE_MARK, 1)[-1].splitlines()[1:]
    lines = [line.strip() for line in block if line.strip()]
    if not lines:
        return "no message"
    return lines[-1] if _RAY_CALL in lines[0] else lines[0]
