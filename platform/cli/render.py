"""`rolecast render`: a moving picture of one episode."""

from pathlib import Path
from typing import Annotated

import typer

from rolecast.platform.cli.documented import field_texts
from rolecast.platform.cli.output import Json, print_json, say
from rolecast.platform.rollout.held_out import HeldOut


def render(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the run.")],
    *,
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="A .gif, or a .png of a few moments.")
    ] = Path("hunt.gif"),
    seed: Annotated[int, typer.Option(help=field_texts(HeldOut)["seed"])] = HeldOut.seed,
    json: Json = False,
) -> None:
    """Draw a typical held-out episode of a run: a little better than the median of many.

    Example: rolecast render runs/hunt --out hunt.gif
    """
    from rolecast.platform.reports.rendering import render as render_episode
    from rolecast.platform.reports.rendering import write_rendering

    rendering = render_episode(folder, seed=seed)
    write_rendering(rendering, out)
    if json:
        print_json({"out": str(out), "description": rendering.description})
    else:
        say(f"{rendering.description}\nopen {out}")
