import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pandas as pd
import pytest

import rolecast
from rolecast.core.errors import RequestError, RunError
from rolecast.core.seeds import Purpose, episode_seeds
from rolecast.platform.search.progress import Silent
from rolecast.platform.search.records import journal
from rolecast.platform.search.records.frames import read_history, read_incumbents
from rolecast.platform.search.records.history import Batch
from rolecast.platform.search.records.run_folder import RunFolder
from rolecast.platform.search.run import SearchInterrupted, resume, search

SMALL: dict[str, Any] = {
    "policy": "mlp",
    "policy_options": {"hidden": [4]},
    "optimizer": "local_gp",
    "env_steps": 12_000,
    "episodes": 4,
    "batch_size": 10,
    "seed": 3,
    "workers": 0,
    "test_episodes": 50,
}
"""A search of twelve batches, in a second or two."""

TASK = "pred_prey_3"
SameHistory = Callable[[Path, Path], None]

AwaitBatch = Callable[[Path, Callable[[], bool]], bool]

InterruptsAfter = Callable[[int], Silent]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A search that ran without interruption."""
    out = tmp_path_factory.mktemp("whole") / "run"
    search(TASK, out=out, **SMALL)
    return out


def test_a_run_folder_holds_all_that_it_promises(whole: Path) -> None:
    history, incumbents = read_history(whole), read_incumbents(whole)
    assert list(history.columns) == [
        "evaluation",
        "batch",
        "episodes_of",
        "candidate",
        "return_mean",
        "return_stderr",
        "episode_returns",
        "observed_return_mean",
        "observed_return_stderr",
        "observed_returns",
        "env_steps",
        "wall_time_s",
    ]
    pd.testing.assert_series_equal(
        pd.read_parquet(whole / "history.parquet")["return_mean"], history["return_mean"]
    )
    assert history["evaluation"].tolist() == list(range(len(history)))
    assert history["env_steps"].iloc[-1] == 12_000
    returns = np.stack(history["episode_returns"].tolist())
    np.testing.assert_allclose(history["return_mean"], returns.mean(axis=1))
    np.testing.assert_allclose(history["return_stderr"], returns.std(axis=1, ddof=1) / 2.0)
    assert incumbents["kind"].tolist() == ["search"] * (len(incumbents) - 1) + ["confirm"]
    run = json.loads((whole / "run.json").read_text())
    assert run["seed"] == 3
    assert {"rolecast", "python", "ray", "torch", "numpy", "numba", "mujoco"} <= set(
        run["versions"]
    )
    assert list((whole / "tensorboard").glob("events.*"))
    summary = json.loads((whole / "summary.json").read_text())
    shares = summary["time_shares"]
    assert sum(shares.values()) - shares["workers_wait"] == pytest.approx(1.0, abs=1e-6)


def test_the_artefact_is_the_incumbent_and_earns_the_held_out_return(whole: Path) -> None:
    summary = json.loads((whole / "summary.json").read_text())
    loaded = rolecast.load_policy(whole)
    incumbent = np.array(read_incumbents(whole)["candidate"].iloc[-1])
    np.testing.assert_array_equal(loaded.policy.space.weights(incumbent), loaded.weights)
    seeds = episode_seeds(0, Purpose.HELD_OUT, 0, 50)
    task = rolecast.make_task(TASK)
    earned = rolecast.rollout(task, loaded.policy, loaded.weights[None], seeds).returns
    assert earned.mean() == pytest.approx(summary["test_return"])


def test_recorded_returns_are_those_of_their_seeds(whole: Path) -> None:
    history, loaded = read_history(whole), rolecast.load_policy(whole)
    row = history.iloc[37]  # mirrors evaluation 36 on its episodes
    assert row["episodes_of"] == 36
    weights = loaded.policy.space.weights(np.array(row["candidate"]))[None]
    seeds = episode_seeds(3, Purpose.SEARCH, 36, 4)
    earned = rolecast.rollout(rolecast.make_task(TASK), loaded.policy, weights, seeds).returns
    np.testing.assert_array_equal(earned[0], row["episode_returns"])


@pytest.mark.parametrize("after", [1, 7, 12])
def test_an_interrupted_search_resumes_to_the_same_history(
    whole: Path,
    tmp_path: Path,
    same_history: SameHistory,
    interrupts_after: InterruptsAfter,
    after: int,
) -> None:
    out = tmp_path / "run"
    with pytest.raises(SearchInterrupted, match=f"rolecast resume {out}"):
        search(TASK, out=out, progress=interrupts_after(after), **SMALL)
    assert len(pd.read_parquet(out / "incumbents.parquet")) == after
    resume(out)
    same_history(out, whole)


@pytest.mark.parametrize("interval", [0.0, 1e9], ids=["checkpoints", "journal_only"])
@pytest.mark.parametrize("optimizer", ["dss_gp_ucb", "local_gp", "cmaes", "gp_ucb", "random"])
def test_every_optimizer_resumes_to_the_same_history(
    tmp_path: Path,
    same_history: SameHistory,
    interrupts_after: InterruptsAfter,
    monkeypatch: pytest.MonkeyPatch,
    optimizer: str,
    interval: float,
) -> None:
    monkeypatch.setattr(journal, "CHECKPOINT_INTERVAL_S", interval)
    monkeypatch.setattr(journal, "CHECKPOINT_SHARE", float("inf"))
    settings = SMALL | {"optimizer": optimizer, "env_steps": 6_000}
    search(TASK, out=tmp_path / "one", **settings)
    with pytest.raises(SearchInterrupted):
        search(TASK, out=tmp_path / "two", progress=interrupts_after(3), **settings)
    assert (tmp_path / "two" / "checkpoint" / "optimizer.safetensors").is_file() == (interval == 0)
    resume(tmp_path / "two")
    same_history(tmp_path / "two", tmp_path / "one")


def test_a_search_killed_with_its_process_resumes_to_the_same_history(
    whole: Path, tmp_path: Path, same_history: SameHistory, await_batch: AwaitBatch
) -> None:
    out = tmp_path / "run"
    script = f"from rolecast import search; search({TASK!r}, out={str(out)!r}, **{SMALL!r})"
    driver = subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path)
    assert await_batch(out, lambda: driver.poll() is not None), "ended before it could be killed"
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    before = read_history(out)
    assert 10 <= len(before) < 120
    resume(out)
    same_history(out, whole)


def test_a_finished_search_can_be_extended(whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    search(TASK, out=out, **SMALL)
    result = resume(out, env_steps="+3000")
    history = result.history
    assert history["env_steps"].iloc[-1] == 15_000
    first = read_history(whole)
    assert history["return_mean"].tolist()[: len(first)] == first["return_mean"].tolist()
    assert json.loads((out / "summary.json").read_text())["budget"]["total"] == 15_000
    assert resume(out).test_return == result.test_return


def test_a_budget_in_evaluations_is_counted_in_rows(tmp_path: Path) -> None:
    settings = SMALL | {"env_steps": None, "evaluations": 33}
    result = search(TASK, out=tmp_path / "run", **settings)
    assert len(result.history) == 33
    assert len(resume(tmp_path / "run", evaluations="+4").history) == 37


def test_a_new_budget_below_what_is_used_is_refused(whole: Path) -> None:
    with pytest.raises(RequestError, match="expected at least 12000, which are used"):
        resume(whole, env_steps=100)
    with pytest.raises(RequestError, match=r"env_steps is '\+x'; expected an integer"):
        resume(whole, env_steps="+x")


def test_an_existing_folder_is_refused(whole: Path, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="exists; expected a path that does not, or `rolecast"):
        search(TASK, out=whole, **SMALL)
    with pytest.raises(RequestError, match=r"exists.*the folder of a new run"):
        search(TASK, out=Path(__file__).parent, **SMALL)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RequestError, match="cannot be made: Not a directory"):
        search(TASK, out=tmp_path / "file" / "run", **SMALL)


def test_a_folder_that_another_process_writes_is_refused(whole: Path) -> None:
    other = RunFolder.open(whole)
    other.lock()
    with pytest.raises(RequestError, match="is being written by another process"):
        resume(whole)
    other.release()


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("run.json", None, "does not exist; expected the folder of a run"),
        ("run.json", b"{", "run.json is damaged"),
        ("run.json", b"{}", "has no schema"),
        ("run.json", b'{"schema": 99}', "has schema 99; expected 2, it was written by a newer"),
        ("run.json", b'{"schema": 1}', "has schema 1; expected 2, it was written by an older"),
        ("history.parquet", b"PAR1xx", "history.parquet is damaged"),
        ("checkpoint/optimizer.safetensors", b"xx", r"optimizer.safetensors is damaged"),
    ],
)
def test_a_damaged_folder_is_refused_with_a_sentence(
    whole: Path, tmp_path: Path, file: str, content: bytes | None, message: str
) -> None:
    out = tmp_path / "run"
    for source in (path for path in whole.rglob("*") if path.is_file()):
        target = out / source.relative_to(whole)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())
    if content is None:
        (out / file).unlink()
    else:
        (out / file).write_bytes(content)
    with pytest.raises(RequestError, match=message):
        resume(out, env_steps="+1000")


class Faulty(gymnasium.Env[Any, Any]):
    """Pays what is no number, or raises, in one episode of about thirty."""

    observation_space = gymnasium.spaces.Box(-1.0, 1.0, (2,))
    action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,))
    fault: Any = None

    def __init__(self, fault: Any) -> None:
        self.fault = fault

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.bad = self.np_random.random() < 1 / 30
        self.left = 5
        return np.zeros(2, dtype=np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.left -= 1
        reward = float(action[0])
        if self.bad:
            if isinstance(self.fault, Exception):
                raise self.fault
            reward = self.fault
        return np.zeros(2, dtype=np.float32), reward, self.left == 0, False, {}


@pytest.mark.parametrize("fault", [float("nan"), float("-inf"), ZeroDivisionError("of mine")])
def test_a_faulty_environment_is_named_and_nothing_is_lost(tmp_path: Path, fault: Any) -> None:
    out = tmp_path / "run"

    def task(horizon: int = 5) -> Any:
        return Faulty(fault)

    settings = SMALL | {"optimizer": "random", "env_steps": 4_000, "episodes": 2, "batch_size": 4}
    with pytest.raises(RunError, match=r"evaluation \d+.* seed \d+") as caught:
        search(task, out=out, task_options={"horizon": 5}, **settings)
    if isinstance(fault, Exception):
        assert "of mine" in str(caught.value)
    named = int(str(caught.value).split()[1].rstrip(","))
    assert len(read_history(out)) == named // 4 * 4
    with pytest.raises(RequestError, match="expected it again, as task="):
        resume(out)


@pytest.fixture
def ctrl_c(tmp_path: Path, await_batch: AwaitBatch) -> Iterator[Path]:
    """Interrupt this process soon after the search in this folder has kept its first batch."""
    out, over = tmp_path / "run", threading.Event()

    def interrupt() -> None:
        if await_batch(out, over.is_set) and not over.wait(0.3):
            os.kill(os.getpid(), signal.SIGINT)

    waiting = threading.Thread(target=interrupt)
    waiting.start()
    yield out
    over.set()
    waiting.join()


def test_ctrl_c_keeps_every_whole_batch(ctrl_c: Path) -> None:
    with pytest.raises(SearchInterrupted):
        search(TASK, out=ctrl_c, **SMALL | {"env_steps": 12_000_000})
    assert len(pd.read_parquet(ctrl_c / "history.parquet")) == len(read_history(ctrl_c)) > 0


@pytest.mark.parametrize("written", [False, True])
def test_ctrl_c_while_a_batch_is_kept_loses_nothing_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: bool
) -> None:
    """Just before it is in the journal, or just after: tables and history agree, and it goes on."""
    append, out = RunFolder.append, tmp_path / "run"

    def interrupted(folder: RunFolder, batch: Batch) -> None:
        if batch.index != 5 or written:
            append(folder, batch)
        if batch.index == 5:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(RunFolder, "append", interrupted)
        with pytest.raises(SearchInterrupted):
            search(TASK, out=out, **SMALL)
    assert set(pd.read_parquet(out / "history.parquet")["batch"]) == set(range(6))
    assert set(read_history(out)["batch"]) == set(range(6))
    whole = search(TASK, out=tmp_path / "whole", **SMALL)
    np.testing.assert_array_equal(resume(out).incumbent, whole.incumbent)


def test_runs_without_a_folder_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    settings = SMALL | {"optimizer": "random", "env_steps": 1_000}
    outs = [search(TASK, **settings).out for _ in range(2)]
    assert [str(out) for out in outs] == [f"runs/pred_prey_3-random-s3-{n}" for n in range(2)]
