"""`rolecast demo`: from nothing to a team that hunts, in about a minute, with a picture."""

import sys
from math import hypot
from pathlib import Path
from typing import Annotated, Final

import typer

from rolecast.core.errors import RequestError
from rolecast.platform.cli.documented import option_text
from rolecast.platform.cli.output import say
from rolecast.platform.cli.verbosity import shown

DEMO_TASK: Final = "pred_prey_3"
DEMO_POLICY: Final = "hom"
DEMO_OPTIMIZER: Final = "dss_gp_ucb"
ENV_STEPS: Final = 400_000
DEMO_SEED: Final = 0

CHASE_LABEL: Final = "scripted: chase the nearest prey"
PURSUIT_LABEL: Final = "scripted: pursuit, damped and with a lead"


def demo(
    *,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the demo.")] = Path("demo"),
    env_steps: Annotated[int, typer.Option(help="Budget of the search.")] = ENV_STEPS,
    workers: Annotated[
        int | None, typer.Option(help=option_text("Ray workers. Default: where they pay."))
    ] = None,
) -> None:
    """Search a team of three predators, compare it with scripted ones, and draw the hunt.

    A demo that is there already is used again: a finished search is not repeated, an interrupted
    one goes on.
    """
    say(
        f"1. Searching {DEMO_POLICY} for {DEMO_TASK} by {DEMO_OPTIMIZER}: {env_steps:,} env steps, "
        f"seed {DEMO_SEED}."
    )
    _search(out, env_steps, workers)

    from rolecast.platform.rollout.held_out import SEARCH_HELD_OUT_SEED
    from rolecast.platform.search.records.evaluate import evaluate

    say("\n2. Evaluating on 1,000 episodes that the search has not seen.")
    earned: dict[str, tuple[float, float]] = {}
    for name, player in (
        ("found by the search", out),
        (CHASE_LABEL, "chase"),
        (PURSUIT_LABEL, "pursuit"),
        ("random actions", "random"),
    ):
        result = evaluate(player, task=DEMO_TASK, seed=SEARCH_HELD_OUT_SEED)
        earned[name] = result.episode_return_mean, result.episode_return_stderr or 0.0
        say(f"   {name:40} {earned[name][0]:7.1f} +- {earned[name][1]:.1f}")
    found, *_ = earned.values()
    say(f"   {verdict(found, earned[CHASE_LABEL], earned[PURSUIT_LABEL])}")

    from rolecast.platform.reports.film.render import render, write_rendering
    from rolecast.platform.reports.run import write_measured_report

    say("\n3. Drawing.")
    rendering = render(out)
    write_rendering(rendering, out / "hunt.gif")
    write_rendering(rendering, out / "hunt.png")
    say(f"   {rendering.description}")
    say(f"   {_page(out)}")
    report = write_measured_report(out)
    say(f"\nOpen {report} (everything), or {out / 'hunt.gif'} (the hunt), {out / 'hunt.png'}.")


def _page(out: Path) -> str:
    """Write the page in which a person can interfere; return a line about it."""
    from rolecast.platform.play.page import write_page

    try:
        page = write_page(out)
    except RequestError as reason:
        return f"No page to play with: {reason}"
    return f"{page.path}: play with the team in a browser"


def verdict(
    found: tuple[float, float], chase: tuple[float, float], pursuit: tuple[float, float]
) -> str:
    """Return the one sentence that a reader of the demo takes away.

    Args:
        found: mean return of the policy found, and its standard error.
        chase: of the scripted chase.
        pursuit: of the scripted pursuit.
    """
    return (
        f"The policy found {_compared(found, chase)} the scripted chase "
        f"and {_compared(found, pursuit)} pursuit, three numbers set by hand."
    )


def _compared(one: tuple[float, float], other: tuple[float, float]) -> str:
    """Return how one return compares with another, by two standard errors."""
    apart, error = one[0] - other[0], hypot(one[1], other[1])
    if abs(apart) <= 2.0 * error:
        return f"equals (within {2.0 * error:.1f})"
    return f"{'beats' if apart > 0.0 else 'is below'} (by {abs(apart):.1f} +- {error:.1f})"


def _search(out: Path, env_steps: int, workers: int | None) -> None:
    """Search, or take up the demo that is there."""
    from rolecast.platform.search.progress import progress_for
    from rolecast.platform.search.records.run_folder import RunFolder
    from rolecast.platform.search.run import resume, search

    progress = shown(progress_for(sys.stderr))
    if not out.exists():
        search(
            DEMO_TASK,
            policy=DEMO_POLICY,
            optimizer=DEMO_OPTIMIZER,
            env_steps=env_steps,
            seed=DEMO_SEED,
            workers=workers,
            out=str(out),
            progress=progress,
        )
        return
    _require_demo(out, env_steps)
    finished = RunFolder.open(out).read_summary() is not None
    say(f"   {out} is there already; its search {'has ended' if finished else 'goes on'}.")
    if not finished:
        resume(out, workers=workers, progress=progress)


def _require_demo(out: Path, env_steps: int) -> None:
    """Refuse a folder that holds anything but a demo of this budget."""
    from rolecast.platform.search.records.run_folder import RunFolder

    asked = {
        "task": DEMO_TASK,
        "policy": DEMO_POLICY,
        "optimizer": DEMO_OPTIMIZER,
        "env_steps": env_steps,
        "seed": DEMO_SEED,
    }
    found = RunFolder.open(out).read_run().get("search", {})
    for name, value in asked.items():
        if found.get(name) != value:
            raise RequestError(
                f"{out} holds a run with {name} {found.get(name)!r}; expected {value!r}, or a "
                "folder that does not exist (--out)"
            )
