"""Every experiment that comes with the project is whole: it loads, and nothing in it is unknown."""

import re
from importlib import import_module
from pathlib import Path

import pytest

from rolecast.platform.optimizers.registry import BASELINES, OPTIMIZERS
from rolecast.platform.search.planning.plan import make_plan
from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.learner import method_factory
from rolecast.platform.tuning.loading import CONFIGS_PACKAGE, experiment_names, load_experiment
from rolecast.platform.tuning.methods import LearnerMethod, SearchMethod
from rolecast.platform.tuning.plan_checks import check_experiment
from rolecast.platform.tuning.rewards import task_with_reward
from rolecast.platform.tuning.runners import search_config
from rolecast.tune_configs import BANDIT_GRIDS, TABLES

NAMES = experiment_names()
FOLDER = Path(__file__).resolve().parents[2] / "tune_configs"


def test_every_module_of_the_folder_is_an_experiment() -> None:
    modules = {file.stem for file in FOLDER.glob("*.py")} - {"__init__", "parts"}
    assert modules == {*NAMES, *TABLES, *BANDIT_GRIDS}


@pytest.mark.parametrize("name", TABLES)
def test_every_trial_of_a_table_can_run(name: str) -> None:
    for experiments in import_module(f"{CONFIGS_PACKAGE}.{name}").TABLE.values():
        for experiment in experiments:
            assert Experiment.from_json(experiment.to_json()).to_json() == experiment.to_json()
            check_experiment(experiment, {})


@pytest.mark.parametrize("name", NAMES)
def test_an_experiment_loads_under_its_name(name: str) -> None:
    experiment = load_experiment(name).experiment
    assert experiment.name == name
    assert experiment.summary
    assert Experiment.from_json(experiment.to_json()) == experiment
    assert len({plan.trial for plan in experiment.trials()}) == len(experiment.trials())


def test_the_page_tells_how_many_trials_each_has() -> None:
    """Rows of several experiments give one number for all ("each"), or one for each."""
    told: dict[str, int] = {}
    for line in (FOLDER.parent / "docs/comparison.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        names = re.findall(r"`(\w+)`", cells[0]) if len(cells) == 3 else []
        if names and set(names) <= set(NAMES):
            counts = [int(count) for count in re.findall(r"\d+", cells[2])]
            told |= dict(zip(names, counts * (len(names) // len(counts)), strict=True))
    assert told == {name: len(load_experiment(name).experiment.trials()) for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_every_search_of_an_experiment_can_be_planned(name: str) -> None:
    experiment = load_experiment(name).experiment
    for plan in experiment.trials()[: len(experiment.trials()) // experiment.seeds]:
        method = experiment.method(plan.method)
        if isinstance(method, SearchMethod) and plan.reward == experiment.rewards[-1]:
            made = make_plan(search_config(experiment, plan, method))
            assert made.budget.total == (method.evaluations or experiment.env_steps)
            made.task.close()


@pytest.mark.parametrize("name", NAMES)
def test_every_learner_of_an_experiment_is_known(name: str) -> None:
    experiment = load_experiment(name).experiment
    for task in experiment.tasks:
        made = task_with_reward(task, "dense")
        made.close()
        for method in experiment.methods:
            if isinstance(method, LearnerMethod) and task in (method.tasks or (task,)):
                method_factory(method.algorithm, {}).check(made.spec, method.settings)


def test_the_comparison_of_optimizers_has_all_that_are_made_for_so_many_dimensions() -> None:
    """SAASBO is for 100 dimensions at most and DUETS for 10; the role policy has more."""
    methods = load_experiment("fig9_hdbo").experiment.methods
    searches = [method for method in methods if isinstance(method, SearchMethod)]
    assert {method.optimizer for method in searches} == {*OPTIMIZERS, *BASELINES} - {
        "saasbo",
        "duets",
    }
    assert len({(method.evaluations or 0) * (method.episodes or 0) for method in searches}) == 1


@pytest.mark.parametrize(
    ("name", "rewards", "env_steps", "seeds"),
    [("table1", 7, 200_000, 5), ("table4", 13, 200_000, 5), ("table5", 10, 2_000_000, 5)],
)
def test_a_table_has_the_settings_and_the_budget_of_the_paper(
    name: str, rewards: int, env_steps: int, seeds: int
) -> None:
    experiment = load_experiment(name).experiment
    assert len(experiment.rewards) == rewards
    assert (experiment.env_steps, experiment.seeds) == (env_steps, seeds)
