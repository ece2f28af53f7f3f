"""What runs while processes are killed: searches and a comparison, begun anew and resumed."""

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from rolecast.core.errors import RequestError
from rolecast.platform.search.records.run_folder import RunFolder
from rolecast.platform.tuning.comparison_folder import read_comparison
from rolecast.policies.artefact import WEIGHTS_FILE

ROLECAST_COMMAND: Final = (sys.executable, "-m", "rolecast")

SOAKED_SEARCHES: Final = (
    ("pred_prey_3", "--optimizer=local_gp", "--evaluations=100"),
    ("pred_prey_3", "--optimizer=cmaes", "--evaluations=600"),
    ("gym:Pendulum-v1", "--optimizer=random", "--evaluations=200"),
    ("gym:Pendulum-v1", "--optimizer=cmaes", "--evaluations=200"),
)
"""Tasks and settings of the searches that run at once."""

COMMON_SETTINGS: Final = (
    "--policy=mlp",
    "--episodes=4",
    "--batch-size=10",
    "--test-episodes=20",
    "--seed=3",
)

EXPERIMENT_TEXT: Final = '''"""A comparison that is disturbed."""

from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.methods import SearchMethod

EXPERIMENT = Experiment(
    name="soak",
    tasks=("gym:Pendulum-v1",),
    methods=tuple(
        SearchMethod(optimizer=name, policy="mlp", episodes=4, batch_size=10)
        for name in ("cmaes", "random")
    ),
    seeds=2,
    env_steps=80_000,
    points=5,
    test_episodes=10,
    final_test_episodes=20,
)
'''
"""File of the comparison's experiment."""

TIMED_COLUMNS: Final = ["wall_time_s"]


@dataclass
class Job:
    """A search or a comparison, as commands."""

    name: str
    out: Path
    begin: Sequence[str]
    again: Sequence[str]
    """Command that goes on."""

    record: str
    """File whose presence says that it has begun."""

    digest: Callable[[Path], str]
    """Of all that does not depend on time."""

    expected: str = ""
    """Digest of the undisturbed run."""

    finished: int = 0
    equal: int = 0
    resumed: int = 0
    said: list[str] = field(default_factory=list)
    """Last lines of drivers that ended with an error of their own."""

    process: "subprocess.Popen[bytes] | None" = None
    killed: bool = False
    """Whether its driver was killed."""

    @property
    def log(self) -> Path:
        """What it says."""
        return self.out.with_suffix(".log")

    def start(self) -> None:
        """Begin, or go on where a driver before has ended."""
        command = self.again
        if not (self.out / self.record).is_file():
            shutil.rmtree(self.out, ignore_errors=True)
            command = self.begin
        else:
            self.resumed += 1
        self.killed = False
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [*ROLECAST_COMMAND, *command], stdout=log, stderr=log, start_new_session=True
            )

    def tend(self, *, more: bool) -> None:
        """See whether it has ended; compare what it has computed, and start it again.

        Args:
            more: whether a run that is complete is followed by another.
        """
        if self.process is None or self.process.poll() is None:
            return
        if self.process.returncode == 0:
            self.finished += 1
            try:
                self.equal += self.digest(self.out) == self.expected
            except (RequestError, OSError) as error:  # the run is damaged, so it differs
                self.said.append(str(error))
            shutil.rmtree(self.out)
        elif not self.killed:
            lines = self.log.read_text(errors="replace").strip().splitlines()
            self.said.append(lines[-1] if lines else f"exit status {self.process.returncode}")
        done = self.process.returncode == 0
        self.process = None
        if more or not done:
            self.start()

    def end(self) -> None:
        """End its driver, if there is one."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()


def make_jobs(folder: Path, address: str) -> list[Job]:
    """Return the jobs, on a cluster."""
    jobs = []
    for number, settings in enumerate(SOAKED_SEARCHES):
        out = folder / f"search{number}"
        begin = ("search", *settings, *COMMON_SETTINGS, f"--out={out}")
        on_cluster = ("--workers=1", f"--address={address}", "--quiet")
        again = ("resume", str(out), *on_cluster)
        name = f"{settings[0]}, {settings[1].removeprefix('--optimizer=')}"
        jobs.append(Job(name, out, (*begin, *on_cluster), again, "run.json", run_digest))
    experiment, out = folder / "soak.py", folder / "comparison"
    experiment.write_text(EXPERIMENT_TEXT)
    compare = ("compare", str(experiment), f"--out={out}", "--workers=2", f"--address={address}")
    jobs.append(
        Job(
            "comparison",
            out,
            (*compare, "--quiet"),
            (*compare, "--resume", "--quiet"),
            "experiment.json",
            comparison_digest,
        )
    )
    return jobs


def run_digest(out: Path) -> str:
    """Return the digest of a run's history and weights."""
    digest = hashlib.sha256((out / "policy" / WEIGHTS_FILE).read_bytes())
    for batch in RunFolder(out).read_batches():
        for each in (batch.candidates, batch.episode_returns, batch.env_steps, batch.incumbent):
            digest.update(np.ascontiguousarray(each).tobytes())
    return digest.hexdigest()


def comparison_digest(out: Path) -> str:
    """Return the digest of a comparison's table."""
    rows = read_comparison(out).rows.drop(columns=TIMED_COLUMNS)
    return hashlib.sha256(rows.to_csv(index=False).encode()).hexdigest()
