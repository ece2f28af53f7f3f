"""What a user gets wrong about a competitor is one sentence and exit code 2, or works all the same.

The command runs in this process: nothing of what is refused reaches a process of Ray.
"""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from rolecast.platform.cli.app import main
from rolecast.platform.optimizers.registry import BASELINES, make_optimizer
from tests.platform.optimizers.conftest import SETTINGS

NUTS = ["--optimizer", "saasbo", "--set", "inference=nuts"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--optimizer", "turb"], "optimizer 'turb' does not exist; did you mean 'turbo'?"),
        (["--optimizer", "open_es"], "did you mean 'openai_es'?"),
        (["--optimizer", "gibo", "--set", "sample=3"], "did you mean 'samples'?"),
        (
            ["--optimizer", "pgpe", "--set", "radius=0"],
            "radius is 0; expected a number > 0, or none",
        ),
        (["--optimizer", "gibo", "--set", "width=0"], "width is 0; expected a number > 0"),
        (["--optimizer", "ars", "--set", "population=5"], "is 5; expected an even integer >= 4"),
        (["--optimizer", "saasbo"], "dimension is 353; expected at most 100"),
        (
            ["--optimizer", "turbo", "--set", 'policy.ranges={"first": 0}'],
            "ranges['first'] is 0; expected a finite number > 0",
        ),
        pytest.param(
            NUTS,
            "needs NumPyro; install it by `pip install 'botorch[fully_bayesian]'`",
            marks=pytest.mark.skipif(find_spec("numpyro") is not None, reason="NumPyro is here"),
        ),
    ],
)
def test_a_wrong_request_is_one_sentence_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    out = tmp_path / "run"
    assert main(["search", "pred_prey_3", "--evaluations", "20", "--out", str(out), *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert sentence in line
    assert not out.exists()


@pytest.mark.parametrize("name", BASELINES)
def test_one_dimension_and_a_batch_beyond_population_or_candidates_are_no_obstacle(
    name: str,
) -> None:
    """The first batch of 4 is the strategies' population; TuRBO draws from 8 candidates."""
    settings = SETTINGS.get(name, [{}])[0] | ({"candidates": 8} if name == "turbo" else {})
    optimizer = make_optimizer(name, dimension=1, **settings)
    for q in (4, 10):
        asked = optimizer.ask(q)
        assert len(np.unique(asked)) == q
        optimizer.tell(asked, -np.square(asked[:, 0] - 0.4))
    assert 0.2 < optimizer.best()[0] < 0.6
