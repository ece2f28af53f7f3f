"""The soak of real processes: whom it finds, and what it makes of a run that ends."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from rolecast.benchmarks.faults.page import page
from rolecast.benchmarks.faults.soak import cluster, jobs, run
from rolecast.benchmarks.faults.soak.cluster import PROCESSES_FOLDER, Victim, children
from rolecast.benchmarks.faults.soak.jobs import Job
from rolecast.core.errors import RequestError
from rolecast.platform.cli.app import main


def job_of(out: Path, *command: str) -> Job:
    """Return a job of one command, of which nothing is kept."""
    return Job("job", out, command, command, "record", lambda _: "digest", expected="digest")


@pytest.mark.skipif(not PROCESSES_FOLDER.is_dir(), reason="needs /proc, which Linux alone has")
def test_only_processes_of_given_parents_are_found() -> None:
    sleeper = subprocess.Popen(["sleep", "60"])
    try:
        assert "sleep" in children([os.getpid()])[sleeper.pid]
        assert children([sleeper.pid]) == {}
    finally:
        sleeper.kill()
        sleeper.wait()


def test_a_machine_without_proc_is_refused_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cluster, "PROCESSES_FOLDER", tmp_path / "proc")
    assert main(["bench", "faults", "--part", "soak"]) == 2
    told = capsys.readouterr().err
    assert told == (
        f"rolecast: --part soak needs {tmp_path / 'proc'}; expected a machine with Linux\n"
    )


def test_a_run_that_ends_is_compared_and_removed(tmp_path: Path) -> None:
    job = job_of(tmp_path / "out", "--version")
    job.out.mkdir()
    (job.out / "record").touch()
    job.start()
    process = job.process
    assert process is not None
    process.wait()
    job.tend(more=False)
    assert (job.finished, job.equal, job.resumed, job.process) == (1, 1, 1, None)
    assert not job.out.exists()


def test_a_driver_that_fails_tells_why_and_is_started_again(tmp_path: Path) -> None:
    job = job_of(tmp_path / "out", "resume", str(tmp_path / "none"))
    job.start()
    for killed in (True, False):
        job.killed = killed
        assert job.process is not None
        job.process.wait()
        job.tend(more=False)
    job.end()
    assert job.finished == 0
    (said,) = job.said
    assert said.startswith("rolecast: ")
    assert "none/run.json does not exist" in said


def test_a_run_whose_folder_is_damaged_at_its_end_is_one_that_differs(tmp_path: Path) -> None:
    def damaged(out: Path) -> str:
        raise RequestError(f"{out} is damaged")

    job = job_of(tmp_path / "out", "--version")
    job.digest = damaged
    job.out.mkdir()
    (job.out / "record").touch()
    job.start()
    assert job.process is not None
    job.process.wait()
    job.tend(more=False)
    assert (job.finished, job.equal) == (1, 0)
    assert job.said == [f"{job.out} is damaged"]


@pytest.mark.parametrize(
    ("equal", "hanging", "text"),
    [(1, ["a"], "1 of 2 runs differ"), (2, ["a"], "a: not at the end long after the last kill")],
)
def test_the_soak_ends_with_what_went_wrong(
    equal: int,
    hanging: list[str],
    text: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = figures_of(0, 0.5, "lost") | {"hanging": hanging}
    found["runs"][0]["equal"] = equal
    monkeypatch.setattr(run, "soak", lambda hours, seed: found)
    assert main(["bench", "faults", "--part", "soak"]) == 1
    assert text in capsys.readouterr().err


def figures_of(seed: int, hours: float, said: str) -> dict[str, Any]:
    """Return what a soak with one run tells."""
    return {
        "hours": hours,
        "longest_hours": hours,
        "seeds": [seed],
        "kills": {str(kind): 2 for kind in Victim},
        "runs": [{"run": "a", "resumed": 3, "finished": 2, "equal": 2, "said": [said]}],
        "hanging": [],
        "commands": [f"bench --part soak --seed {seed}"],
    }


def test_a_soak_is_a_section_of_the_page() -> None:
    text = page({"soak": figures_of(0, 0.5, "lost")})
    assert "12 kills in 0.5 hours, 0.5 of them at a stretch" in text
    assert "| a | 3 | 2 | 2 |" in text


def test_soaks_of_different_seeds_add_up() -> None:
    one, other = figures_of(0, 0.5, "lost"), figures_of(1, 0.75, "gone")
    together = run.added_soaks([one, run.added_soaks([other])])
    assert together["hours"] == 1.25
    assert together["longest_hours"] == 0.75
    assert set(together["kills"].values()) == {4}
    assert together["runs"] == [
        {"run": "a", "finished": 4, "equal": 4, "resumed": 6, "said": ["gone", "lost"]}
    ]
    assert "`bench --part soak --seed 0`, `bench --part soak --seed 1`" in page({"soak": together})
    with pytest.raises(RequestError, match=r"seeds \[0, 0\]; expected seeds that differ"):
        run.added_soaks([one, one])


def test_a_seed_that_was_soaked_is_refused_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = tmp_path / "before.json"
    before.write_text(json.dumps(figures_of(3, 0.5, "lost")))
    asked = ["bench", "faults", "--part", "soak", "--seed", "3", "--add", str(before)]
    assert main(asked) == 2
    assert "--seed is 3; expected one that no file of --add has" in capsys.readouterr().err


@pytest.mark.nightly("the tests above, and test_lost_node.py and test_comparison.py, which kill")
def test_runs_whose_processes_are_killed_end_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "SOAKED_SEARCHES", jobs.SOAKED_SEARCHES[1:2])
    results = run.soak(0.01, 0)
    assert results["hanging"] == []
    assert all(each["equal"] == each["finished"] > 0 for each in results["runs"])
