from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ray import tune

from rolecast.platform.search.metrics import VOCABULARY
from rolecast.platform.search.run import search
from rolecast.platform.tuning.trainable import SearchTrainable
from rolecast.platform.tuning.tuner import signals_given_back

SETTINGS: dict[str, Any] = {
    "policy": "mlp",
    "policy_options": {"hidden": [4]},
    "optimizer": "local_gp",
    "env_steps": 6_000,
    "episodes": 4,
    "batch_size": 3,
    "test_episodes": 20,
}

pytestmark = [
    pytest.mark.usefixtures("ray_cluster"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray.*"),
]


def fit(path: Path, **settings: Any) -> Any:
    tuner = tune.Tuner(
        SearchTrainable,
        param_space={"task": "pred_prey_3", **SETTINGS, **settings},
        run_config=tune.RunConfig(
            name="experiment",
            storage_path=str(path),
            verbose=0,
            checkpoint_config=tune.CheckpointConfig(checkpoint_at_end=True),
        ),
    )
    with signals_given_back():
        return tuner.fit()


def test_searches_are_trials_that_speak_the_vocabulary(
    tmp_path: Path, same_history: Callable[[Path, Path], None]
) -> None:
    results = fit(tmp_path, seed=tune.grid_search([0, 1]))
    for result in results:
        seed, metrics = result.config["seed"], result.metrics
        assert result.error is None
        assert set(VOCABULARY) <= set(metrics)
        assert metrics["env_steps"] == metrics["timesteps_total"] == 6_000
        assert 15 <= metrics["training_iteration"] <= 21
        frame = result.metrics_dataframe
        assert frame["env_steps"].is_monotonic_increasing
        assert frame["best_return"].is_monotonic_increasing
        alone = search("pred_prey_3", out=tmp_path / f"s{seed}", workers=0, seed=seed, **SETTINGS)
        assert alone.test_return == metrics["test_return"]
        same_history(Path(result.checkpoint.path) / "run", alone.out)


def test_a_trial_can_have_rollout_actors_in_its_placement_group(tmp_path: Path) -> None:
    alone = search("pred_prey_3", out=tmp_path / "alone", workers=0, seed=2, **SETTINGS)
    (result,) = fit(tmp_path, seed=2, workers=1)
    assert result.error is None
    assert result.metrics["test_return"] == alone.test_return


def test_a_trial_goes_on_from_its_checkpoint(
    tmp_path: Path, same_history: Callable[[Path, Path], None]
) -> None:
    config = {"task": "pred_prey_3", "seed": 4, **SETTINGS}
    first: Any = SearchTrainable(config=config)
    for _ in range(7):
        metrics = first.train()
    first.save(str(tmp_path / "saved"))
    first.stop()
    second: Any = SearchTrainable(config=config)
    second.restore(str(tmp_path / "saved"))
    while not metrics["done"]:
        metrics = second.train()
    second.save(str(tmp_path / "end"))
    second.stop()
    alone = search("pred_prey_3", out=tmp_path / "alone", workers=0, seed=4, **SETTINGS)
    assert metrics["test_return"] == alone.test_return
    same_history(tmp_path / "end" / "run", alone.out)
