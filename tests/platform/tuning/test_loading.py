from pathlib import Path

import pytest

from rolecast.core.errors import RequestError
from rolecast.platform.tuning.learner import method_factory
from rolecast.platform.tuning.loading import load_experiment
from rolecast.platform.tuning.methods import LearnerMethod


def test_a_file_brings_its_experiment_and_its_methods(climbing_file: Path) -> None:
    request = load_experiment(climbing_file)
    assert request.experiment.name == "climbing"
    (learner,) = (m for m in request.experiment.methods if isinstance(m, LearnerMethod))
    assert method_factory(learner.algorithm, request.methods) is request.methods["climb"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1 / 0", "raises ZeroDivisionError: division by zero"),
        ("def", "raises SyntaxError: invalid syntax"),
        ("EXPERIMENT = {}", "expected an Experiment"),
        ("import no_such_module", "raises ModuleNotFoundError: No module named 'no_such_module'"),
        (
            "from rolecast import Experiment\nExperiment(sed=3)",
            "Experiment setting 'sed' does not exist; did you mean 'seeds'?",
        ),
        (
            "from rolecast.platform.tuning.methods import *\nSearchMethod(optimizer='')",
            "SearchMethod.optimizer is ''; expected a name",
        ),
    ],
)
def test_a_file_that_fails_is_one_sentence(text: str, sentence: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(text)
    with pytest.raises(RequestError) as refused:
        load_experiment(file)
    assert str(file) in str(refused.value)
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("quikstart", "did you mean 'quickstart'?"), ("nowhere.py", "does not exist")],
)
def test_an_experiment_that_is_not_there_is_one_sentence(name: str, sentence: str) -> None:
    with pytest.raises(RequestError) as refused:
        load_experiment(name)
    assert sentence in str(refused.value)


def test_a_method_that_is_not_there_is_named_with_the_nearest(climbing_file: Path) -> None:
    methods = load_experiment(climbing_file).methods
    with pytest.raises(RequestError, match="'clim' does not exist; did you mean 'climb'"):
        method_factory("clim", methods)
