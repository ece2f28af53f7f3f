"""The soak of real processes: whom it finds, and what it makes of a run that ends."""

import os
import subprocess
from pathlib import Path

import pytest

from rolecast.benchmarks.faults.page import page
from rolecast.benchmarks.faults.soak import jobs, run
from rolecast.benchmarks.faults.soak.cluster import Victim, children
from rolecast.benchmarks.faults.soak.jobs import Job


def job_of(out: Path, *command: str) -> Job:
    """Return a job of one command, of which nothing is kept."""
    return Job("job", out, command, command, "record", lambda _: "digest", expected="digest")


def test_only_processes_of_given_parents_are_found() -> None:
    sleeper = subprocess.Popen(["sleep", "60"])
    try:
        assert "sleep" in children([os.getpid()])[sleeper.pid]
        assert children([sleeper.pid]) == {}
    finally:
        sleeper.kill()
        sleeper.wait()


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


def test_a_soak_is_a_section_of_the_page() -> None:
    text = page(
        {
            "soak": {
                "hours": 0.5,
                "kills": {str(kind): 2 for kind in Victim},
                "runs": [{"run": "a", "resumed": 3, "finished": 2, "equal": 2, "said": ["lost"]}],
                "hanging": [],
                "command": "rolecast bench faults --part soak",
            }
        }
    )
    assert "12 kills in 0.5 hours" in text
    assert "| a | 3 | 2 | 2 |" in text


@pytest.mark.nightly("the tests above, and test_lost_node.py and test_comparison.py, which kill")
def test_runs_whose_processes_are_killed_end_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "SOAKED_SEARCHES", jobs.SOAKED_SEARCHES[1:2])
    results = run.soak(0.01, 0)
    assert results["hanging"] == []
    assert all(each["equal"] == each["finished"] > 0 for each in results["runs"])
