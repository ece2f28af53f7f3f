"""The two forms of an answer: one JSON object for programs, lines and tables for people."""

import json
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, Final

import typer

from rolecast.core.errors import require_known
from rolecast.platform.cli.guard import AnswerStream
from rolecast.platform.cli.verbosity import is_quiet

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, and nothing else.")]

MARL_EVAL: Final = "marl-eval"
LONG_WORK_S: Final = 10.0
"""Seconds after which `patience` says what is under way."""

REPORT_FORMATS: Final = ("html", MARL_EVAL)

Format = Annotated[
    str,
    typer.Option("--format", metavar="html|marl-eval", help="marl-eval: results as its JSON."),
]


def check_format(name: str) -> None:
    """Refuse a form of results that there is not.

    Raises:
        RequestError: the nearest name.
    """
    require_known("--format", [name], REPORT_FORMATS)


def print_json(value: Mapping[str, Any]) -> None:
    """Print one JSON object on one line; NaN and infinity are refused."""
    text = json.dumps(value, allow_nan=False, default=str)
    if isinstance(sys.stdout, AnswerStream):
        sys.stdout.answer(text)
    else:
        typer.echo(text)


def print_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print columns that fit their terminal, or plain columns where there is none."""
    from rich.console import Console
    from rich.table import Table

    table = Table(*head, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*row)
    width = None if sys.stdout.isatty() else 120
    Console(width=width, highlight=False, markup=False).print(table)


def say(text: str) -> None:
    """Print one line for people."""
    typer.echo(text)


def hint(text: str) -> None:
    """Print one line of what comes next, unless the command is quiet."""
    if not is_quiet():
        typer.echo(text)


def warn(text: str) -> None:
    """Print one line on stderr, so that stdout stays what a program reads."""
    if not is_quiet():
        typer.echo(text, err=True)


@contextmanager
def patience(what: str) -> Iterator[None]:
    """Print one line on stderr of work that takes longer than `LONG_WORK_S`, unless quiet."""
    timer = threading.Timer(LONG_WORK_S, typer.echo, (f"rolecast: {what}",), {"err": True})
    timer.daemon = True
    if not is_quiet():
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
