"""Where a search computes when nobody says."""

import threading
from pathlib import Path
from typing import Any

import gymnasium
import pytest

from rolecast.core import threads
from rolecast.platform.search import backend
from rolecast.platform.search.backend import AutomaticBackend, LocalBackend, backend_for
from rolecast.platform.search.planning.config import SearchConfig
from rolecast.platform.search.planning.plan import make_plan
from rolecast.platform.search.progress import Silent
from rolecast.platform.search.run import search

SETTINGS: dict[str, Any] = {
    "policy": "mlp",
    "optimizer": "random",
    "evaluations": 24,
    "episodes": 2,
    "batch_size": 6,
    "test_episodes": 2,
    "task_options": {"horizon": 20},
}


class Notes(Silent):
    """Keeps the sentences."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def note(self, text: str) -> None:
        self.texts.append(text)


def pendulum() -> Any:
    return gymnasium.make("Pendulum-v1", max_episode_steps=20)


@pytest.mark.parametrize(("task", "chunks"), [("pred_prey_3", 3), ("hopper", 1)])
def test_a_compiled_task_and_a_robot_stay_on_threads_and_say_why(task: str, chunks: int) -> None:
    notes: list[str] = []
    plan = make_plan(SearchConfig(task=task, policy="mlp", threads=3))
    made = backend_for(plan, notes.append)
    assert isinstance(made, AutomaticBackend)
    assert (made.evaluator.workers, made.workers) == (chunks, 0)
    assert notes == ["episodes run on 3 threads of this process; Ray would not be faster here"]
    made.close()


@pytest.mark.parametrize(
    ("cores", "limit", "stays"), [(2, "", True), (2, "1", False), (8, "", False)]
)
def test_a_robot_may_move_to_workers_where_threads_use_fewer_cores_or_are_many(
    cores: int, limit: str, monkeypatch: pytest.MonkeyPatch, *, stays: bool
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", limit)
    for module in (backend, threads):
        monkeypatch.setattr(module, "available_cores", lambda: cores)
    notes: list[str] = []
    made = backend_for(make_plan(SearchConfig(task="hopper")), notes.append)
    assert bool(notes) == stays
    made.close()


def test_no_workers_means_this_process_alone() -> None:
    made = backend_for(make_plan(SearchConfig(task="gym:CartPole-v1", workers=0)))
    assert type(made) is LocalBackend
    assert made.evaluator.workers == 1
    made.close()


def test_slow_environments_move_to_workers_and_the_history_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, same_history: Any, ray_cluster: str
) -> None:
    monkeypatch.setattr(backend, "WORTH_WORKERS_S", 0.0)
    monkeypatch.setattr(backend, "HEAVY_BATCH_S", 0.0)
    monkeypatch.setattr(backend, "available_cores", lambda: 2)
    monkeypatch.setattr(backend, "_in_a_cluster", lambda: False)
    notes = Notes()
    grown = search(pendulum, out=tmp_path / "grown", progress=notes, **SETTINGS)
    assert grown.summary["workers"] >= 1
    assert sum(text.startswith("episodes are slow") for text in notes.texts) == 1
    alone = search(pendulum, out=tmp_path / "alone", workers=0, **SETTINGS)
    assert alone.summary["workers"] == 0
    same_history(tmp_path / "grown", tmp_path / "alone")


def test_where_workers_cannot_start_a_slow_search_stays_here_and_says_so_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, same_history: Any
) -> None:
    monkeypatch.setattr(backend, "WORTH_WORKERS_S", 0.0)
    monkeypatch.setattr(backend, "HEAVY_BATCH_S", 0.0)
    monkeypatch.setattr(backend, "available_cores", lambda: 2)
    lock, notes = threading.Lock(), Notes()

    def locked() -> Any:
        with lock:
            return pendulum()

    run = search(locked, out=tmp_path / "run", progress=notes, **SETTINGS)
    assert run.summary["workers"] == 0
    (said,) = (text for text in notes.texts if "workers" in text)
    assert said.startswith("workers cannot start (the task cannot be sent to workers: ")
    assert said.endswith("); episodes stay here")
    search(locked, out=tmp_path / "alone", workers=0, **SETTINGS)
    same_history(tmp_path / "run", tmp_path / "alone")


def test_quick_environments_stay_here(tmp_path: Path) -> None:
    assert search(pendulum, out=tmp_path / "run", **SETTINGS).summary["workers"] == 0
