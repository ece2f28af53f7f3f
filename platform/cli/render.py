"""`rolecast render`: a moving picture of one episode."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Final

import typer

from rolecast.core.errors import RequestError
from rolecast.core.files import in_shell
from rolecast.platform.cli.documented import field_texts, option_text
from rolecast.platform.cli.output import Json, print_json, say, warn
from rolecast.platform.cli.trust import Trust
from rolecast.platform.reports.film.options import Shot

_FIELD_TEXTS = {name: option_text(text) for name, text in field_texts(Shot).items()}
LINE_INTERVAL_S: Final = 3.0
"""Between two lines about long work."""


def render(
    folder: Annotated[Path | None, typer.Argument(metavar="[DIR]", help="Folder of a run.")] = None,
    *,
    policy: Annotated[
        str | None, typer.Option(help="A scripted policy instead: chase, pursuit, expert, random.")
    ] = None,
    task: Annotated[str | None, typer.Option(help="Task id for --policy.")] = None,
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="A .gif or .mp4, or a .png of a few moments.")
    ] = Path("hunt.gif"),
    seed: Annotated[int, typer.Option(help=_FIELD_TEXTS["seed"])] = Shot.seed,
    episodes: Annotated[int | None, typer.Option(help=_FIELD_TEXTS["episodes"])] = Shot.episodes,
    steps: Annotated[int | None, typer.Option(help=_FIELD_TEXTS["steps"])] = Shot.steps,
    stride: Annotated[int | None, typer.Option(help=_FIELD_TEXTS["stride"])] = Shot.stride,
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Draw a typical held-out episode: a little better than the median of many.

    Example: rolecast render runs/hunt --out hunt.gif
    """
    if (folder is None) == (policy is None):
        raise RequestError("expected either the folder of a run or --policy NAME, and not both")
    if (task is None) != (policy is None):
        raise RequestError("expected --policy NAME and --task ID together; a run has its own task")
    shot = Shot(seed=seed, episodes=episodes, steps=steps, stride=stride)

    from rolecast.platform.reports.film.encode import require_ending
    from rolecast.platform.reports.film.render import render as render_run
    from rolecast.platform.reports.film.render import render_scripted, write_rendering

    require_ending(out)
    progress = lines_about_frames(warn, time.monotonic)
    if folder is not None:
        rendering = render_run(folder, shot, progress=progress, trust=trust)
    else:
        rendering = render_scripted(policy or "", task or "", shot, progress=progress)
    write_rendering(rendering, out)
    if json:
        told = {"out": str(out), "description": rendering.description}
        print_json({**told, "frames": len(rendering.frames)})
    else:
        say(f"{rendering.caption}\nopen {in_shell(out)}")


def lines_about_frames(
    tell: Callable[[str], None], clock: Callable[[], float]
) -> Callable[[int, int], None]:
    """Return what tells of frames drawn, where drawing takes longer than a few seconds."""
    last = clock()

    def progress(drawn: int, frames: int) -> None:
        nonlocal last
        now = clock()
        if drawn < frames and now >= last + LINE_INTERVAL_S:
            last = now
            tell(f"frame {drawn} of {frames}")

    return progress
