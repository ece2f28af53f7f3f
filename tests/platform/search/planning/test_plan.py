"""What a plan says of itself."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rolecast.core.errors import RequestError
from rolecast.platform.optimizers.random import RandomConfig
from rolecast.platform.optimizers.registry import make_optimizer
from rolecast.platform.search.planning.budget import Spent
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


@pytest.mark.parametrize("policy", ["hom", "mlp", "constant"])
def test_a_policy_with_nothing_to_observe_is_remarked_on(policy: str) -> None:
    config = SearchConfig(task="causal:toy", policy=policy, optimizer="random", evaluations=12)
    expected = f"policy {policy} has nothing to observe on a causal graph; expected --policy"
    assert [said.startswith(expected) for said in remarks(make_plan(config))] == (
        [] if policy == "constant" else [True]
    )


@pytest.mark.parametrize(
    ("evaluations", "episodes", "batch_size"),
    [(20, 1, 4), (100, 1, 10), (300, 1, 12), (600, 3, 20), (1500, 8, 60)],
)
def test_a_budget_in_evaluations_has_batches_enough(
    evaluations: int, episodes: int, batch_size: int
) -> None:
    """By the episodes that it is worth, and not by eight for each evaluation."""
    plan = make_plan(SearchConfig(task="pred_prey_3", policy="mlp", evaluations=evaluations))
    plan.task.close()
    assert (plan.episodes, plan.batch_size) == (episodes, batch_size)


@pytest.mark.parametrize(("batch_size", "told"), [(98, True), (120, True), (49, False)])
def test_a_budget_of_one_batch_is_remarked_on(batch_size: int, told: bool) -> None:
    config = SearchConfig(task="pred_prey_3", policy="mlp", evaluations=100, batch_size=batch_size)
    plan = make_plan(config)
    said = [each for each in remarks(plan) if each.startswith("the budget has one batch of 90")]
    plan.task.close()
    assert bool(said) == told


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
    assert notes.kept[1:] == ["testing the incumbent over 1 held-out episodes"]


@pytest.mark.parametrize(
    "budget", [{"evaluations": 150}, {"evaluations": 300}, {"env_steps": 20_000, "episodes": 1}]
)
def test_the_last_epoch_of_duets_ends_within_the_evaluations_that_are_searched(
    budget: dict[str, Any],
) -> None:
    """An epoch that lacks a value decides nothing, and its evaluations are lost."""
    settings: dict[str, Any] = {"task": "ma_swimmer_2x1?horizon=100", "policy": "linear"}
    settings["optimizer"] = "duets"
    plan = make_plan(SearchConfig(**settings, **budget))
    searched = plan.budget.search_fits(Spent())
    rounds = vars(plan.optimizer)["rounds"]
    assert plan.config.optimizer_settings["rounds"] == rounds
    assert searched - 10 < 10 * rounds <= searched
    more = replace(plan.config, evaluations=None, env_steps=10**6)
    assert vars(make_plan(more, begun=True).optimizer)["rounds"] == rounds
    chosen = make_plan(SearchConfig(**settings, **budget, optimizer_settings={"rounds": 9}))
    assert vars(chosen.optimizer)["rounds"] == 9


def test_an_optimiser_without_a_method_is_refused_before_it_searches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(RandomConfig, "build", lambda *_, **__: np.random.default_rng())
    expected = "optimizer 'random' lacks ask, tell, best, state_dict, load_state_dict; expected"
    with pytest.raises(RequestError, match=expected):
        make_plan(SearchConfig(task="pred_prey_3", optimizer="random"))
    with pytest.raises(RequestError, match=expected):
        make_optimizer("random", dimension=2)


@pytest.mark.parametrize(
    ("settings", "refused"),
    [
        ({"structure": "full"}, "structure is 'full'; expected 'found' or 'none' for a black box"),
        ({"structure": "found", "structure_source": "policy"}, "structure_source is 'policy'; exp"),
        ({"structure": "found"}, None),
        ({"configuration": "paper"}, None),
    ],
)
def test_tied_weights_have_no_structure_of_weights(settings: Any, refused: str | None) -> None:
    """Sixteen policies were evaluated for cliques that nobody then looked for."""
    config = SearchConfig(
        task="pred_prey_3", policy_options={"tied_weights": True}, optimizer_settings=settings
    )
    assert make_plan(config, begun=True).design is None  # a run of before goes on
    if refused is None:
        assert make_plan(config).design is None
        return
    with pytest.raises(RequestError, match=refused) as said:
        make_plan(config)
    assert "or tied weights" in str(said.value)
