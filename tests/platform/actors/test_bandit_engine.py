"""DUETS on Ray: the run in one process to the last bit, whoever dies or is slow, and its bytes."""

import os
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray

import rolecast
from rolecast.core.errors import RequestError, RunError
from rolecast.core.types import Float
from rolecast.platform.actors import bandit_engine
from rolecast.platform.actors.bandit_engine import (
    PartyActor,
    RayDuets,
    RemoteParty,
    cpus_each,
)
from rolecast.platform.cli.app import main
from rolecast.platform.optimizers.duets.wire import MESSAGE_HEADER
from rolecast.platform.search.bandit.folder import BanditFolder
from rolecast.platform.search.bandit.parties import ServerReply
from rolecast.platform.search.bandit.run import BanditResult, resume_bandit

pytestmark = pytest.mark.usefixtures("ray_cluster")

SMALL = {"agents": 5, "rounds": 20, "seed": 3, "settings": {"beta": 0.5}}
LAST_MOMENTS = ("tell", "ask", "query", "tell")
"""Steps before which parties die, one in each epoch of such a run."""


def played(function: Any = "branin", workers: int = 0, **given: Any) -> BanditResult:
    return rolecast.bandit_search(function, workers=workers, **SMALL, **given)  # type: ignore[no-any-return]


@pytest.mark.parametrize("function", ["h1", "hartmann4"])
def test_actors_play_the_run_of_one_process_to_the_last_bit(function: str) -> None:
    assert played(function, workers=2) == played(function)


def test_an_actor_an_agent_is_as_good() -> None:
    small = {"agents": 2, "rounds": 20, "settings": {"beta": 0.5}}
    here = rolecast.bandit_search("branin", **small)
    assert rolecast.bandit_search("branin", workers=9, **small) == here


@pytest.mark.parametrize("method", ["nkernelucb", "centralised", "elimination"])
def test_queries_of_rivals_run_on_actors(method: str) -> None:
    assert played(workers=2, method=method) == played(method=method)


class Tap:
    """Listens to what passes between the driver and the parties."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[tuple[str, tuple[Any, ...], Any]] = []
        start, finish = RemoteParty.start, RemoteParty.finish

        def started(party: RemoteParty, name: str, *given: Any) -> None:
            start(party, name, *given)
            party.heard = name, given  # type: ignore[attr-defined]

        def finished(party: RemoteParty, *given: Any) -> Any:
            reply = finish(party, *given)
            self.calls.append((*party.heard, reply))  # type: ignore[attr-defined]
            return reply

        monkeypatch.setattr(RemoteParty, "start", started)
        monkeypatch.setattr(RemoteParty, "finish", finished)

    def of(self, name: str) -> list[tuple[tuple[Any, ...], Any]]:
        return [(given, reply) for called, given, reply in self.calls if called == name]


def test_nothing_but_the_papers_messages_reaches_a_party_and_their_bytes_are_the_ledgers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tap = Tap(monkeypatch)
    result = played(workers=2)
    assert result == played()
    header = MESSAGE_HEADER.size
    up = [data for _, reply in tap.of("project") for data in reply]
    assert sum(len(data) - header for data in up) == 5 * 8 * result.uplink_reals
    broadcasts = [reply for _, reply in tap.of("inducing_set")]
    broadcasts += [reply.message for _, reply in tap.of("aggregate")]
    assert sum(len(data) - header for data in broadcasts) == 8 * result.downlink_reals
    assert (len(up), len(broadcasts)) == (5 * len(result.epochs), 2 * len(result.epochs))
    # What a party is given: the number of the epoch, which it knows, and these bytes.
    given = [each for _, parts, _ in tap.calls for each in parts if not isinstance(each, int)]
    flat = [data for each in given for data in (each if isinstance(each, list) else [each])]
    assert {id(data) for data in flat} == {id(data) for data in [*up, *broadcasts]}
    # What it answers: these bytes, or points and values for the report, which reach no party.
    kinds = {name: type(reply) for name, _, reply in tap.calls}
    assert kinds == {
        "draw": np.ndarray,
        "query": tuple,
        "inducing_set": bytes,
        "project": list,
        "aggregate": ServerReply,
        "trim": bool,
    }


def kill(party: RemoteParty) -> None:
    os.kill(ray.get(party.actor.pid.remote()), signal.SIGKILL)


def test_parties_that_die_in_every_epoch_begin_anew_and_change_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One agents' actor and the server's are killed before another step in each epoch."""
    killed: list[str] = []

    def deadly(moment: str, step: Callable[..., Any]) -> Callable[..., Any]:
        calls = iter(LAST_MOMENTS)

        def after_a_loss(method: RayDuets, *given: Any) -> Any:
            if next(calls) == moment:
                killed.append(moment)
                kill(method._agents[len(killed) % 2])
                kill(method.server)
            return step(method, *given)

        return after_a_loss

    for moment in ("ask", "query", "tell"):
        monkeypatch.setattr(RayDuets, moment, deadly(moment, getattr(RayDuets, moment)))
    assert played(workers=2) == played()
    assert killed == [*LAST_MOMENTS]


