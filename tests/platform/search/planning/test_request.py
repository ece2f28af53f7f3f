"""A search as a file: what a run writes is the same search again."""

import tomllib
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import rolecast
from rolecast.core.errors import ConfigError, RequestError
from rolecast.platform.search.planning.config import SearchConfig
from rolecast.platform.search.planning.request import read_request, request_text


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    config = SearchConfig(
        task="python:lab:make?name=a b",
        task_options={"sparse": 5, "note": 'a "quoted" word\nin two lines, ü', "part": [1, 2.5]},
        policy="mlp",
        policy_options={"hidden": [8, 8], "normalise": None, "ranges": {"first": 1e-05}},
        optimizer="snes",
        optimizer_settings={"mirrored": True},
        evaluations=12,
        asynchronous=True,
        confirm_share=0.1,
        out="runs/elsewhere",
    )
    file = tmp_path / "run.toml"
    file.write_text(request_text(config))
    read = SearchConfig.from_json(read_request(file))
    for each in fields(SearchConfig):
        expected = None if each.name == "out" else getattr(config, each.name)
        assert getattr(read, each.name) == expected
    assert "out" not in tomllib.loads(file.read_text())


def test_yaml_gives_the_same_search(tmp_path: Path) -> None:
    file = tmp_path / "search.yaml"
    file.write_text("task: hopper\nseed: 3\npolicy_options:\n  hidden: [4]\n  normalise: null\n")
    assert read_request(file) == {
        "task": "hopper",
        "seed": 3,
        "policy_options": {"hidden": [4], "normalise": None},
    }


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.toml", "task = ", "is no TOML"),
        ("a.yaml", "task: [", "is no YAML"),
        ("a.yaml", "- task", "expected a mapping"),
        ("a.toml", "tusk = 'hopper'", "'tusk' does not exist; did you mean 'task'"),
        ("a.toml", "policy_options = 3", "expected a table of options"),
        ("a.toml", "task = 3", "task of .* is 3; expected text in quotes"),
        ("a.yaml", "task: hopper\nout: 3", "out of .* is 3; expected text in quotes"),
    ],
)
def test_a_wrong_file_is_one_sentence(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(RequestError, match=message):
        read_request(tmp_path / name)
    with pytest.raises(RequestError, match="cannot be read"):
        read_request(tmp_path / "absent.toml")
    (tmp_path / "latin.toml").write_bytes(b"task = '\xe9'")
    with pytest.raises(RequestError, match=r"cannot be read \(no UTF-8\)"):
        read_request(tmp_path / "latin.toml")
    assert issubclass(ConfigError, RequestError)


def test_the_file_of_a_run_searches_the_same_again(
    tmp_path: Path, same_history: Callable[[Path, Path], None]
) -> None:
    small: dict[str, Any] = {"evaluations": 12, "episodes": 2, "batch_size": 4, "workers": 0}
    options = {"normalise": "running"}
    one = rolecast.search(
        task="pred_prey_3?sparse=5",
        seed=4,
        optimizer="random",
        policy_options=options,
        out=tmp_path / "one",
        **small,
    )
    again = read_request(one.out / "run.toml")
    rolecast.search(**again, out=tmp_path / "two")
    same_history(tmp_path / "one", tmp_path / "two")
