"""`rolecast check-task`: whether an environment can be searched, in seconds."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from rolecast.platform.cli.output import Json, print_json, say
from rolecast.platform.cli.reward_options import takes_rewards, with_rewards
from rolecast.platform.cli.settings import parse_settings


@takes_rewards
def check_task(
    task: Annotated[str, typer.Argument(metavar="ID", help="Task id, as in gym:Pendulum-v1.")],
    *,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="An option of the task; repeatable."),
    ] = None,
    rewards: Mapping[str, Any],
    json: Json = False,
) -> None:
    """Check spaces, seeding, rewards, batching and speed of a task; exit 1 if one is wrong.

    With reward settings it also says what share of the reward they let through.

    Example: rolecast check-task "pettingzoo:mpe2.simple_spread_v3?N=3&continuous_actions=true"
    """
    from dataclasses import asdict

    from rolecast.envs.check import check_task as check

    given = parse_settings([f"task.{word}" for word in settings or []])["task"]
    options = with_rewards(given, rewards)
    report = check(task, **options)
    if json:
        print_json({**asdict(report), "ok": report.ok})
    else:
        for each in report.checks:
            say(f"{'ok    ' if each.ok else 'FAILED'} {each.name}: {each.detail}")
        say(f"{report.id} {'can be searched' if report.ok else 'cannot be searched as it is'}")
    if not report.ok:
        raise typer.Exit(1)
