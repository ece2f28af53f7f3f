"""A policy is evaluated and ablated on its run's terms: failed episodes, time limit, budget."""

from pathlib import Path

import numpy as np
import pytest

import rolecast
from rolecast.core.errors import RequestError, RunError
from rolecast.envs.spec import FAILED_EPISODES
from rolecast.platform.cli.app import main
from rolecast.platform.rollout.held_out import DEVELOPMENT_SET, held_out_seeds
from rolecast.platform.rollout.rollout import Rollout
from rolecast.platform.search.records.run_folder import RunFolder
from rolecast.platform.search.records.run_terms import RunTerms, lowest_returns
from tests.platform.search.test_failed_episodes import SETTINGS, Hanging, Raising


@pytest.mark.parametrize("task", [Raising, Hanging])
def test_a_run_that_forgives_is_evaluated_and_ablated_though_episodes_fail(
    tmp_path: Path, task: type, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    settings = SETTINGS | {"evaluations": 6, "failed_episodes": "lowest", "step_timeout": 0.3}
    rolecast.search(f"python:{task.__module__}:{task.__name__}", out=out, **settings)
    lowest, _ = lowest_returns(RunFolder(out).read_batches())
    evaluated = rolecast.evaluate(out, episodes=6, trust=True)
    assert lowest <= evaluated.episode_return_mean < -4.0  # two steps alone would cost two to six
    seeds = held_out_seeds(DEVELOPMENT_SET, evaluated.seed, 6)
    assert evaluated.failed_episodes == sum(int(seed) % 3 == 0 for seed in seeds) > 0
    assert main(["evaluate", str(out), "--episodes", "6", "--trust"]) == 0
    said = f"of which {evaluated.failed_episodes} failed and count as the lowest return"
    assert said in capsys.readouterr().out
    ablated = rolecast.ablate(out, episodes=6, trust=True)
    assert ablated.episode_return_mean == evaluated.episode_return_mean
    assert np.isfinite([each.episode_return_mean for each in ablated.nets.values()]).all()


def test_a_run_that_forgives_nothing_ends_a_step_that_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, task = tmp_path / "run", f"python:{Hanging.__module__}:Hanging"
    with monkeypatch.context() as sound:
        sound.setattr(Hanging, "fails_in", 5)
        rolecast.search(task, out=out, step_timeout=0.3, **SETTINGS)
    with pytest.raises(RunError, match=r"has not answered for 0\.3 s in step 2"):
        rolecast.evaluate(out, episodes=6, trust=True)


def test_a_failed_episode_counts_as_the_lowest_of_the_run_and_of_those_played() -> None:
    returns = np.array([[-1.0, -3.0, 50.0]])
    played = Rollout(
        returns=returns,
        observed_returns=2.0 * returns,
        lengths=np.ones((1, 3), dtype=np.int64),
        metrics={FAILED_EPISODES: np.array([[0.0, 0.0, 1.0]])},
    )
    found = RunTerms(lowest=(-9.0, -2.0)).settled(played)
    assert found.returns.tolist() == [[-1.0, -3.0, -9.0]]
    assert found.observed_returns.tolist() == [[-2.0, -6.0, -6.0]]


def test_the_policy_of_a_former_budget_is_played_only_where_it_is_named(
    extended_run: Path,
) -> None:
    for play in (rolecast.evaluate, rolecast.ablate):
        with pytest.raises(RequestError, match=f"rolecast resume {extended_run}"):
            play(extended_run, episodes=4)
    assert rolecast.evaluate(extended_run / "policy", episodes=4).episodes == 4
