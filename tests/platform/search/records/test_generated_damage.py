"""Mutations of the files of a run, by seed: each is refused in a sentence, or changes nothing."""

import json
import shutil
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from rolecast.core.errors import RequestError
from rolecast.platform.search.records.journal import Journal
from rolecast.platform.search.records.run_folder import RunFolder
from rolecast.policies.artefact import load_policy

FILES: Final = (
    "run.json",
    "summary.json",
    "history.parquet",
    "incumbents.parquet",
    "checkpoint/optimizer.safetensors",
    "checkpoint/journal.bin",
    "policy/policy.json",
    "policy/weights.safetensors",
)
OTHER_VALUES: Final[tuple[Any, ...]] = (
    None,
    True,
    -1,
    2**70,
    1e400,
    "x",
    [],
    {},
    [[0]],
    "\ud800",
    "a\nb",
)
"""What a value of a JSON file is replaced by."""


@pytest.fixture(scope="module")
def whole(small_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with its last batches in the journal too, as a kill after the tables leaves it."""
    path = tmp_path_factory.mktemp("whole") / "run"
    shutil.copytree(small_run, path)
    journal = Journal(path / "checkpoint" / "journal.bin")
    for batch in RunFolder(path).read_batches()[-2:]:
        journal.append(batch)
    return path


def mutated(data: bytes, rng: np.random.Generator) -> bytes:
    """Return other bytes: cut off, flipped, blanked, repeated, or of another JSON value."""
    begin, end = sorted(rng.integers(0, len(data) + 1, size=2).tolist())
    kind = int(rng.integers(0, 5))
    if kind == 0:
        return data[:begin]
    if kind == 1:
        flipped = bytearray(data)
        flipped[begin % len(data)] ^= 1 << int(rng.integers(0, 8))
        return bytes(flipped)
    if kind == 2:
        return data[:begin] + bytes(end - begin) + data[end:]
    if kind == 3:
        return data[:end] + data[begin:]
    return _other_value(data, rng) if data.startswith(b"{\n") else data[begin:]


def _other_value(data: bytes, rng: np.random.Generator) -> bytes:
    stored = json.loads(data)
    inner: Any = stored
    while True:
        key = list(inner)[int(rng.integers(0, len(inner)))]
        if not isinstance(inner[key], dict) or not inner[key] or rng.random() < 0.3:
            break
        inner = inner[key]
    inner[key] = OTHER_VALUES[int(rng.integers(0, len(OTHER_VALUES)))]
    if rng.random() < 0.5:
        stored.pop("seal", None)  # as a person would leave it
    return json.dumps(stored, indent=2).encode()


def read(path: Path) -> Any:
    """Return all that commands read of a run."""
    folder = RunFolder(path)
    folder.read_run()
    batches = [batch.to_bytes() for batch in folder.read_batches()]
    assert batches == [batch.to_bytes() for batch in folder.batches()]
    folder.read_state()
    folder.read_structure()
    folder.read_summary()
    load_policy(path)
    return batches


@pytest.mark.parametrize("name", FILES)
def test_a_mutation_is_refused_in_a_sentence_or_leaves_the_history(
    name: str, whole: Path, tmp_path: Path
) -> None:
    """Forty mutations of each file; the seed names one again."""
    expected, run = read(whole), Path(shutil.copytree(whole, tmp_path / "run"))
    data = (whole / name).read_bytes()
    refused = 0
    for seed in range(40):
        (run / name).write_bytes(mutated(data, np.random.default_rng([FILES.index(name), seed])))
        found, said = expected, ""
        try:
            found = read(run)
        except RequestError as error:
            said = str(error)
        assert found == expected, seed
        assert "\n" not in said, seed
        refused += bool(said)
    assert refused > 5
