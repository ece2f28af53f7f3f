"""Mutations of the files of a run, by seed: each is refused in a sentence, or changes nothing."""

import shutil
from pathlib import Path

import pytest

from rolecast.benchmarks.faults.damage import (
    RUN_FILES,
    count_mutations,
    fate_of,
    make_run,
    read_all,
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with its last batches in the journal too, as a kill after the tables leaves it."""
    path = tmp_path_factory.mktemp("whole") / "run"
    make_run(path)
    return path


@pytest.mark.parametrize("name", RUN_FILES)
def test_a_mutation_is_refused_in_a_sentence_or_leaves_the_history(
    name: str, whole: Path, tmp_path: Path
) -> None:
    """Forty mutations of each file; the seed names one again."""
    expected, run = read_all(whole), Path(shutil.copytree(whole, tmp_path / "run"))
    fates = [fate_of(name, seed, whole, run, expected) for seed in range(40)]
    assert set(fates) <= {"refused", "harmless"}
    assert fates.count("refused") > 5
    assert read_all(run) == expected


def test_mutations_that_once_ended_without_a_sentence_are_refused(
    whole: Path, tmp_path: Path
) -> None:
    expected, run = read_all(whole), Path(shutil.copytree(whole, tmp_path / "run"))
    for seed in (142, 950):
        assert fate_of("policy/policy.json", seed, whole, run, expected) == "refused"


def test_mutations_are_counted_by_file() -> None:
    counted = count_mutations(16, 3)
    assert counted["broken"] == []
    assert sum(counted["refused"].values()) + sum(counted["harmless"].values()) == 16
    assert set(counted["refused"]) == set(RUN_FILES)
