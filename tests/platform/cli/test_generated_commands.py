"""Command lines by Hypothesis: each has its exit code and one sentence, and no traceback."""

from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rolecast.platform.cli.app import main

WORDS: Final = st.sampled_from(
    [
        *("", " ", "0", "-1", "1", "1.5", "1e400", "nan", "inf", "-inf", "999999999999999999999"),
        *("true", "x", "a=b", "=", "--", "-", "?", "../..", "/dev/null", "é", "\u202e", "a\nb"),
        *("[1,", "{}", "pred_prey_3", "pred_prey_-3", "pred_prey_4", "hom", "linear", "local_gp"),
        *("gym:", "gym:Nowhere-v0", "python:", "python:os", "pettingzoo:", "causal"),
    ]
)
OPTIONS: Final = st.sampled_from(
    [
        *("--policy", "--optimizer", "--evaluations", "--env-steps", "--episodes", "--seed"),
        *("--batch-size", "--threads", "--test-episodes", "--out", "--trust", "--top"),
        *("--confirm-share", "--step-timeout", "--set", "--sparse", "--delay", "--noise", "--drop"),
        *("--config", "--nowhere", "--failed-episodes"),
    ]
)
COMMANDS: Final = st.sampled_from(
    ["search", "search", "search", "resume", "evaluate", "report", "render", "export", "x"]
)


@settings(
    max_examples=80,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    command=COMMANDS,
    subject=WORDS,
    given_options=st.lists(st.tuples(OPTIONS, WORDS), max_size=3),
)
def test_a_wrong_command_line_is_refused_in_one_sentence(
    command: str,
    subject: str,
    given_options: list[tuple[str, str]],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    here = tmp_path_factory.mktemp("here")
    monkeypatch.chdir(here)
    words = [command, subject, *(word for pair in given_options for word in pair)]
    if command == "search":  # a right one stops here, where its folder exists already
        words += ["--workers", "0", "--out", str(here)]
    assert main(words) == 2
    text = capsys.readouterr().err
    told = [line for line in text.splitlines() if line.startswith("rolecast: ")]
    sentences = [line for line in told if not line.startswith("rolecast: loading")]
    assert len(sentences) + text.count("Usage: ") == 1, text
    assert "Traceback" not in text
    assert "--debug" not in text
