"""How many starts a search has, once begun: those of its first budget, whatever comes later."""

from pathlib import Path
from typing import Any

import pytest

from rolecast.platform.search.records.run_folder import RunFolder
from rolecast.platform.search.run import resume, search

HOPPER: dict[str, Any] = {
    "policy": "linear",
    "episodes": 1,
    "batch_size": 100,
    "seed": 4,
    "workers": 0,
    "test_episodes": 3,
    "task_options": {"horizon": 2},
}


@pytest.mark.parametrize(("env_steps", "starts"), [(1_700, None), (1_800, 4)])
def test_a_run_that_gets_more_budget_keeps_its_starts(
    env_steps: int, starts: int | None, tmp_path: Path
) -> None:
    search("hopper", out=tmp_path / "run", env_steps=env_steps, **HOPPER)
    resume(tmp_path / "run", env_steps="+400")
    folder = RunFolder(tmp_path / "run")
    assert folder.read_run()["search"]["optimizer_settings"].get("starts") == starts
    assert folder.read_batches()[-1].spent_after.env_steps > env_steps
