"""A budget holds for all that a search evaluates, its confirmation included."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rolecast.core.errors import RequestError
from rolecast.platform.search.progress import Silent
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
