"""Files of a run mutated by seed: each is refused, or leaves the history as it was."""

import json
import shutil
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from rolecast.core.errors import RequestError
from rolecast.platform.search.records.journal import Journal
from rolecast.platform.search.records.run_folder import RunFolder
from rolecast.platform.search.run import search
from rolecast.policies.artefact import load_policy

RUN_FILES: Final = (
    "run.json",
    "summary.json",
    "history.parquet",
    "incumbents.parquet",
    "checkpoint/optimizer.safetensors",
    "checkpoint/journal.bin",
    "policy/policy.json",
    "policy/weights.safetensors",
)
"""Files that are mutated, in turn."""

MUTATION_FATES: Final = ("refused", "harmless", "other_values")
"""What may become of a mutation: refused, read alike, or read as other values than the history."""

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


def make_run(path: Path) -> None:
    """Make a small run with its last batches in the journal too, as a kill after the tables."""
    search(
        "pred_prey_3",
        optimizer="local_gp",
        policy="linear",
        evaluations=20,
        episodes=2,
        batch_size=5,
        test_episodes=2,
        workers=0,
        out=path,
    )
    journal = Journal(path / "checkpoint" / "journal.bin")
    for batch in RunFolder(path).read_batches()[-2:]:
        journal.append(batch)


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
    """Return the JSON object with another value somewhere, sealed wrongly or not at all."""
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


@dataclass(frozen=True)
class ReadRun:
    """What commands read of a run."""

    batches: list[bytes]
    others: str
    """run.json, state, structure, summary and policy, exact to the last bit."""


def read_all(path: Path) -> ReadRun:
    """Return what commands read of a run.

    Raises:
        RequestError: something is damaged.
    """
    folder = RunFolder(path)
    run = folder.read_run()
    batches = [batch.to_bytes() for batch in folder.read_batches()]
    if batches != [batch.to_bytes() for batch in folder.batches()]:
        raise AssertionError("batches one by one are others than those at once")
    state, structure, summary = folder.read_state(), folder.read_structure(), folder.read_summary()
    policy = load_policy(path)
    extra, options = dict(policy.extra), dict(policy.policy.options)
    played = [policy.weights, asdict(policy.task), policy.policy.name, options, extra]
    others = json.dumps([run, state, structure, summary, played], default=_exact, sort_keys=True)
    return ReadRun(batches, others)


def _exact(value: Any) -> Any:
    """Return what JSON lacks as values that tell every bit."""
    if isinstance(value, np.ndarray | np.generic):
        return [str(value.dtype), list(value.shape), value.tobytes().hex()]
    return repr(value)


def fate_of(name: str, seed: int, whole: Path, run: Path, expected: ReadRun) -> str:
    """Return what becomes of one mutation: a name of `MUTATION_FATES`, or what is wrong.

    Args:
        name: file that is mutated.
        seed: of the mutation.
        whole: the sound run.
        run: a copy of it, whose file is mutated and mended again.
        expected: what is read of the sound run.
    """
    data = (whole / name).read_bytes()
    (run / name).write_bytes(mutated(data, np.random.default_rng([RUN_FILES.index(name), seed])))
    try:
        found = read_all(run)
    except RequestError as error:
        return "refused" if "\n" not in str(error) else "no sentence"
    except Exception as error:  # noqa: BLE001 - any is a fault of the reader, which is counted
        return f"{type(error).__name__}: {error}"
    finally:
        (run / name).write_bytes(data)
    if found.batches != expected.batches:
        return "another history"
    return "harmless" if found == expected else "other_values"


def count_mutations(mutations: int, seed: int) -> dict[str, Any]:
    """Mutate the files of a small run in turn; return what became of the mutations."""
    fates: dict[str, Counter[str]] = {name: Counter() for name in RUN_FILES}
    broken = []
    with tempfile.TemporaryDirectory() as folder:
        whole, run = Path(folder) / "whole", Path(folder) / "run"
        make_run(whole)
        shutil.copytree(whole, run)
        expected = read_all(whole)
        for number in range(seed, seed + mutations):
            name = RUN_FILES[number % len(RUN_FILES)]
            fate = fate_of(name, number, whole, run, expected)
            if fate in MUTATION_FATES:
                fates[name][fate] += 1
            else:
                broken.append(f"seed {number}, {name}: {fate}")
    return {
        "mutations": mutations,
        "first_seed": seed,
        **{fate: {name: each[fate] for name, each in fates.items()} for fate in MUTATION_FATES},
        "broken": broken,
        "command": f"rolecast bench faults --part damage --schedules {mutations} --seed {seed}",
    }
