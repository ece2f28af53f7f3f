"""Mutations of the files of a run, by seed: each is refused in a sentence, or changes nothing."""

import json
import shutil
from pathlib import Path

import pytest

from rolecast.benchmarks.faults import damage
from rolecast.benchmarks.faults.damage import (
    MUTATION_FATES,
    RUN_FILES,
    count_mutations,
    fate_of,
    make_run,
    read_all,
)
from rolecast.core.errors import RequestError


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
    assert set(fates) <= set(MUTATION_FATES)
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
    assert sum(sum(counted[fate].values()) for fate in MUTATION_FATES) == 16
    assert set(counted["refused"]) == set(RUN_FILES)


@pytest.mark.parametrize("value", ["x", True, []])
def test_an_unsealed_value_of_another_kind_is_refused(
    value: object, whole: Path, tmp_path: Path
) -> None:
    run = Path(shutil.copytree(whole, tmp_path / "run"))
    summary = json.loads((run / "summary.json").read_bytes())
    del summary["seal"]
    (run / "summary.json").write_text(json.dumps({**summary, "test_return": value}))
    with pytest.raises(RequestError, match="is damaged: test_return is no finite number"):
        read_all(run)


@pytest.mark.parametrize(("part", "field"), [("search", "task"), ("task", "id")])
def test_an_unsealed_name_that_is_no_text_is_refused(
    part: str, field: str, whole: Path, tmp_path: Path
) -> None:
    run = Path(shutil.copytree(whole, tmp_path / "run"))
    stored = json.loads((run / "run.json").read_bytes())
    del stored["seal"]
    stored[part][field] = 7
    (run / "run.json").write_text(json.dumps(stored))
    with pytest.raises(RequestError, match=f"is damaged: {part} has no {field}"):
        read_all(run)


def test_a_mutation_that_is_read_as_another_value_is_told_from_a_harmless_one(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, run = read_all(whole), Path(shutil.copytree(whole, tmp_path / "run"))
    stored = json.loads((whole / "summary.json").read_bytes())
    del stored["seal"]
    for value, fate in ((stored["seed"], "harmless"), (stored["seed"] + 1, "other_values")):
        changed = json.dumps({**stored, "seed": value}).encode()
        monkeypatch.setattr(damage, "mutated", lambda data, rng, changed=changed: changed)
        assert fate_of("summary.json", 0, whole, run, expected) == fate
