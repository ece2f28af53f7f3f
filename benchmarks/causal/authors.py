"""MCBO beside its authors' own code, from the same initial data, seed by seed.

The authors' repository (github.com/ssethz/mcbo, MIT) is no part of this project, needs older
libraries, and is slow: it runs in an interpreter of its own (`authors_program.py`), for few rounds.
"""

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import pandas as pd

from rolecast.benchmarks.causal.figures import searched
from rolecast.benchmarks.result_table import ResultTable, Row, keyed_table, place
from rolecast.benchmarks.rivals import difference_text
from rolecast.core.errors import RequestError, RunError
from rolecast.core.types import Float
from rolecast.envs.causal.interventions import InterventionSpace
from rolecast.envs.causal.problem import HasCausalGraph
from rolecast.envs.registry import make_task
from rolecast.platform.optimizers.mcbo.search import initial_design
from rolecast.platform.search.records.run_folder import RunFolder

AUTHORS_BETA: Final = 0.5
"""Of both: what MCBO's average reward is best with, over all tasks."""

AUTHORS_PROGRAM: Final = Path(__file__).with_name("authors_program.py")
"""Runs in the other interpreter."""

REPOSITORY_FILES: Final = ("mcbo/mcbo_trial.py", "scripts/functions.py")


@dataclass(frozen=True, kw_only=True)
class AuthorsCase:
    """How the authors' code runs a task."""

    environment: str
    """Class of its `functions.py`."""

    rounds: int
    """What minutes allow."""

    options: Mapping[str, Any] = field(default_factory=lambda: {"noise_scales": 0.0})
    algorithm: str = "MCBO"
    batch_size: int = 2
    """Samples of the noise by which a gradient is taken."""

    starts: int | None = None
    """Of NMCBO, in place of its 1,000."""


AUTHORS_CASES: Final[Mapping[str, AuthorsCase]] = MappingProxyType(
    {
        "causal:dropwave": AuthorsCase(environment="Dropwave", rounds=20),
        "causal:ackley": AuthorsCase(environment="Ackley", rounds=10),
        "causal:rosenbrock": AuthorsCase(environment="Rosenbrock", rounds=10),
        "causal:alpine2": AuthorsCase(environment="Alpine2", rounds=10),
        "causal:toy": AuthorsCase(
            environment="ToyGraph",
            rounds=20,
            options={"noise_scales": 1.0},
            algorithm="NMCBO",
            batch_size=32,
            starts=100,
        ),
        "causal:psa": AuthorsCase(
            environment="PSAGraph",
            rounds=10,
            options={},
            algorithm="NMCBO",
            batch_size=32,
            starts=100,
        ),
    }
)


@dataclass(frozen=True, kw_only=True)
class AuthorsRun:
    """One search by the authors' code, and two of ours."""

    task: str
    seed: int
    rounds: int
    repository: Path
    """Clone of the authors' repository."""

    interpreter: Path
    """Python with what their code imports."""

    @property
    def key(self) -> str:
        """Name of its row."""
        return f"{self.task} / {self.rounds} rounds / seed {self.seed}"

    @property
    def names(self) -> Mapping[str, str]:
        """Names by kind of filter."""
        return {"task": self.task, "method": "authors", "seed": str(self.seed)}


def authors_runs(
    seeds: int, rounds: int | None, repository: Path | None, interpreter: Path | None
) -> list[AuthorsRun]:
    """Return all searches, seed by seed.

    Args:
        seeds: of each task.
        rounds: of each search; None: what minutes allow.
        repository: clone of the authors' repository.
        interpreter: Python with what their code imports.
    Raises:
        RequestError: one of the two is not there.
    """
    if repository is None or not all((repository / name).is_file() for name in REPOSITORY_FILES):
        expected = f"a clone of github.com/ssethz/mcbo, with {' and '.join(REPOSITORY_FILES)}"
        raise RequestError(f"--repository is {repository or 'not given'}; expected {expected}")
    if interpreter is None or not os.access(interpreter, os.X_OK) or interpreter.is_dir():
        expected = "a Python interpreter with botorch 0.7.3 and what it needs"
        raise RequestError(f"--interpreter is {interpreter or 'not given'}; expected {expected}")
    return [
        AuthorsRun(
            task=task,
            seed=seed,
            rounds=rounds or case.rounds,
            repository=repository.absolute(),
            interpreter=interpreter.absolute(),
        )
        for seed in range(seeds)
        for task, case in AUTHORS_CASES.items()
    ]


def run_authors(run: AuthorsRun) -> Row:
    """Search by both codes; return their averages, JSON values."""
    row: Row = {"key": run.key, "task": run.task, "rounds": run.rounds, "seed": run.seed}
    with tempfile.TemporaryDirectory() as scratch:
        for name, constant_mean in (("zero", False), ("constant", True)):
            out = Path(scratch) / name
            settings = {"beta": AUTHORS_BETA, "constant_mean": constant_mean}
            found, seconds = searched(
                out, run.task, "mcbo", rounds=run.rounds, settings=settings, seed=run.seed
            )
            row |= {name: found["average_expected_reward"], f"{name}_s": round(seconds, 1)}
        design = _initial_design(run.task, out)
        theirs = _theirs(run, design, Path(scratch))
    return row | {
        "theirs": theirs["average"],
        "theirs_s": round(theirs["seconds"], 1),
        "starts": AUTHORS_CASES[run.task].starts,
    }


