"""`rolecast compare`: what it prints, and that a wrong request runs and overwrites nothing."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pandas as pd
import pytest

from rolecast.platform.tuning.comparison_folder import read_comparison
from tests.conftest import write_comparison
from tests.platform.cli.conftest import heavy_modules

Command = Callable[..., CompletedProcess[str]]

HEAD = """
from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.methods import LearnerMethod, SearchMethod

RANDOM = SearchMethod(
    optimizer="random", policy="mlp", policy_options={"hidden": [4]}, episodes=2, batch_size=5
)


def experiment(*methods, **changes):
    values = {"name": "mine", "tasks": ("pred_prey_3",), "env_steps": 500, "seeds": 1, "points": 2}
    values |= {"test_episodes": 10, "final_test_episodes": 10, "methods": methods or (RANDOM,)}
    return Experiment(**values | changes)


"""


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that writes a user's experiment: an expression, after `HEAD`."""

    def write(text: str) -> Path:
        file = tmp_path / "mine.py"
        file.write_text(f"{HEAD}EXPERIMENT = {text}\n")
        return file

    return write


def one_sentence(ended: CompletedProcess[str]) -> str:
    """Return what a wrong request is told; all of it is one line, and nothing was run."""
    assert ended.returncode == 2, ended.stderr
    assert ended.stdout == ""
    (line,) = ended.stderr.splitlines()
    return line.removeprefix("rolecast: ")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1 / 0", "raises ZeroDivisionError: division by zero"),
        ("experiment(tasks=('pred_pray_3',))", "did you mean 'pred_prey_3'?"),
        ("experiment(tasks=('gym:Blackjack-v1?horizon=0',))", "expected an integer >= 1"),
        ("experiment(rewards=('spars=5',))", "did you mean 'sparse'?"),
        ("experiment(SearchMethod(optimizer='cma'))", "did you mean 'cmaes'?"),
        (
            "experiment(SearchMethod(optimizer='local_gp', optimizer_settings={'windo': 3}))",
            "did you mean 'window'?",
        ),
        ("experiment(SearchMethod(policy='hon'))", "did you mean 'hom'?"),
        ("experiment(SearchMethod(policy_options={'sise': 3}))", "did you mean 'size'?"),
        ("experiment(LearnerMethod(algorithm='td33'))", "did you mean 'td3'?"),
        ("experiment(env_steps=20)", "env_steps is 20; expected at least 25, an episode"),
        ("experiment(env_steps=40)", "env_steps is 40; expected at least 50, one evaluation"),
        ("experiment(seed=3)", "setting 'seed' does not exist; did you mean 'seeds'?"),
    ],
)
def test_a_wrong_experiment_is_one_sentence(
    text: str,
    sentence: str,
    written: Callable[[str], Path],
    rolecast_command: Command,
    tmp_path: Path,
) -> None:
    out = tmp_path / "out"
    assert sentence in one_sentence(rolecast_command("compare", written(text), "--out", out))
    assert not out.exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["quikstart"], "did you mean 'quickstart'?"),
        (["nowhere.py"], "nowhere.py does not exist"),
        (["quickstart", "--seeds", "0"], "Experiment.seeds is 0; expected an integer >= 1"),
        (["quickstart", "--workers", "0"], "workers is 0; expected an integer >= 1"),
        (["quickstart", "--budget-fraction", "2"], "expected a number in (0, 1]"),
        (["quickstart", "--only", "method=ppoo"], "did you mean 'ppo'?"),
        (["quickstart", "--resume"], "expected the folder as --out DIR"),
        (["quickstart", "--resume", "--out", "nowhere"], "has no experiment.json"),
    ],
)
def test_a_wrong_command_line_is_one_sentence(
    words: list[str],
    sentence: str,
    rolecast_command: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert sentence in one_sentence(rolecast_command("compare", *words))
    assert list(tmp_path.iterdir()) == []


def test_the_folder_of_another_experiment_is_left_as_it_is(
    written: Callable[[str], Path], rolecast_command: Command, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    write_comparison(out, {"experiment": {"name": "theirs"}}, pd.DataFrame())
    before = {file: file.read_bytes() for file in out.iterdir()}
    told = one_sentence(
        rolecast_command("compare", written("experiment()"), "--out", out, "--resume")
    )
    assert "is of another experiment, whose name is 'theirs'; expected 'mine'" in told
    told = one_sentence(rolecast_command("compare", written("experiment()"), "--out", out))
    assert "exists; expected a path that does not or --resume" in told
    assert {file: file.read_bytes() for file in out.iterdir()} == before
    told = one_sentence(rolecast_command("resume", out))
    assert told.endswith(
        f"is a comparison; go on with it by: rolecast compare NAME --out {out} --resume"
    )


@pytest.mark.parametrize("words", [["quickstar"], ["none.py"], ["quickstart", "--out", "."]])
def test_what_does_not_exist_is_refused_before_what_computes_is_loaded(words: list[str]) -> None:
    assert heavy_modules(["compare", *words], code=2) == set()


@pytest.mark.filterwarnings("ignore::DeprecationWarning:ray.*")
@pytest.mark.filterwarnings("ignore::FutureWarning:ray.*")
def test_a_comparison_prints_one_object_and_writes_its_report(
    ray_cluster: str, written: Callable[[str], Path], rolecast_command: Command, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    file = written("experiment(seeds=2)")
    ended = rolecast_command("compare", file, "--only", "seed=1", "--out", out, "--json")
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout) == {
        "out": str(out),
        "report": str(out / "report.html"),
        "failed": {},
    }
    assert (out / "report.html").is_file()
    rows = read_comparison(out).rows
    assert list(zip(rows["seed"], rows["env_steps"], strict=True)) == [(1, 250), (1, 500)]
    assert "1 of 1 trials done" in ended.stderr
    assert f"Ray at {ray_cluster}: 1 node, 2 CPUs" in ended.stderr
