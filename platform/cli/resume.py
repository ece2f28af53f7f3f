"""`rolecast resume`: continues an interrupted search, or extends a finished one."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from rolecast.core.errors import RequestError
from rolecast.core.files import in_shell
from rolecast.platform.cli.bandit import tell_bandit, told_how_to_go_on
from rolecast.platform.cli.documented import option_text
from rolecast.platform.cli.loggers import Log, callbacks
from rolecast.platform.cli.output import Json, warn
from rolecast.platform.cli.search import tell
from rolecast.platform.cli.trust import Trust
from rolecast.platform.cli.verbosity import shown


def resume(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the run.")],
    *,
    env_steps: Annotated[
        str | None, typer.Option(metavar="N|+N", help="New budget in env steps, or +N for N more.")
    ] = None,
    evaluations: Annotated[
        str | None, typer.Option(metavar="N|+N", help="The same in evaluations.")
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(help=option_text("Processes that run episodes. Default: as the run had.")),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(help=option_text("As of `rolecast search`. Default: as the run had.")),
    ] = None,
    address: Annotated[
        str | None, typer.Option(help=option_text("Ray cluster to run in. Default: the run's."))
    ] = None,
    step_timeout: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help=option_text("Longest step of an environment. Default: the run's."),
        ),
    ] = None,
    failed_episodes: Annotated[
        str | None,
        typer.Option(
            metavar="stop|lowest",
            help=option_text("As of `rolecast search`. Default: the run's."),
        ),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(help="The run's task again, options included; as --trust, for that task."),
    ] = None,
    log: Log = None,
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Continue a search as if it had never stopped, or extend a finished one.

    Example: rolecast resume runs/hunt --env-steps +400000
    """
    from rolecast.platform.search.bandit.folder import BanditFolder
    from rolecast.platform.search.progress import progress_for
    from rolecast.platform.search.run import resume as resume_search
    from rolecast.platform.tuning.experiment import EXPERIMENT_FILE

    if BanditFolder(folder).known:
        from rolecast.platform.search.bandit.run import resume_bandit

        given = env_steps, evaluations, threads, step_timeout, failed_episodes, task, log
        if any(each is not None for each in given):
            raise RequestError(
                f"{folder} is a bandit run; expected no option but --workers, --address, --trust "
                "or --json"
            )
        with told_how_to_go_on(folder):
            result = resume_bandit(folder, workers=workers, address=address, trust=trust, note=warn)
        tell_bandit(result, folder, json=json)
        return
    if (folder / EXPERIMENT_FILE).is_file():
        raise RequestError(
            f"{folder} is a comparison; go on with it by: rolecast compare NAME "
            f"--out {in_shell(folder)} --resume"
        )
    found = resume_search(
        folder,
        env_steps=env_steps,
        evaluations=evaluations,
        workers=workers,
        threads=threads,
        address=address,
        step_timeout=step_timeout,
        failed_episodes=failed_episodes,
        task=task,
        trust=trust,
        progress=shown(progress_for(sys.stderr)),
        callbacks=callbacks(log),
    )
    tell(found.out, found.summary, json=json)
