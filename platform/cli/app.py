"""The console entry: names the commands, and turns failures into one sentence and an exit code.

Exit codes: 0 done, 1 the run failed (what it had computed is kept), 2 the request was wrong,
130 Ctrl-C, 143 SIGTERM (both keep every whole batch).
The command files import what computes only when they run, so that help is quick.
"""

import sys
import traceback
from importlib import import_module
from typing import Annotated, Final

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException
from typer.main import get_command

import rolecast
from rolecast.core.errors import RequestError
from rolecast.core.signals import terminable
from rolecast.platform.cli import (
    ablate,
    ask_tell,
    bandit,
    catalogue,
    causal,
    certify,
    check_task,
    compare,
    demo,
    evaluate,
    export,
    learners,
    multirun,
    plan,
    play,
    render,
    report,
    resume,
    search,
    serve,
    top,
    watch,
)
from rolecast.platform.cli.guard import guarded
from rolecast.platform.cli.verbosity import saying, split_flags

BENCH_MODULE: Final = "rolecast.benchmarks.app"
"""Module of `rolecast bench`; above this room, so it is found by name."""

INTERRUPTED_CODE: Final = 130
"""Exit code after Ctrl-C, by the convention of shells."""

TERMINATED_CODE: Final = 143
"""Exit code after SIGTERM, by the convention of shells."""

app = typer.Typer(
    name="rolecast",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Search the weights of a compact multi-agent policy by Bayesian optimisation on Ray.",
    epilog="Begin with: rolecast demo. A failure prints one sentence. Anywhere on the line may "
    "stand --debug (the traceback of a failure), --quiet or -q (results and errors alone), "
    "--verbose or -v (versions and seconds too).",
)
for name, command in (
    ("search", search.search),
    ("resume", resume.resume),
    ("causal", causal.causal),
    ("plan", plan.plan),
    ("top", top.top),
    ("watch", watch.watch),
    ("compare", compare.compare),
    ("evaluate", evaluate.evaluate),
    ("ablate", ablate.ablate),
    ("export", export.export),
    ("certify", certify.certify),
    ("serve", serve.serve),
    ("render", render.render),
    ("play", play.play),
    ("report", report.report),
    ("demo", demo.demo),
    ("tasks", catalogue.tasks),
    ("policies", catalogue.policies),
    ("optimizers", catalogue.optimizers),
    ("ask", ask_tell.ask),
    ("tell", ask_tell.tell),
    ("bandit", bandit.bandit),
    ("learners", learners.learners),
    ("check-task", check_task.check_task),
):
    app.command(name)(guarded(command))
app.add_typer(import_module(BENCH_MODULE).app, name="bench")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rolecast {rolecast.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    pass


def main(argv: list[str] | None = None) -> int:
    """Run one command line.

    Args:
        argv: the words after the program's name; those of this process when None.
    Returns:
        The exit code.
    """
    words = sys.argv[1:] if argv is None else argv
    debug = "--debug" in words
    with terminable() as received:
        code = _run([word for word in words if word != "--debug"], debug=debug)
    return TERMINATED_CODE if received else code


def _run(given: list[str], *, debug: bool) -> int:
    """Run a command line; return its exit code."""
    words, verbosity = split_flags(given)
    try:
        with saying(verbosity, words, sys.stderr):
            if multirun.wants_several(words):
                said = [word for word in given if word not in words]
                return multirun.run_several(
                    words, lambda each: _run([*each, *said], debug=debug), _check_search
                )
            app(words, prog_name="rolecast")
    except KeyboardInterrupt:  # between the searches of a sweep
        return INTERRUPTED_CODE
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except Exception as error:  # noqa: BLE001 - the outermost line: every failure becomes a sentence
        if debug:
            traceback.print_exc()
        else:
            typer.echo(f"rolecast: {_sentence(error)}", err=True)
        return 2 if isinstance(error, RequestError) else 1
    return 0


def _check_search(words: list[str]) -> None:
    """Refuse the command line of a search that the command would refuse, and run nothing."""
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    try:
        parsed = group.commands["search"].make_context("search", words[1:])
    except TyperException as error:
        raise RequestError(error.format_message()) from error
    search.check_options(parsed.params)


def _sentence(error: Exception) -> str:
    """Return what went wrong on one line; a failure that nobody foresaw also says its kind."""
    from rolecast.core.errors import RunError

    text = " ".join(str(error).split())
    if isinstance(error, RequestError | RunError):
        return text
    return f"{type(error).__name__}: {text} (--debug shows where)"


if __name__ == "__main__":
    sys.exit(main())
