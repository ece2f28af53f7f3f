"""A budget holds for all that a search evaluates, its confirmation included."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import gymnasium
import numpy as np
import pytest

from rolecast.core.errors import RequestError
from rolecast.platform.optimizers.random import RandomSearch
from rolecast.platform.search.progress import Silent
from rolecast.platform.search.records.frames import read_incumbents
from rolecast.platform.search.records.history import Kind
from rolecast.platform.search.records.run_folder import RunFolder
from rolecast.platform.search.run import SearchInterrupted, resume, search

SETTINGS: dict[str, Any] = {
    "policy": "mlp",
    "policy_options": {"hidden": [3]},
    "optimizer": "random",
    "evaluations": 200,
    "episodes": 2,
    "batch_size": 20,
    "confirm_share": 0.1,
    "workers": 0,
    "test_episodes": 4,
}

InterruptsAfter = Callable[[int], Silent]

STEADY_STEPS: Final = 60


class Steady(gymnasium.Env[Any, Any]):
    """Ends when the action changes, which random play does at once; else after sixty steps."""

    observation_space = gymnasium.spaces.Box(-1.0, 1.0, (2,))
    action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,))

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.actions: list[float] = []
        return np.ones(2, dtype=np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.actions.append(float(action[0]))
        ends = len(set(self.actions)) > 1 or len(self.actions) == STEADY_STEPS
        return np.ones(2, dtype=np.float32), 1.0, ends, False, {}


def interrupted(out: Path, stops: Silent, **settings: Any) -> Path:
    with pytest.raises(SearchInterrupted):
        search("pred_prey_3", out=out, progress=stops, **SETTINGS | settings)
    return out


@pytest.mark.parametrize(("more", "confirmed"), [(0, 0), (3, 3), (10, 5)])
def test_a_resumed_search_stops_at_its_new_budget(
    tmp_path: Path, interrupts_after: InterruptsAfter, more: int, confirmed: int
) -> None:
    """After 40 evaluations, nothing is left, or less than a confirmation has, or twice as much."""
    out = interrupted(tmp_path / "run", interrupts_after(2))
    assert len(resume(out, evaluations=40 + more).history) == 40 + more
    batches = RunFolder(out).read_batches()
    assert sum(len(each.candidates) for each in batches if each.kind is Kind.CONFIRM) == confirmed


@pytest.mark.parametrize("asynchronous", [False, True])
def test_longer_episodes_than_those_of_random_play_exceed_a_budget_by_one_batch(
    tmp_path: Path, interrupts_after: InterruptsAfter, asynchronous: bool
) -> None:
    """Batches of 20 evaluations x 2 episodes x 60 steps, planned with episodes of 2 steps."""
    batch, given = 20 * 2 * STEADY_STEPS, SETTINGS | {"evaluations": None}
    given["asynchronous"] = asynchronous
    whole = search(Steady, out=tmp_path / "whole", env_steps=4 * batch - 1, **given)
    assert 3 * batch < whole.history["env_steps"].iloc[-1] <= 4 * batch - 1
    assert read_incumbents(whole.out)["kind"].iloc[-1] == "confirm"
    tiny = search(Steady, out=tmp_path / "tiny", env_steps=batch // 4, **given)
    assert batch // 4 < tiny.history["env_steps"].iloc[-1] <= 2 * batch
    assert read_incumbents(tiny.out)["kind"].iloc[-1] == "search"
    cut, stops = tmp_path / "cut", interrupts_after(2)
    with pytest.raises(SearchInterrupted):
        search(Steady, out=cut, env_steps=4 * batch - 1, progress=stops, **given)
    assert resume(cut, task=Steady).history["env_steps"].iloc[-1] <= 4 * batch - 1


def test_steps_of_random_play_are_used_when_a_budget_is_changed(
    tmp_path: Path, interrupts_after: InterruptsAfter
) -> None:
    given = {"policy": "hom", "policy_options": {"symmetries": "found"}, "env_steps": 60_000}
    out = interrupted(tmp_path / "run", interrupts_after(2), evaluations=None, **given)
    folder = RunFolder(out)
    random_steps = folder.read_run()["search"]["random_play_steps"]
    used = random_steps + int(folder.read_batches()[-1].env_steps[-1])
    with pytest.raises(RequestError, match=f"expected at least {used}, which are used"):
        resume(out, env_steps=used - 1)
    history = resume(out, env_steps=used).history
    assert random_steps + history["env_steps"].iloc[-1] == used


def test_a_budget_whose_optimizer_refuses_to_go_on_is_not_recorded(
    tmp_path: Path, interrupts_after: InterruptsAfter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As that of an older release may be: the run stays what it was, and goes on there."""
    out = interrupted(tmp_path / "run", interrupts_after(2))
    folder = RunFolder.open(out)
    before = folder.read_run(), folder.request_file.read_bytes()

    def refuses(self: RandomSearch, q: int | None = None) -> None:
        raise RequestError("a state of another release")

    with monkeypatch.context() as older:
        older.setattr(RandomSearch, "ask", refuses)
        with pytest.raises(RequestError, match="a state of another release"):
            resume(out, evaluations="+20")
    assert (folder.read_run(), folder.request_file.read_bytes()) == before
    assert resume(out, evaluations="+20").summary["budget"]["total"] == 220
