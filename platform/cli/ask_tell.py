"""`rolecast ask` and `rolecast tell`: optimises a black box outside Python, command by command."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rolecast.core.errors import ConfigError, RequestError
from rolecast.platform.cli.output import Json, print_json, say
from rolecast.platform.cli.settings import optimizer_settings

if TYPE_CHECKING:
    from rolecast.platform.optimizers.results import Result
    from rolecast.platform.optimizers.study import Variable  # loads torch

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the study.")]


def ask(
    folder: Folder,
    *,
    count: Annotated[
        int | None, typer.Option("--count", "-n", help="New candidates.", show_default="1")
    ] = None,
    variable: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=LOW:HIGH", help="An input and its bounds; repeatable. Begins a study."
        ),
    ] = None,
    dimension: Annotated[
        int | None, typer.Option(help="Inputs x0, x1, ... in [0, 1], in place of --variable.")
    ] = None,
    minimize: Annotated[
        bool, typer.Option("--minimize", help="Small values are good; else great ones are.")
    ] = False,
    optimizer: Annotated[
        str | None,
        typer.Option(
            help="Name of the optimiser, from `rolecast optimizers`.", show_default="dss_gp_ucb"
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A setting of the optimiser; repeatable."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of all random choices.", show_default="0")
    ] = None,
    budget: Annotated[
        int | None, typer.Option(help="Evaluations planned, for optimisers with a schedule.")
    ] = None,
    best: Annotated[
        bool, typer.Option("--best", help="Print the incumbent instead of new candidates.")
    ] = False,
) -> None:
    """Print new candidates of a black box as JSON, one line each; the first call makes the study.

    Example: rolecast ask lab --variable heat=20:90 --variable speed=0:5 -n 4
    """
    from rolecast.platform.optimizers.study import Study, StudyRequest, require_count

    options: dict[str, Any] = {
        "optimizer": optimizer,
        "seed": seed,
        "minimize": minimize or None,
        "budget": budget,
    }
    said = {
        name: value for name, value in options.items() if value is not None and value is not False
    }
    inputs = _variables(variable or [], dimension)
    if best and count is not None:
        raise RequestError("--best asks for no candidates; expected it without -n")
    count = 1 if count is None else count
    require_count(count, max(1, len(inputs)))
    if inputs:
        if best:
            raise RequestError(
                "a study that begins has no incumbent; expected --best without an input"
            )
        request = StudyRequest(
            variables=tuple(inputs),
            settings=optimizer_settings(settings or []),
            **said,
        )
        opened: Study = Study.create(folder, request)
    elif folder.exists() and (said or settings):
        raise RequestError(
            f"--{next(iter(said), 'set')} is settled when a study begins, and {folder} is there "
            "already; expected -n or --best alone, or another folder"
        )
    elif not folder.exists():
        raise RequestError(
            f"{folder} does not exist; expected --variable NAME=LOW:HIGH to begin a study there"
        )
    else:
        opened = Study.open(folder)
    with opened as study:
        if best:
            print_json({"best": study.best(), "evaluations": study.evaluations})
            return
        for candidate in study.ask(count):
            print_json(candidate)


def tell(
    folder: Folder,
    results: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ID=VALUE...",
            help="Value of a candidate; 3=0.7:0.1 with standard error; 3=failed where its "
            "evaluation failed.",
        ),
    ] = None,
    *,
    json: Json = False,
) -> None:
    """Tell what the black box gave; without ID=VALUE, lines of JSON are read from stdin.

    A failed evaluation is told as 2=failed, or as {"id": 2, "failed": true}; a value in its place,
    such as -1e6, would ruin the model of all others.

    Example: rolecast tell lab 0=0.71 1=0.32:0.05 2=failed
    """
    from rolecast.platform.optimizers.results import read_results, results_by_id
    from rolecast.platform.optimizers.study import Study

    told = results_by_id(map(_result, results)) if results else read_results(sys.stdin.readlines())
    with Study.open(folder) as study:
        study.tell(told)
        evaluations, pending, failed = study.evaluations, study.pending, study.failed
        best = study.best() if evaluations or not told else None
    if json:
        print_json({"evaluations": evaluations, "pending": pending, "failed": failed, "best": best})
        return
    counts = f"{evaluations} told, {len(pending)} pending"
    counts += f", {len(failed)} failed" if failed else ""
    named = ", ".join(f"{name}={value:.6g}" for name, value in (best or {}).items())
    say(f"{counts}; best so far: {named or 'none'}")


def _variables(texts: list[str], dimension: int | None) -> "list[Variable]":
    """Return the inputs of the black box."""
    from rolecast.platform.optimizers.study import Variable

    if dimension is not None:
        if texts:
            raise RequestError("--variable and --dimension are both given; expected one of them")
        if dimension < 1:
            raise ConfigError("--dimension", dimension, "an integer >= 1")
        return [Variable(name=f"x{index}", low=0.0, high=1.0) for index in range(dimension)]
    found = []
    for text in texts:
        name, equals, bounds = text.partition("=")
        low, colon, high = bounds.partition(":")
        if not (name and equals and colon):
            raise ConfigError("--variable", text, "NAME=LOW:HIGH")
        found.append(Variable(name=name, low=_number(text, low), high=_number(text, high)))
    return found


def _result(text: str) -> "tuple[int, Result | None]":
    """Return id, value and standard error of `ID=VALUE` or `ID=VALUE:ERROR`; of `ID=failed`, id."""
    from rolecast.platform.optimizers.results import TOLD_FAILED

    number, equals, given = text.partition("=")
    value, colon, error = given.partition(":")
    if not (equals and number.isdecimal()):
        raise ConfigError("result", text, "ID=VALUE, as in 3=0.7")
    if given == TOLD_FAILED:
        return int(number), None
    return int(number), (_number(text, value), _number(text, error) if colon else None)


def _number(text: str, part: str) -> float:
    try:
        return float(part)
    except ValueError as error:
        raise ConfigError(f"number in {text!r}", part, "a number") from error
