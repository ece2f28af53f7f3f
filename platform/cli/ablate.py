"""`rolecast ablate`: what each net of a found policy is worth."""

from pathlib import Path
from typing import Annotated

import typer

from rolecast.core.rounding import digits_for
from rolecast.platform.cli.documented import field_texts, option_text
from rolecast.platform.cli.output import Json, print_json, print_table, say
from rolecast.platform.cli.trust import Trust
from rolecast.platform.rollout.held_out import ABLATION_EPISODES, HeldOut

_FIELD_TEXTS = field_texts(HeldOut)


def ablate(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a run, or its policy/.")],
    *,
    task: Annotated[
        str | None, typer.Option(help=option_text("Task id. Default: the run's own."))
    ] = None,
    episodes: Annotated[int, typer.Option(help=_FIELD_TEXTS["episodes"])] = ABLATION_EPISODES,
    seed: Annotated[int, typer.Option(help=_FIELD_TEXTS["seed"])] = HeldOut.seed,
    at: Annotated[
        str,
        typer.Option(help="Weights of a net that is taken out: those of its centre, or zero."),
    ] = "centre",
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Evaluate a found policy with each of its nets put back, on the same held-out episodes.

    A net is worth the paired difference: the return of the whole policy less that without it.
    Example: rolecast ablate runs/hunt --episodes 4000 --json
    """
    from rolecast.platform.search.records.ablation import ablate as ablate_policy

    result = ablate_policy(folder, task=task, episodes=episodes, seed=seed, at=at, trust=trust)
    if json:
        print_json(result.to_json())
        return

    def numbers(mean: float, error: float | None) -> tuple[str, str]:
        digits = digits_for(mean, error, least=2)
        return f"{mean:.{digits}f}", "-" if error is None else f"{error:.{digits}f}"

    whole = numbers(result.episode_return_mean, result.episode_return_stderr)
    rows = [("none", *whole, "-", "-")] + [
        (
            name,
            *numbers(each.episode_return_mean, each.episode_return_stderr),
            *numbers(each.difference_mean, each.difference_stderr),
        )
        for name, each in result.nets.items()
    ]
    head = (f"net at {at}", "episode return", "stderr", "net is worth", "stderr")
    print_table(head, rows)
    say(f"{result.episodes} episodes, the same in every row")
