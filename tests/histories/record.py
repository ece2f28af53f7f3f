"""Records what searches of one seed compute, so that two versions can be compared bit by bit.

By the public names of rolecast alone, so that it runs on any version:

    python tests/histories/record.py /tmp/before          # small budgets, as the test has them
    python tests/histories/record.py /tmp/before --large  # budgets in which searches learn
    python tests/histories/record.py /tmp/after --large --against /tmp/before
    python tests/histories/record.py /tmp/before --digests  # what the test compares with
"""

import argparse
import hashlib
import json
import os
import sys
import time
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import llvmlite.binding
import numpy as np
import pandas as pd

import rolecast

DIGESTS: Final = Path(__file__).with_name("digests.json")
SEED: Final = 7
OPTIMIZERS: Final = ("dss_gp_ucb", "local_gp", "cmaes", "gp_ucb", "snes", "turbo")
BLACK_BOX: Final = "black_box"
PROBLEMS: Final = ("pred_prey_3", "hopper", BLACK_BOX)

BUDGETS: Final[Mapping[str, Mapping[str, Mapping[str, int]]]] = MappingProxyType(
    {
        "small": {
            "pred_prey_3": {"evaluations": 60, "episodes": 4, "batch_size": 12},
            "hopper": {"evaluations": 12, "episodes": 2, "batch_size": 4},
            BLACK_BOX: {"batches": 6, "batch_size": 8, "dimension": 12},
        },
        "large": {
            "pred_prey_3": {"env_steps": 200_000},
            "hopper": {"evaluations": 60, "episodes": 2},
            BLACK_BOX: {"batches": 25, "batch_size": 8, "dimension": 20},
        },
    }
)
"""Budget by size and problem."""

GLOBAL_SEARCHES: Final = ("gp_ucb", "turbo")
GLOBAL_EVALUATIONS: Final = 60
"""Evaluations in 353 dimensions of the searches that fit all data anew in each batch."""


def history(optimizer: str, problem: str, size: str, folder: Path) -> pd.DataFrame:
    """Return one row an evaluation: candidate and return; of a search all but its wall time."""
    budget = dict(BUDGETS[size][problem])
    if problem == BLACK_BOX:
        return black_box_history(optimizer, **budget)
    if optimizer in GLOBAL_SEARCHES and "env_steps" in budget:
        budget = {"evaluations": GLOBAL_EVALUATIONS, "episodes": 4}
    out = folder / f"{problem}-{optimizer}"
    settings = {"structure": "found"} if optimizer == "dss_gp_ucb" else {}
    rolecast.search(
        problem, policy="hom", optimizer=optimizer, optimizer_settings=settings, seed=SEED,
        workers=0, out=str(out), test_episodes=2, **budget,
    )  # fmt: skip
    return pd.read_parquet(out / "history.parquet").drop(
        columns=["wall_time_s", "episodes_of"], errors="ignore"
    )


def black_box_history(
    optimizer: str, *, dimension: int, batches: int, batch_size: int
) -> pd.DataFrame:
    """Search a smooth function with known noise by ask and tell."""
    searcher = rolecast.make_optimizer(optimizer, dimension=dimension, seed=SEED)
    rng = np.random.default_rng(SEED)
    rows: list[dict[str, Any]] = []
    for batch in range(batches):
        candidates = searcher.ask(batch_size)
        offsets = candidates - np.linspace(0.3, 0.7, dimension)
        returns = -np.square(offsets).sum(1) - np.prod(np.abs(offsets), axis=1)
        returns = returns + 0.05 * rng.standard_normal(batch_size)
        searcher.tell(candidates, returns, np.full(batch_size, 0.05))
        best = searcher.best()
        rows += [
            {"batch": batch, "candidate": candidate, "return": value, "incumbent": best}
            for candidate, value in zip(candidates, returns, strict=True)
        ]
    return pd.DataFrame(rows)


def record(folder: Path, size: str) -> None:
    """Write one parquet a search."""
    folder.mkdir(parents=True, exist_ok=True)
    for problem in PROBLEMS:
        for optimizer in OPTIMIZERS:
            start = time.perf_counter()
            frame = history(optimizer, problem, size, folder / "runs")
            frame.to_parquet(folder / f"{problem}-{optimizer}.parquet")
            seconds = time.perf_counter() - start
            sys.stdout.write(f"{problem} {optimizer}: {len(frame)} rows, {seconds:.1f} s\n")
            sys.stdout.flush()


def differences(before: pd.DataFrame, after: pd.DataFrame) -> list[str]:
    """Return the columns that are not equal to the last bit; names of columns must agree."""
    if list(before.columns) != list(after.columns) or len(before) != len(after):
        return [f"{len(before)} rows of {list(before)} against {len(after)} of {list(after)}"]
    return [
        str(name)
        for name in before.columns
        if not all(
            np.array_equal(np.asarray(one), np.asarray(other), equal_nan=is_float(one))
            for one, other in zip(before[name], after[name], strict=True)
        )
    ]


def row_digests(history: pd.DataFrame) -> list[str]:
    """Return a digest of every row, of all columns to the last bit."""

    def digest(row: Any) -> str:
        sha = hashlib.sha256()
        for value in row:
            sha.update(np.ascontiguousarray(value).tobytes())
        return sha.hexdigest()[:16]

    return [digest(row) for row in history.itertuples(index=False)]


def machine() -> dict[str, Any]:
    """Return what the last bits of a computation depend on beside the code."""
    packages = ("numpy", "scipy", "torch", "numba")
    return {
        "cpu": llvmlite.binding.get_host_cpu_name(),
        "cores": os.cpu_count(),
        **{name: version(name) for name in packages},
    }


def write_digests(folder: Path) -> None:
    """Write `digests.json` beside this file from a folder of small histories."""
    histories = {
        file.stem: row_digests(pd.read_parquet(file)) for file in sorted(folder.glob("*.parquet"))
    }
    digests = {"machine": machine(), "histories": histories}
    DIGESTS.write_text(json.dumps(digests, indent=1) + "\n")


def is_float(value: Any) -> bool:
    """Tell whether a cell can hold NaN."""
    return np.asarray(value).dtype.kind == "f"


def main() -> int:
    """Record, and compare with another folder where one is named."""
    parser = argparse.ArgumentParser(description="Record histories of searches bit by bit.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--large", action="store_true", help="budgets in which searches learn")
    parser.add_argument("--against", type=Path, help="folder recorded by another version")
    parser.add_argument("--digests", action="store_true", help="write digests.json from folder")
    options = parser.parse_args()
    if options.digests:
        write_digests(options.folder)
        return 0
    record(options.folder, "large" if options.large else "small")
    if options.against is None:
        return 0
    found = 0
    for file in sorted(options.against.glob("*.parquet")):
        columns = differences(pd.read_parquet(file), pd.read_parquet(options.folder / file.name))
        found += bool(columns)
        sys.stdout.write(f"{file.stem}: {', '.join(columns) or 'bit-equal'}\n")
    sys.stdout.write(f"{found} of {len(PROBLEMS) * len(OPTIMIZERS)} histories differ\n")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
