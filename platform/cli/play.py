"""`rolecast play`: a found team in a browser, with a person in it."""

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from rolecast.core.files import in_shell
from rolecast.platform.cli.documented import option_text
from rolecast.platform.cli.former_policy import tell_of_former_policy
from rolecast.platform.cli.output import Json, print_json, say
from rolecast.platform.cli.trust import Trust


def play(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a run, or its policy/.")],
    *,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help=option_text("A .html file. Default: play.html in DIR.")),
    ] = None,
    open_it: Annotated[
        bool, typer.Option("--open", help="Open the page in this machine's browser.")
    ] = False,
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Write one HTML file in which a found team plays, and a person can steer or push.

    Predator-prey and drone delivery are played as they are; of other tasks, and of policies that
    cannot be exported, an episode is shown.

    Example: rolecast play runs/hunt --out hunt.html
    """
    from rolecast.platform.play.page import write_page

    tell_of_former_policy(folder)
    page = write_page(folder, out, trust=trust)
    if json:
        game = page.game
        told = {} if game is None else {"return_mean": game.return_mean}
        print_json({"out": str(page.path), "description": page.description, **told})
    else:
        say(f"{page.description}\nopen {in_shell(page.path)}")
        if out is None and (folder / "report.html").is_file():
            say(f"rolecast report {in_shell(folder)} links it in the report")
    if open_it:
        webbrowser.open(page.path.absolute().as_uri())
