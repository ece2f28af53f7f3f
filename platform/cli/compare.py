"""`rolecast compare`: searches and learners side by side, in one Tune experiment."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from rolecast.core.files import in_shell
from rolecast.platform.cli.documented import option_text
from rolecast.platform.cli.loggers import Log, callbacks
from rolecast.platform.cli.output import MARL_EVAL, Format, Json, check_format, print_json, say
from rolecast.platform.cli.verbosity import shown


def compare(
    experiment: Annotated[
        str,
        typer.Argument(
            metavar="NAME|path.py",
            help="An experiment of rolecast.tune_configs, as in quickstart, or a file that has an "
            "EXPERIMENT.",
        ),
    ],
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help=option_text("Folder of the comparison. Default: runs/compare-....")
        ),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(help=option_text("Seeds 0 to N - 1. Default: the experiment's."))
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help=option_text("Trials at once. Default: one per core."))
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(
            help=option_text(
                "Ray cluster to run in: auto, or host:port. Default: that of RAY_ADDRESS, as in a "
                "submitted job; else one that starts on this machine."
            )
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on in DIR; what has finished is not run again.")
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FIELD=VALUE",
            help="Run now only trials of this task, reward, method, policy or seed, as in "
            "method=facmac; may be repeated. The others keep what they have.",
        ),
    ] = None,
    budget_fraction: Annotated[
        float, typer.Option(help="Share of budgets and held-out episodes, to run it small.")
    ] = 1.0,
    log: Log = None,
    format_: Format = "html",
    trust: Annotated[
        bool,
        typer.Option(
            "--trust",
            help="With --resume: go on with learners of a folder that was not begun here, "
            "though their states can run any code.",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Run methods x tasks x reward settings x seeds at one budget, and report on them.

    All trials are scored on the raw return of the same held-out episodes, whatever their learners
    were paid. A trial that crashes is taken up again, then counts as failed; the others go on.

    Example: rolecast compare quickstart --seeds 3 --workers 2 --out runs/quickstart
    """
    from rolecast.platform.tuning.loading import require_experiment, require_new_folder

    check_format(format_)
    require_experiment(experiment)
    if out is not None and not resume:
        require_new_folder(out)
    told = callbacks(log)
    from rolecast.platform.reports.comparison.page import (
        write_comparison_report,
        write_exchange_file,
    )
    from rolecast.platform.tuning.comparison import compare as run
    from rolecast.platform.tuning.progress import progress_for
    from rolecast.platform.tuning.yardsticks import complete_comparison

    result = run(
        experiment,
        out=out,
        seeds=seeds,
        workers=workers,
        address=address,
        resume=resume,
        budget_fraction=budget_fraction,
        only=only,
        progress=shown(progress_for(sys.stderr)),
        callbacks=told,
        trust=trust,
    )
    complete_comparison(result.out, trust=True)  # it has just run its tasks
    report = write_comparison_report(result.out)
    if format_ == MARL_EVAL:
        report = write_exchange_file(result.out)
    if json:
        failed = dict(result.failures)
        print_json({"out": str(result.out), "report": str(report), "failed": failed})
    else:
        say(f"open {in_shell(report)}; curves: tensorboard --logdir {in_shell(result.out)}")
        say(f"reports of its searches: rolecast report {in_shell(result.out)}")
    result.require_success()
