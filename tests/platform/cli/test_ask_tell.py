"""`rolecast ask` and `rolecast tell`: a shell loop optimises a black box."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

Command = Callable[..., CompletedProcess[str]]


def test_a_shell_loop_optimises(
    rolecast_command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = tmp_path / "lab"
    bounds = ("--variable", "heat=20:90", "--variable", "speed=0:5", "--optimizer", "snes")
    asked = rolecast_command("ask", lab, *bounds, "-n", "4")
    assert asked.returncode == 0, asked.stderr
    for _ in range(5):
        results = []
        for line in asked.stdout.splitlines():
            candidate = json.loads(line)
            heat, speed = candidate["values"]["heat"], candidate["values"]["speed"]
            assert 20.0 <= heat <= 90.0
            value = -((heat - 60.0) ** 2) - speed
            results.append(json.dumps({"id": candidate["id"], "value": value}))
        monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(results)))
        told = json.loads(rolecast_command("tell", lab, "--json").stdout)
        assert told["pending"] == []
        asked = rolecast_command("ask", lab, "-n", "4")
    last = json.loads(asked.stdout.splitlines()[0])["id"]
    ended = rolecast_command("tell", lab, f"{last}=-9.5:0.5")
    assert ended.stdout.startswith("21 told, 3 pending; best so far: heat=")
    best = json.loads(rolecast_command("ask", lab, "--best").stdout)
    assert best["evaluations"] == 21


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--best",), "a study that begins has no incumbent"),
        (("--best", "-n", "3"), "--best asks for no candidates; expected it without -n"),
        (("-n", "0"), "count is 0; expected an integer >= 1"),
        (("--set", "policy.size=3"), "--set policy.size is of no use here"),
        (("--set", "task.x=1"), "--set task.x is of no use here"),
        (("--variable", "b=-1e308:1e308"), "finite bounds, low < high, with a finite distance"),
    ],
)
def test_a_study_that_cannot_begin_leaves_no_folder(
    rolecast_command: Command, tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    ended = rolecast_command("ask", tmp_path / "lab", "--variable", "a=0:1", *words)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert sentence in ended.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_value_told_twice_on_one_line_is_refused(
    rolecast_command: Command, tmp_path: Path
) -> None:
    lab = tmp_path / "lab"
    rolecast_command("ask", lab, "--dimension", "1", "--optimizer", "snes", "-n", "2")
    ended = rolecast_command("tell", lab, "0=1", "0=2", "1=3")
    assert ended.returncode == 2
    assert "candidate 0 is told twice" in ended.stderr
    assert rolecast_command("tell", lab, "0=1", "1=3").returncode == 0


def test_a_failed_evaluation_is_told_as_such(rolecast_command: Command, tmp_path: Path) -> None:
    lab = tmp_path / "lab"
    rolecast_command("ask", lab, "--dimension", "2", "--optimizer", "local_gp", "-n", "3")
    ended = rolecast_command("tell", lab, "0=failed")
    assert (ended.returncode, ended.stdout) == (
        0,
        "0 told, 2 pending, 1 failed; best so far: none\n",
    )
    ended = rolecast_command("tell", lab, "1=0.5", "2=failed", "--json")
    told = json.loads(ended.stdout)
    assert (told["evaluations"], told["pending"], told["failed"]) == (1, [], [0, 2])
    assert rolecast_command("ask", lab).returncode == 0
    refused = rolecast_command("tell", lab, "3=nan")
    assert refused.returncode == 2
    assert "or 3=failed where the evaluation failed" in refused.stderr


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--minimize",), "--minimize"),
        (("--optimizer", "nonsense"), "--optimizer"),
        (("--seed", "0"), "--seed"),
        (("--budget", "50", "-n", "1"), "--budget"),
        (("--set", "optimizer.mirrored=true"), "--set"),
    ],
)
def test_what_a_study_began_with_cannot_be_said_later(
    rolecast_command: Command, tmp_path: Path, words: tuple[str, ...], named: str
) -> None:
    lab = tmp_path / "lab"
    begun = rolecast_command("ask", lab, "--dimension", "1", "--optimizer", "snes")
    assert begun.returncode == 0, begun.stderr
    ended = rolecast_command("ask", lab, *words)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert f"{named} is settled when a study begins, and {lab} is there already" in ended.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("ask", "absent"), "absent does not exist; expected --variable NAME=LOW:HIGH"),
        (("ask", "lab", "--variable", "heat"), "expected NAME=LOW:HIGH"),
        (("ask", "lab", "--variable", "heat=a:9"), "is 'a'; expected a number"),
        (("ask", "lab", "--dimension", "0"), "expected an integer >= 1"),
        (("ask", "lab", "--dimension", "2", "--optimizer", "sness"), "did you mean 'snes'"),
        (("tell", "lab", "one"), "expected ID=VALUE, as in 3=0.7"),
        (("tell", "lab", "0=1"), "lab holds no study"),
    ],
)
def test_a_wrong_request_is_one_sentence(
    rolecast_command: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = rolecast_command(*words)
    assert ended.returncode == 2
    assert message in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    assert not (tmp_path / "lab").exists()


def test_more_candidates_than_memory_holds_are_refused_before_a_study_begins(
    rolecast_command: Command, tmp_path: Path
) -> None:
    words = ("ask", tmp_path / "lab", "-n", str(10**12))
    begun = rolecast_command(*words, "--variable", "heat=20:90")
    assert (begun.returncode, begun.stdout) == (2, "")
    assert "count is 1000000000000; expected fewer: it needs 465.7 TiB" in begun.stderr
    assert not (tmp_path / "lab").exists()
