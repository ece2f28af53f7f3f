"""What a plan says of itself."""

from pathlib import Path
from typing import Any

import pytest

from rolecast.platform.search.planning.config import SearchConfig
from rolecast.platform.search.planning.plan import make_plan, remarks
from rolecast.platform.search.progress import Silent
from rolecast.platform.search.run import search


class Notes(Silent):
    """Keeps the sentences that a search tells."""

    def __init__(self) -> None:
        self.kept: list[str] = []

    def note(self, text: str) -> None:
        self.kept.append(text)


@pytest.mark.parametrize(
    ("task", "policy", "told"),
    [
        ("hopper", "hom", True),
        ("hopper", "mlp", False),
        ("hopper", "linear", False),
        ("pred_prey_3", "hom", False),
    ],
)
def test_a_team_policy_for_one_agent_is_remarked_on(task: str, policy: str, told: bool) -> None:
    plan = make_plan(SearchConfig(task=task, policy=policy, optimizer="random"))
    said = remarks(plan)
    assert len(said) == told
    for sentence in said:
        assert "95 of its 348 parameters can act; expected --policy linear or mlp" in sentence


def test_a_search_tells_the_remark(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"optimizer": "random", "workers": 0, "test_episodes": 1}
    notes = Notes()
    search(
        "hopper?horizon=5",
        policy="hom",
        env_steps=60,
        episodes=1,
        out=tmp_path / "run",
        progress=notes,
        **settings,
    )
    assert len(notes.kept) == 1
