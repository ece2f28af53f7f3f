import io
from dataclasses import replace

from rich.console import Console

from rolecast.core.terminal import PlainLines
from rolecast.platform.search.progress import (
    ProgressSnapshot,
    line,
    live_view,
    plain_lines,
    progress_for,
)

FIGURES = ProgressSnapshot(
    batch=3,
    evaluations=180,
    env_steps=36_000,
    spent=0.045,
    best_return=61.25,
    best_stderr=7.0,
    incumbent_return=12.5,
    incumbent_stderr=None,
    env_steps_per_s=1_234_567.0,
    ask_s=0.05,
    tell_s=0.01,
    wall_time_s=12.0,
    time_left_s=3725.0,
)


def test_a_line_has_every_figure() -> None:
    text = line(FIGURES)
    for part in (
        "4%",
        "180 evaluations",
        "36000 env steps",
        "best noisy mean 61.2 ± 7.0",
        "incumbent 12.5",
    ):
        assert part in text
    assert "1.2M env-steps/s  ask 0.05 s  tell 0.01 s  left 1:02:05" in text


def test_plain_lines_come_once_a_second_and_the_last_is_not_lost() -> None:
    now, stream = [0.0], io.StringIO()
    lines = plain_lines(stream, clock=lambda: now[0])
    lines.start("title")
    for tenth in range(25):
        now[0] = tenth / 10
        lines.update(replace(FIGURES, batch=tenth, evaluations=tenth))
    lines.finish("end")
    shown = stream.getvalue().splitlines()
    assert [text.split()[1] for text in shown[1:-1]] == ["0", "10", "20", "24"]
    assert (shown[0], shown[-1]) == ("title", "end")


def test_the_live_view_shows_the_figures() -> None:
    stream = io.StringIO()
    view = live_view(stream)
    view._console = Console(file=stream, force_terminal=True, width=100)
    view.start("title")
    view.update(FIGURES)
    view.note("something happened")
    view.finish("end")
    text = stream.getvalue()
    for part in ("title", "36,000 env steps", "61.2 ± 7.0", "1.2M", "something happened", "end"):
        assert part in text


def test_a_pipe_gets_plain_lines() -> None:
    assert isinstance(progress_for(io.StringIO()), PlainLines)
