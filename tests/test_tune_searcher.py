"""The search algorithm for Ray Tune: spaces, states, and trials on a real cluster."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray
from ray import tune
from ray.tune.search import ConcurrencyLimiter

from rolecast.core.errors import RequestError
from rolecast.core.signals import signals_given_back
from rolecast.platform.optimizers.local_gp.search import LocalSearch
from rolecast.search_space import Choice, Range, dimension
from rolecast.tune_searcher import RolecastSearcher, space_of

# Processes of trials import none of the above but Tune.
ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]

SPACE: dict[str, Any] = {
    "x": tune.uniform(-5.0, 5.0),
    "net": {"width": tune.lograndint(8, 513), "depth": tune.randint(1, 5)},
    "rate": tune.loguniform(1e-4, 1.0),
    "share": tune.quniform(0.0, 1.0, 0.25),
    "even": tune.qrandint(2, 10, 4),
    "on": tune.choice([True, False]),
    "constant": 7,
}


@pytest.fixture(autouse=True)
def _signals() -> Iterator[None]:
    """Tune takes Ctrl-C, and does not give it back; tests after these need it."""
    with signals_given_back():
        yield


def searcher(seed: int = 0, **settings: Any) -> RolecastSearcher:
    found = RolecastSearcher("local_gp", seed=seed, **settings)
    assert found.set_search_properties("loss", "min", SPACE, num_samples=40)
    return found


def loss(config: dict[str, Any]) -> float:
    distance = (config["x"] - 2.0) ** 2 + np.log10(config["rate"] / 0.01) ** 2
    return float(distance + config["net"]["depth"] + (not config["on"]))


def run(found: RolecastSearcher, trials: int, first: int = 0) -> list[float]:
    """Run trials one by one, and return their losses."""
    losses = []
    for number in range(first, first + trials):
        losses.append(loss(found.suggest(f"t{number}")))
        found.on_trial_complete(f"t{number}", {"loss": losses[-1]})
    return losses


def test_distributions_become_ranges_and_choices() -> None:
    assert space_of(SPACE) == {
        "even": Range(low=4, high=8, step=4, whole=True),
        "net/depth": Range(low=1, high=4, step=1, whole=True),
        "net/width": Range(low=8, high=512, log=True, step=1, whole=True),
        "on": Choice((True, False)),
        "rate": Range(low=1e-4, high=1.0, log=True),
        "share": Range(low=0.0, high=1.0, step=0.25),
        "x": Range(low=-5.0, high=5.0),
    }


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"x": tune.grid_search([1, 2])}, "param_space x is a grid search"),
        ({"x": tune.randn(0, 1)}, "param_space x is <ray.tune.search.sample.Float"),
        ({"a": {"b": tune.sample_from(lambda _: 1)}}, "param_space a/b is"),
        ({"a": [tune.uniform(0, 1)]}, "param_space a/0 is in a list or has / in its name"),
        ({"x": 3}, "nothing to choose"),
    ],
)
def test_what_no_optimiser_can_choose_is_refused(config: dict[str, Any], said: str) -> None:
    with pytest.raises(RequestError, match=re.escape(said)):
        RolecastSearcher().set_search_properties("loss", "min", config)


def test_metric_and_space_are_asked_for() -> None:
    with pytest.raises(RequestError, match="expected a key, and min or max"):
        RolecastSearcher().set_search_properties(None, None, SPACE)
    with pytest.raises(RequestError, match="knows no search space"):
        RolecastSearcher().suggest("first")
    assert not searcher().set_search_properties("loss", "min", SPACE)


def test_it_beats_random_search() -> None:
    found = [min(run(searcher(seed), 40)) for seed in range(12)]
    by_chance = [min(run(searcher(seed, random_trials=40), 40)) for seed in range(12)]
    assert np.median(found) < np.quantile(by_chance, 0.25)


def test_evaluations_are_all_trials_but_the_random_ones() -> None:
    planned = searcher(evaluations=40, random_trials=30)
    assert planned._trials is not None
    search = planned._trials._optimizer
    assert isinstance(search, LocalSearch)
    assert search._config.evaluations == 10
    with pytest.raises(RequestError, match="evaluations is 0; expected an integer >= 1"):
        searcher(evaluations=0)


def test_a_restored_searcher_asks_what_the_saved_one_would_have(tmp_path: Path) -> None:
    original, restored = searcher(), RolecastSearcher("local_gp", seed=0)
    run(original, 15)
    original.suggest("under way")
    original.save(str(tmp_path / "state"))
    restored.restore(str(tmp_path / "state"))
    assert restored.metric == "loss"
    for each in (original, restored):
        each.on_trial_complete("under way", {"loss": 1.0})
    assert run(original, 5, first=15) == run(restored, 5, first=15)


def test_choices_that_are_no_data_are_asked_for_again(tmp_path: Path) -> None:
    config = {"x": tune.uniform(0.0, 1.0), "kind": tune.choice([int, float])}
    original, bare, given = (RolecastSearcher() for _ in range(3))
    for each in (original, given):
        each.set_search_properties("loss", "min", config)
    original.save(str(tmp_path / "state"))
    with pytest.raises(RequestError, match="expected a Tuner with param_space"):
        bare.restore(str(tmp_path / "state"))
    given.restore(str(tmp_path / "state"))
    assert given.suggest("first") == original.suggest("first")


def test_a_file_that_holds_no_state_is_refused(tmp_path: Path) -> None:
    (tmp_path / "state").write_bytes(b"cos\nsystem\n(S'true'\ntR.")  # a pickle that would run
    with pytest.raises(RequestError, match="not a saved state"):
        searcher().restore(str(tmp_path / "state"))


@pytest.mark.parametrize(
    "result", [None, {}, {"loss": float("nan")}, {"loss": 1e300}, {"loss": "?"}, {"loss": 10**400}]
)
def test_a_trial_without_a_finite_result_is_not_told(result: dict[str, Any] | None) -> None:
    found = searcher(random_trials=0)
    run(found, 3)
    found.suggest("bad")
    found.on_trial_complete("bad", result, error=result is None)
    assert found._trials is not None
    assert found._trials.state_dict()["told"] == 3
    found.on_trial_complete("bad", {"loss": 1.0})  # run again by Tune
    found.on_trial_complete("bad", {"loss": 1.0})
    assert found._trials.state_dict()["told"] == 4


@pytest.mark.parametrize("running", [1, 3])
def test_a_failed_trial_does_not_end_the_search(running: int, tmp_path: Path) -> None:
    """An epoch of DUETS needs a value of each of its points, of which none is asked for twice."""
    found = RolecastSearcher("duets", random_trials=0, agents=2, rounds=20, first_epoch=4)
    found.set_search_properties("loss", "min", {"x": tune.uniform(0.0, 1.0)})
    asked: list[float] = []
    for number in range(20):
        asked.append(found.suggest(str(number))["x"])
        found.save(str(tmp_path / "state"))
        found.restore(str(tmp_path / "state"))
        ended = number + 1 - running
        if ended >= 0:
            result = {"loss": (asked[ended] - 0.3) ** 2}
            found.on_trial_complete(str(ended), result, error=ended == 3)
    assert found._trials is not None
    assert found._trials.state_dict()["optimizer"]["epoch"] == 2
    assert len(set(asked)) == 20


def test_points_evaluated_elsewhere_are_told() -> None:
    """The optimiser is told the same returns as by the searcher that ran the trials itself."""
    ran, heard = searcher(random_trials=8), searcher()
    for number in range(8):
        there = ran.suggest(f"t{number}")
        ran.on_trial_complete(f"t{number}", {"loss": loss(there)})
        as_pandas = {name: np.float64(x) if type(x) is float else x for name, x in there.items()}
        heard.add_evaluated_point(as_pandas, loss(there))
    (own, others) = (
        each._trials.state_dict()["optimizer"] for each in (ran, heard) if each._trials
    )
    assert own["data"]["rows"].shape == (8, dimension(space_of(SPACE)) + 2)
    np.testing.assert_array_equal(own["data"]["rows"][:, 0], others["data"]["rows"][:, 0])
    with pytest.raises(RequestError, match="expected values of"):
        heard.add_evaluated_point(there | {"x": 11.0}, 0.0)


def trainable(config: dict[str, Any]) -> None:
    tune.report({"loss": loss(config)})


def interrupted(config: dict[str, Any]) -> None:
    """Fail while a file is there."""
    if Path(config["stop"]).exists() and config["x"] > -4.0:
        raise RuntimeError("the machine went down")
    tune.report({"loss": loss(config)})


def test_tune_runs_its_trials_and_tells_what_they_gave(ray_cluster: str, tmp_path: Path) -> None:
    asked = RolecastSearcher("local_gp", seed=0, random_trials=4)
    tuner = tune.Tuner(
        trainable,
        param_space=SPACE,
        tune_config=tune.TuneConfig(
            search_alg=ConcurrencyLimiter(asked, max_concurrent=2),
            metric="loss",
            mode="min",
            num_samples=8,
            reuse_actors=True,
        ),
        run_config=tune.RunConfig(storage_path=str(tmp_path), verbose=0),
    )
    found = tuner.fit()
    losses = [(found[number].metrics or {})["loss"] for number in range(len(found))]
    assert len(losses) == 8
    assert asked._trials is not None
    told = asked._trials.state_dict()["optimizer"]["data"]["rows"][:, 0]
    np.testing.assert_allclose(np.sort(-told), np.sort(losses))
    best = found.get_best_result().config
    assert best is not None
    assert (best["constant"], set(best["net"])) == (7, {"width", "depth"})


def test_tune_restores_it(ray_cluster: str, tmp_path: Path) -> None:
    """Trials that failed are run again with their parameters; the state is that of all others."""
    stop = tmp_path / "stop"
    stop.touch()
    tuner = tune.Tuner(
        interrupted,
        param_space=SPACE | {"stop": str(stop)},
        tune_config=tune.TuneConfig(
            search_alg=RolecastSearcher("local_gp", seed=0, random_trials=2),
            metric="loss",
            mode="min",
            num_samples=3,
            reuse_actors=True,
        ),
        run_config=tune.RunConfig(storage_path=str(tmp_path), name="again", verbose=0),
    )
    before = tuner.fit()
    assert before.num_errors > 0
    stop.unlink()
    again = tune.Tuner.restore(str(tmp_path / "again"), interrupted, resume_errored=True)
    after = again.fit()
    assert (after.num_errors, len(after)) == (0, 3)


def test_the_page_runs_as_printed(
    ray_cluster: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Path(__file__).resolve().parent.parent / "docs" / "howto" / "tune.md"
    (code,) = re.findall(r"^```py\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    monkeypatch.setenv("HOME", str(tmp_path))
    found: dict[str, Any] = {}
    exec(code, found)
    assert found["results"].get_best_result().metrics["loss"] < 0.5
