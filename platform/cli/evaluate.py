"""`rolecast evaluate`: what a policy earns on episodes that no search has seen."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from rolecast.core.errors import RequestError
from rolecast.core.rounding import digits_for
from rolecast.platform.cli.documented import field_texts, option_text
from rolecast.platform.cli.output import Json, print_json, say
from rolecast.platform.cli.reward_options import takes_rewards, with_rewards
from rolecast.platform.cli.trust import Trust
from rolecast.platform.rollout.held_out import HeldOut

_FIELD_TEXTS = field_texts(HeldOut)


@takes_rewards
def evaluate(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="[DIR]", help="Folder of a run, its policy/, or the name of a scripted policy."
        ),
    ] = None,
    *,
    policy: Annotated[
        str | None, typer.Option(help="A scripted policy instead: chase, pursuit, expert, random.")
    ] = None,
    task: Annotated[
        str | None, typer.Option(help=option_text("Task id. Default: the run's, of a run."))
    ] = None,
    episodes: Annotated[int, typer.Option(help=_FIELD_TEXTS["episodes"])] = HeldOut.episodes,
    seed: Annotated[int, typer.Option(help=_FIELD_TEXTS["seed"])] = HeldOut.seed,
    rewards: Mapping[str, Any],
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Evaluate a trained or a scripted policy on held-out episodes.

    Example: rolecast evaluate --policy chase --task pred_prey_3 --json
    """
    if (folder is None) == (policy is None):
        raise RequestError("expected either the folder of a run or --policy NAME, and not both")
    from dataclasses import asdict

    from rolecast.platform.search.records.evaluate import evaluate as evaluate_policy

    # A name in the place of a folder is that of a script, as in Python.
    named = policy if folder is None else folder if folder.is_dir() else str(folder)
    result = evaluate_policy(
        named or "",
        task=task,
        task_options=with_rewards(task, {}, rewards),
        episodes=episodes,
        seed=seed,
        trust=trust,
    )
    if json:
        print_json(asdict(result))
        return
    error, paid = result.episode_return_stderr, result.observed_return_mean
    digits = digits_for(result.episode_return_mean, error, least=2)
    mean = f"{result.episode_return_mean:.{digits}f}"
    mean += "" if error is None else f" +- {error:.{digits}f}"
    learner = "" if paid in (None, result.episode_return_mean) else f", paid as {paid:.{digits}f}"
    failed = result.failed_episodes
    lost = f", of which {failed} failed and count as the lowest return" if failed else ""
    episodes_text = f"{result.episodes} episodes{lost}"
    say(f"{result.policy} in {result.task}: {mean}{learner} over {episodes_text}")
