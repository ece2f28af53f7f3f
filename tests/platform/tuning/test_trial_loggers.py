"""A comparison whose callback fails ends with that error, and every trial that began is ended."""

import gc
from pathlib import Path
from typing import Any

import pytest

from rolecast.core.errors import RunError
from rolecast.platform.tuning.comparison import compare
from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.methods import SearchMethod

pytestmark = [
    pytest.mark.usefixtures("ray_cluster"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray.*"),
    pytest.mark.filterwarnings("ignore::FutureWarning:ray.*"),
    # Of files that Tune leaves open.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


class Faulty:
    """Fails at the first of what it is told of one kind."""

    def __init__(self, fails_at: str) -> None:
        self.told: list[tuple[Any, ...]] = []
        self._fails_at = fails_at

    def log_trial_start(self, trial: Any) -> None:
        self._tell("start", str(trial))

    def log_trial_result(self, iteration: int, trial: Any, result: dict[str, Any]) -> None:
        self._tell("result", str(trial))

    def log_trial_end(self, trial: Any, failed: bool = False) -> None:
        self._tell("end", str(trial), failed)

    def _tell(self, kind: str, *figures: Any) -> None:
        self.told.append((kind, *figures))
        if kind == self._fails_at:
            raise RunError(f"the store took no {kind}")


@pytest.mark.parametrize("kind", ["start", "result", "end"])
def test_a_callback_that_fails_ends_the_comparison_in_its_own_words(
    kind: str, tmp_path: Path
) -> None:
    """Tune makes a text of its traceback, or tries the trial again."""
    method = SearchMethod(policy="linear", optimizer="random", episodes=2, batch_size=4)
    experiment = Experiment(
        name="tiny", tasks=("pred_prey_3",), methods=(method,), seeds=2, env_steps=2_000, points=2,
        test_episodes=2, final_test_episodes=2,
    )  # fmt: skip
    before, faulty = Faulty("nothing"), Faulty(kind)
    with pytest.raises(RunError, match=f"^the store took no {kind}$"):
        compare(experiment, out=tmp_path / "out", workers=1, callbacks=[before, faulty])
    name = "pred_prey_3-dense-random-seed0"
    counts = [sum(each[0] == one for each in before.told) for one in ("start", "end")]
    assert counts[0] == counts[1] > 0
    ends = [each for each in faulty.told if each[0] == "end"]
    assert ends == ([] if kind == "start" else [("end", name, kind != "end")])
    assert faulty.told[0] == ("start", name)
    gc.collect()  # what Tune leaves open is warned of here, not in a later test
