"""`rolecast check-task`: whether an environment can be searched, in seconds."""

from collections.abc import Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from rolecast.core.patience import STEP_TIMEOUT_S, Patience
from rolecast.platform.cli.output import Json, print_json, say, warn
from rolecast.platform.cli.reward_options import takes_rewards, with_rewards
from rolecast.platform.cli.settings import parse_settings

if TYPE_CHECKING:
    from rolecast.envs.spec import BatchedTask
    from rolecast.envs.symmetry import Symmetry

SYMMETRY_STEPS: Final = 30_000
"""Env steps of random play in which symmetries are looked for."""


@takes_rewards
def check_task(
    task: Annotated[str, typer.Argument(metavar="ID", help="Task id, as in gym:Pendulum-v1.")],
    *,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="An option of the task; repeatable."),
    ] = None,
    step_timeout: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", min=1e-3, help="Longest step or reset of a user's environment."
        ),
    ] = STEP_TIMEOUT_S,
    rewards: Mapping[str, Any],
    find_symmetries: Annotated[
        bool,
        typer.Option("--find-symmetries", help="Look for symmetries in random play, too."),
    ] = False,
    json: Json = False,
) -> None:
    """Check spaces, seeding, rewards, batching and speed of a task; exit 1 if one is wrong.

    With reward settings it also says what share of the reward they let through.

    Example: rolecast check-task "pettingzoo:mpe2.simple_spread_v3?N=3&continuous_actions=true"
    """
    from dataclasses import asdict

    from rolecast.envs.check import check_task as check
    from rolecast.envs.registry import make_task
    from rolecast.envs.rewards.task import set_patience
    from rolecast.platform.tuning.learner import refusals

    given = parse_settings([f"task.{word}" for word in settings or []])["task"]
    options = with_rewards(task, given, rewards)
    with closing(Patience(step_timeout, warn)) as patience:
        report = check(task, patience=patience, **options)
        with closing(make_task(task, **options)) as made:
            set_patience(made, patience)
            learners = refusals(made)
            found = _found(made) if find_symmetries and report.ok else None
    if json:
        more = {} if found is None else {"found_symmetries": [asdict(each) for each in found]}
        print_json({**asdict(report), "ok": report.ok, "learners": learners} | more)
    else:
        for each in report.checks:
            mark = "WARN  " if each.warning else "ok    " if each.ok else "FAILED"
            say(f"{mark} {each.name}: {each.detail}")
        say(f"       learners: {_which(learners)}")
        for symmetry in found or ():
            places = ", ".join(map(str, symmetry.observation))
            say(f"       {symmetry.name}, observations {places}")
        if found is not None:
            say(f"       symmetries found in random play: {len(found)}")
        say(f"{report.id} {'can be searched' if report.ok else 'cannot be searched as it is'}")
    if not report.ok:
        raise typer.Exit(1)


def _found(task: "BatchedTask") -> "tuple[Symmetry, ...]":
    """Return the symmetries that random play shows."""
    from rolecast.envs.found_symmetries import find_symmetries

    return find_symmetries(task, env_steps=SYMMETRY_STEPS, seed=0).symmetries


def _which(learners: Mapping[str, str | None]) -> str:
    """Return which learners of `rolecast compare` take the task, and why others do not."""
    taking = [name for name, reason in learners.items() if reason is None]
    reasons = dict.fromkeys(reason for reason in learners.values() if reason is not None)
    others = [
        f"{', '.join(name for name, given in learners.items() if given == reason)} not ({reason})"
        for reason in reasons
    ]
    return "; ".join([f"{', '.join(taking) or 'none'} can be compared with", *others])
