"""A held-out evaluation is of unseen episodes, is repeatable, and refuses what does not fit."""

from pathlib import Path

import numpy as np
import pytest

import rolecast
from rolecast.core.errors import RequestError
from rolecast.core.seeds import Purpose, episode_seeds
from rolecast.platform.rollout.held_out import HeldOut


def test_a_run_its_policy_folder_and_its_loaded_policy_earn_the_same(small_run: Path) -> None:
    results = [
        rolecast.evaluate(player, episodes=40)
        for player in (small_run, str(small_run / "policy"), rolecast.load_policy(small_run))
    ]
    assert len({result.episode_return_mean for result in results}) == 1
    assert len({result.task for result in results}) == 1


def test_it_is_the_rollout_on_the_held_out_seeds(small_run: Path) -> None:
    loaded, task = rolecast.load_policy(small_run), rolecast.make_task("pred_prey_3")
    seeds = episode_seeds(0, Purpose.HELD_OUT, 5, 30)
    returns = rolecast.rollout(task, loaded.policy, loaded.weights[None], seeds).returns[0]
    result = rolecast.evaluate(small_run, episodes=30, seed=5)
    assert result.episode_return_mean == pytest.approx(returns.mean())
    assert result.episode_return_stderr == pytest.approx(returns.std(ddof=1) / np.sqrt(30))
    assert result.env_steps == 30 * 25


def test_the_same_set_gives_the_same_result_and_another_set_another() -> None:
    first, again, other = (
        rolecast.evaluate("random", task="pred_prey_6", episodes=200, seed=seed)
        for seed in (1, 1, 2)
    )
    assert first == again
    assert first.episode_return_mean != other.episode_return_mean


@pytest.mark.parametrize(
    ("task", "mean", "off"), [("pred_prey_3", 135.4, 9), ("pred_prey_6", 319, 18)]
)
def test_the_scripted_chase_earns_what_the_reference_environment_pays(
    task: str, mean: float, off: float
) -> None:
    """The seeds are fixed, so it cannot fail by chance; `off` is over four standard errors."""
    result = rolecast.evaluate("chase", task=task)
    assert result.episode_return_mean == pytest.approx(mean, abs=off)


def test_one_episode_has_no_standard_error() -> None:
    assert rolecast.evaluate("random", task="pred_prey_3", episodes=1).episode_return_stderr is None


def test_a_policy_is_refused_in_a_task_of_other_sizes(small_run: Path) -> None:
    with pytest.raises(RequestError, match="agents of task 'pred_prey_6' is 6; expected 3"):
        rolecast.evaluate(small_run, task="pred_prey_6", episodes=1)


def test_an_unfinished_run_is_refused_with_the_way_to_finish_it(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(RequestError, match=f"rolecast resume {tmp_path}"):
        rolecast.evaluate(tmp_path)


@pytest.mark.parametrize(("field", "value"), [("episodes", 0), ("episodes", 1.5), ("seed", -1)])
def test_a_wrong_number_is_named(field: str, value: float) -> None:
    with pytest.raises(RequestError, match=f"evaluate.{field} is {value}; expected an integer"):
        HeldOut(**{field: value})  # type: ignore[arg-type]  # what is tested
