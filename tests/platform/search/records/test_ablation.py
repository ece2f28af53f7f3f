"""An ablation is paired with the whole policy, net by net, and refuses what has no nets."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rolecast
from rolecast.core.errors import RequestError
from rolecast.core.seeds import Purpose, episode_seeds
from rolecast.platform.search.records.ablation import ABLATED_WEIGHTS


def test_each_net_is_put_back_alone_on_the_same_episodes(small_run: Path) -> None:
    loaded, task = rolecast.load_policy(small_run), rolecast.make_task("pred_prey_3")
    result = rolecast.ablate(small_run, episodes=60, seed=5)
    seeds = episode_seeds(0, Purpose.HELD_OUT, 5, 60)
    whole = rolecast.rollout(task, loaded.policy, loaded.weights[None], seeds).returns[0]
    assert list(result.nets) == ["edge", "message", "update"]
    assert result.episode_return_mean == pytest.approx(whole.mean())
    for name, part in loaded.policy.space.nets.items():
        weights = loaded.weights.copy()
        weights[part] = loaded.policy.space.centre[part]
        returns = rolecast.rollout(task, loaded.policy, weights[None], seeds).returns[0]
        found = result.nets[name]
        assert found.episode_return_mean == pytest.approx(returns.mean())
        assert found.difference_mean == pytest.approx((whole - returns).mean())
        error = (whole - returns).std(ddof=1) / np.sqrt(60)
        assert found.difference_stderr == pytest.approx(error)


def test_the_whole_policy_earns_what_evaluate_says(small_run: Path) -> None:
    result, whole = (
        rolecast.ablate(small_run, episodes=50),
        rolecast.evaluate(small_run, episodes=50),
    )
    assert result.episode_return_mean == whole.episode_return_mean
    assert result.episode_return_stderr == whole.episode_return_stderr


def test_a_net_of_weights_at_its_centre_is_worth_exactly_nothing(small_run: Path) -> None:
    loaded = rolecast.load_policy(small_run)
    part = loaded.policy.space.nets["update"]
    weights = loaded.weights.copy()
    weights[part] = loaded.policy.space.centre[part]
    found = rolecast.ablate(replace(loaded, weights=weights), episodes=20).nets["update"]
    assert (found.difference_mean, found.difference_stderr) == (0.0, 0.0)


def test_an_mlp_has_one_net_and_an_update_net_of_zeros_does_not_move(small_run: Path) -> None:
    task = rolecast.make_task("pred_prey_3")
    loaded = rolecast.load_policy(small_run)
    mlp = rolecast.make_policy("mlp", task)
    found = rolecast.ablate(
        replace(loaded, policy=mlp, weights=mlp.space.centre + 0.1), episodes=20, at="zero"
    )
    still = rolecast.rollout(
        task, mlp, np.zeros((1, mlp.space.size)), episode_seeds(0, Purpose.HELD_OUT, 1, 20)
    )
    assert list(found.nets) == ["mlp"]
    assert found.nets["mlp"].episode_return_mean == pytest.approx(still.returns.mean())


def test_one_episode_has_no_standard_error(small_run: Path) -> None:
    found = rolecast.ablate(small_run, episodes=1).to_json()
    assert found["whole"]["episode_return_stderr"] is None
    assert found["edge"]["difference_stderr"] is None


def test_json_has_the_whole_policy_and_its_nets(small_run: Path) -> None:
    told = rolecast.ablate(small_run, episodes=10).to_json()
    assert list(told) == ["whole", "edge", "message", "update"]
    assert list(told["whole"]) == ["episode_return_mean", "episode_return_stderr"]
    assert set(told["edge"]) == {*told["whole"], "difference_mean", "difference_stderr"}


def test_what_has_no_nets_is_refused(small_run: Path, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="scripted policy 'chase' has no nets; expected"):
        rolecast.ablate("chase", task="pred_prey_3")
    with pytest.raises(RequestError, match="holds no policy"):
        rolecast.ablate(tmp_path)
    with pytest.raises(RequestError, match=r"ablate\.at is 'middle'; expected one of"):
        rolecast.ablate(small_run, at="middle")
    assert set(ABLATED_WEIGHTS) == {"centre", "zero"}