def _initial_design(task_id: str, out: Path) -> Float:
    """Return the initial design of a run as the authors' inputs, [T0, inputs].

    With hard interventions these are, node by node, whether it is set, and then its places.
    """
    task = make_task(task_id)
    assert isinstance(task, HasCausalGraph), "a causal task"
    space = InterventionSpace(task.graph)
    count = len(initial_design(space, np.random.default_rng(0)))
    history = pd.read_parquet(RunFolder.open(out).history_file, columns=["candidate"])
    candidates = np.stack(history["candidate"].tolist())
    chosen, places = space.decode(candidates[:count])
    if not space.chooses:
        return places
    names = list(task.graph.names)
    columns = [names.index(each.name) for each in task.graph.interventions]
    inputs = np.zeros((count, 2, len(names)))
    inputs[:, 0, columns] = space.members[chosen]
    inputs[:, 1, columns] = places
    return inputs.reshape(count, -1)


def _theirs(run: AuthorsRun, design: Float, folder: Path) -> dict[str, Any]:
    """Search by the authors' code.

    Raises:
        RunError: their code failed.
    """
    case, asked, answer = AUTHORS_CASES[run.task], folder / "request.json", folder / "answer.json"
    request = {
        "repository": str(run.repository),
        "environment": case.environment,
        "options": dict(case.options),
        "algorithm": case.algorithm,
        "batch_size": case.batch_size,
        "starts": case.starts,
        "design": design.tolist(),
        "seed": run.seed,
        "rounds": run.rounds,
        "beta": AUTHORS_BETA,
    }
    asked.write_text(json.dumps(request))
    words = [str(run.interpreter), str(AUTHORS_PROGRAM), str(asked), str(answer)]
    # Their libraries are not ours: no path of this interpreter reaches the other.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ended = subprocess.run(
        words,
        env=environment | {"OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if ended.returncode != 0:
        last = (ended.stderr.strip().splitlines() or ["no message"])[-1]
        raise RunError(f"the authors' code failed on {run.task}, seed {run.seed}: {last}")
    found: dict[str, Any] = json.loads(answer.read_text())
    return found


PAGE_HEAD: Final = f"""# MCBO beside its authors' code

Mean of the average expected reward, initial data included, beta {AUTHORS_BETA:g}, the same initial
data by seed; differences are ours less theirs, with the 95 % t interval over paired seeds where
there are five. Zero mean is the default and the paper's; a constant mean is what the authors' code
fits. `rolecast bench causal --part authors` makes this page and `causal_authors.json` beside it.

The authors' code (github.com/ssethz/mcbo) runs with BoTorch 0.7.3. Replaced: its logger, by one
that keeps the rewards; its initial data, by those of our search; `torch.seed`, by which its seeds
change nothing; and on `causal:toy` and `causal:psa` the number of random starts of a round, which
the table gives, 1,000 in its code. Rounds are few, as one takes it up to a minute of a core.
"""


def authors_page(rows: Sequence[Row]) -> str:
    """Return the page: a row for each task and number of rounds."""
    lines: list[dict[str, str]] = []
    for task, rounds in dict.fromkeys((row["task"], row["rounds"]) for row in rows):
        kept = [row for row in rows if (row["task"], row["rounds"]) == (task, rounds)]
        line = {
            "task": f"`{task}`",
            "rounds": str(rounds),
            "seeds": str(len(kept)),
            "starts": str(kept[0]["starts"] or "its own"),
            "theirs": f"{np.mean([row['theirs'] for row in kept]):.4g}",
            "theirs_s": _seconds(kept, "theirs_s"),
            "ours_s": _seconds(kept, "zero_s"),
        }
        for name in ("zero", "constant"):
            line[name] = f"{np.mean([row[name] for row in kept]):.4g}"
            line[f"{name}_less"] = difference_text([row[name] - row["theirs"] for row in kept])
        lines.append(line)
    columns = [
        ("task", "task"),
        ("rounds", "rounds"),
        ("seeds", "seeds"),
        ("theirs", "theirs"),
        ("ours, zero mean", "zero"),
        ("difference", "zero_less"),
        ("ours, constant mean", "constant"),
        ("difference", "constant_less"),
        ("starts of theirs", "starts"),
        ("seconds of a processor a round, theirs", "theirs_s"),
        ("ours", "ours_s"),
    ]
    return "\n".join([PAGE_HEAD, keyed_table(columns, lines), ""])


def _seconds(rows: Sequence[Row], name: str) -> str:
    """Return the seconds of a round, all of the search counted."""
    return f"{np.mean([row[name] / row['rounds'] for row in rows]):.2g}"


AUTHORS_TABLE: Final[ResultTable[AuthorsRun]] = ResultTable(
    file="causal_authors.json",
    kinds=("task", "method", "seed"),
    run=run_authors,
    order=lambda row: (place(row["task"], list(AUTHORS_CASES)), row["rounds"], row["seed"]),
    line=lambda row: (
        f"theirs {row['theirs']:.4g}, ours {row['constant']:.4g}, zero mean {row['zero']:.4g}; "
        f"{row['theirs_s']} s and {row['zero_s']} s"
    ),
    pages=lambda rows: {"causal_authors.md": authors_page(rows).encode()},
)
