"""The network of a comparison's learner leaves as an ONNX model, if its folder is trusted."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from rolecast.baselines.methods import METHODS
from rolecast.core.errors import RequestError
from rolecast.platform.cli.app import main
from rolecast.platform.deployment.config import ExportConfig
from rolecast.platform.deployment.learner import export_learner, is_trial
from rolecast.platform.deployment.manifest import check_export
from rolecast.platform.tuning.comparison_folder import ComparisonFolder
from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.methods import LearnerMethod, SearchMethod
from rolecast.platform.tuning.record import TrialRecord

pytestmark = [
    pytest.mark.usefixtures("ray_cluster"),
    # RLlib, about its own code and about the machine.
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
SETTINGS: dict[str, Any] = {"size": "small", "critic_hidden": [8]}


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> ComparisonFolder:
    """Folder of a comparison with the first report of a learner that has not learned."""
    experiment = Experiment(
        name="two",
        tasks=("gym:Pendulum-v1",),
        methods=(
            LearnerMethod(algorithm="td3", settings=SETTINGS),
            SearchMethod(optimizer="random"),
        ),
        env_steps=400,
        seeds=1,
    )
    folder = ComparisonFolder(tmp_path_factory.mktemp("comparison") / "two")
    folder.write_experiment({"experiment": experiment.to_json()})
    for plan in experiment.trials():
        work = folder.work(plan.trial)
        work.path.mkdir(parents=True)
        work.write(TrialRecord(rows=[{"point": 1}]))
        if plan.method == "td3":
            learner = METHODS["td3"].start(plan.task, SETTINGS, seed=1, workers=0, env_steps=400)
            learner.save(work.new_learner(1))
            learner.close()
    return folder


def trial(comparison: ComparisonFolder, method: str) -> Path:
    """Return the folder of a method's trial."""
    (found,) = (comparison.path / "work").glob(f"*{method}*")
    return found


def test_the_network_of_a_learner_is_exported(comparison: ComparisonFolder, tmp_path: Path) -> None:
    folder = trial(comparison, "td3")
    assert is_trial(folder)
    config = ExportConfig(target="onnx")
    manifest = export_learner(folder, tmp_path / "model", config, trust=True)
    assert check_export(tmp_path / "model") == manifest
    assert manifest["policy"]["parameters"] == 3 * 10 + 10 + 10 * 10 + 10 + 10 + 1
    assert manifest["check"]["onnx"]["vectors_equal"] == 1000


def test_the_command_says_how_many_vectors_are_equal(
    comparison: ComparisonFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["export", str(trial(comparison, "td3")), "--target", "onnx"]
    words += ["--out", str(tmp_path / "model")]
    assert main(words) == 2
    told = capsys.readouterr().err.splitlines()  # Ray's processes may write there, too
    (refused,) = (line for line in told if line.startswith("rolecast: "))
    assert refused.endswith("runs what it holds; expected --trust, for a folder of your own")
    assert main([*words, "--trust"]) == 0
    assert "1000 of 1000 vectors are equal within 1e-06" in capsys.readouterr().out


def test_a_learner_that_has_won_is_exported_by_the_comparison(
    comparison: ComparisonFolder, tmp_path: Path
) -> None:
    common = {"task": "gym:Pendulum-v1", "reward": "dense", "status": "ok", "done": True}
    rows = [
        {**common, "trial": trial(comparison, name).name, "method": name, "test_return": found}
        for name, found in (("td3", 2.0), ("random", 1.0))
    ]
    comparison.write_rows(pd.DataFrame(rows))
    out = tmp_path / "model"
    words = ["export", str(comparison.path), "--target", "onnx", "--trust", "--out", str(out)]
    assert main(words) == 0
    assert check_export(out)["trial"] == trial(comparison, "td3").name


def test_what_is_no_learner_and_other_targets_are_refused(
    comparison: ComparisonFolder, tmp_path: Path
) -> None:
    with pytest.raises(RequestError, match="a learner, td3, for which there is no target c99"):
        export_learner(trial(comparison, "td3"), tmp_path / "out", ExportConfig(), trust=True)
    onnx = ExportConfig(target="onnx")
    with pytest.raises(RequestError, match="is the trial of a search; expected its run: "):
        export_learner(trial(comparison, "random"), tmp_path / "out", onnx, trust=True)
    (tmp_path / "there").mkdir()
    with pytest.raises(RequestError, match="exists; expected a folder to make"):
        export_learner(trial(comparison, "td3"), tmp_path / "there", onnx, trust=True)
    assert [path.name for path in tmp_path.iterdir()] == ["there"]
