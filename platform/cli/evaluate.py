"""`rolecast evaluate`: what a policy earns on episodes that no search has seen."""

from pathlib import Path
from typing import Annotated

import typer

from rolecast.envs.errors import RequestError
from rolecast.platform.cli.documented import field_texts
from rolecast.platform.cli.output import Json, print_json, say
from rolecast.platform.rollout.held_out import HeldOut

_TEXTS = field_texts(HeldOut)


def evaluate(
    folder: Annotated[
        Path | None, typer.Argument(metavar="[DIR]", help="Folder of a run, or its policy/.")
    ] = None,
    *,
    policy: Annotated[
        str | None, typer.Option(help="A scripted policy instead: chase or random.")
    ] = None,
    task: Annotated[
        str | None, typer.Option(help="Task id; of a run it is the run's, if not given.")
    ] = None,
    episodes: Annotated[int, typer.Option(help=_TEXTS["episodes"])] = HeldOut.episodes,
    seed: Annotated[int, typer.Option(help=_TEXTS["seed"])] = HeldOut.seed,
    json: Json = False,
) -> None:
    """Evaluate a trained or a scripted policy on held-out episodes.

    Example: rolecast evaluate --policy chase --task pred_prey_3 --json
    """
    if (folder is None) == (policy is None):
        raise RequestError("expected either the folder of a run or --policy NAME, and not both")
    from dataclasses import asdict

    from rolecast.platform.rollout.evaluate import evaluate as evaluate_policy

    result = evaluate_policy(policy or folder or "", task=task, episodes=episodes, seed=seed)
    if json:
        print_json(asdict(result))
    else:
        say(
            f"{result.policy} in {result.task}: {result.episode_return_mean:.2f} +- "
            f"{result.episode_return_stderr:.2f} over {result.episodes} episodes"
        )