def test_an_actor_that_dies_within_an_exchange_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Killed after it has projected, so that it has lost the inducing set it is to trim with.

    In the first exchange, before which nothing was sent, and in the last of three.
    """
    finish, killed = RemoteParty.finish, []

    def lossy(party: RemoteParty, *given: Any) -> Any:
        (name, begun, _), reply = party._pending, finish(party, *given)
        if name in {"project", "inducing_set", "aggregate"} and begun[0] in {1, 3}:
            killed.append(name)
            kill(party)
        return reply

    monkeypatch.setattr(RemoteParty, "finish", lossy)
    assert played(workers=2) == played()
    assert killed.count("project") == 2 * 2


@pytest.mark.parametrize(
    ("nodes", "workers", "cpus"),
    [
        ([4.0], 3, 1.0),
        ([2.0], 3, 0.666),
        ([1.0, 1.0], 3, 0.5),  # no actor spans two nodes
        ([1.0, 3.0], 5, 0.75),
        ([0.0, 1.0], 2, 0.5),
        ([0.0], 4, 0.25),
        ([0.5], 1, 0.5),
        ([1.0], 1001, 0.0),
    ],
)
def test_all_actors_find_a_cpu_at_once(nodes: list[float], workers: int, cpus: float) -> None:
    assert cpus_each(workers, nodes) == cpus


def test_actors_that_wait_for_a_cpu_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other work holds both CPUs until the sentence comes; then the run goes on."""
    other: Any = PartyActor.options(num_cpus=2).remote(dict)  # type: ignore[attr-defined]  # Ray's
    ray.get(other.pid.remote())
    notes: list[str] = []

    def told(text: str) -> None:
        notes.append(text)
        if "not started" in text:
            ray.kill(other)

    monkeypatch.setattr(bandit_engine, "START_PATIENCE_S", 0.1)
    assert played(workers=2, note=told) == played()
    assert notes[0].startswith("Ray at ")
    assert re.fullmatch(
        r"after 0.1 s agents 0 to 2, agents 3 to 4.* have not started; .*", notes[1]
    )


def test_more_workers_than_cpus_share_them() -> None:
    notes: list[str] = []
    assert played(workers=3, note=notes.append) == played()
    assert notes[0].endswith("1 node, 2 CPUs")
    assert notes[1] == "3 workers share 2 CPUs; more than 2 are slower"


def sleepy(gate: Path) -> Callable[[Float], float]:
    """A function that is slow in the process that comes first, and never the same one twice."""

    def hill(point: Float) -> float:
        try:
            gate.mkdir()
        except FileExistsError:
            return -float(((point - 0.3) ** 2).sum())
        time.sleep(2.0)
        return -float(((point - 0.3) ** 2).sum())

    return hill


def test_a_slow_actor_delays_and_changes_nothing(tmp_path: Path) -> None:
    given: dict[str, Any] = {"bounds": [(0.0, 1.0)], "optimum": 0.0, "noise": 0.1}
    start = time.monotonic()
    slow = played(sleepy(tmp_path / "gate"), workers=2, **given)
    assert time.monotonic() - start > 2.0
    assert slow == played(sleepy(tmp_path / "gate"), **given)


def test_a_run_is_resumed_by_another_number_of_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append, kept = BanditFolder.append, []

    def stop_after_two(self: BanditFolder, *given: Any) -> None:
        append(self, *given)
        kept.append(given[0])
        if len(kept) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(BanditFolder, "append", stop_after_two)
    with pytest.raises(KeyboardInterrupt):
        played(workers=1, out=tmp_path / "run")
    tap = Tap(monkeypatch)
    assert resume_bandit(tmp_path / "run", workers=2) == played()
    asked = [given[0] for given, _ in tap.of("query")]
    assert asked == [3] * 2 + [4] * 2  # epochs 1 and 2 are not queried again


def test_the_command_runs_on_workers_and_resumes_and_reports(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--agents", "4", "--rounds", "12", "--json"]
    assert main(["bandit", "branin", *words]) == 0
    here = capsys.readouterr().out
    out = str(tmp_path / "run")
    assert main(["bandit", "branin", *words, "--workers", "2", "--out", out]) == 0
    told = capsys.readouterr()
    assert told.out == here
    assert told.err.startswith("Ray at ")
    for words, told_first in (([], "Ray at "), (["--workers", "0"], "")):
        assert main(["resume", out, "--json", *words]) == 0  # without a word, as the run had
        told = capsys.readouterr()
        assert (told.out, told.err[:7]) == (here, told_first)
    assert main(["report", out]) == 0


def test_a_function_that_fails_in_an_actor_is_one_sentence(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def broken(point: Float) -> float:
        raise ValueError(f"no value at {len(point)}")

    with pytest.raises(RequestError, match=r"failed \(ValueError: no value at 1\)"):
        played(broken, workers=1, bounds=[(0.0, 1.0)])
    with pytest.raises(RequestError, match="agent 0 answered nan in round 1"):
        played(lambda _: float("nan"), workers=1, bounds=[(0.0, 1.0)])
    assert main(["bandit", "branin", "--workers", "-1"]) == 2
    assert main(["bandit", "branin", "--address", "localhost:1"]) == 2
    assert main(["bandit", "branin", "--workers", "1", "--address", "localhost:1"]) == 2
    errors = capsys.readouterr().err.strip().splitlines()
    assert len(errors) == 3
    assert "workers is -1; expected an integer >= 0" in errors[0]
    assert "workers is 0; expected workers >= 1" in errors[1]
    assert "no Ray cluster answers at address 'localhost:1'" in errors[2]


def test_a_function_that_ends_its_process_is_named() -> None:
    def deadly(point: Float) -> float:
        os._exit(int(point.size))

    with pytest.raises(
        RunError, match=r"agents 0 to 4: the process died 6 times in one call; does the fun"
    ):
        played(deadly, workers=1, bounds=[(0.0, 1.0)])
