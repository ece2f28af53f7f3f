"""What the command refuses before anything is run."""

from pathlib import Path

import pytest

from rolecast.benchmarks.dial.command import dial_table
from rolecast.core.errors import RequestError


def test_a_task_without_a_dial_is_refused_with_the_nearest(tmp_path: Path) -> None:
    expected = (
        r"task with a dial 'drone_delivery_6' does not exist; did you mean 'drone_delivery_3'"
    )
    with pytest.raises(RequestError, match=expected):
        dial_table(task="drone_delivery_6", out=tmp_path)
    assert not [*tmp_path.iterdir()]


def test_a_readme_shows_one_dial_and_others_are_refused(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    with pytest.raises(RequestError, match="a README shows the first dial alone"):
        dial_table(task="swimmer", out=tmp_path, readme=readme)
    with pytest.raises(RequestError, match="a README shows the first dial alone"):
        dial_table(long=True, out=tmp_path, readme=readme)
    assert not [*tmp_path.iterdir()]


def test_only_the_first_task_has_a_long_dial(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="--long: only pred_prey_3 has a long dial, not swimmer"):
        dial_table(task="swimmer", long=True, out=tmp_path)
    assert not [*tmp_path.iterdir()]
