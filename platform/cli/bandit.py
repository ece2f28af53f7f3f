"""`rolecast bandit`: N agents maximise one function together, and what they send is counted."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rolecast.core.errors import ConfigError, RequestError
from rolecast.core.files import in_shell
from rolecast.platform.cli.documented import option_text
from rolecast.platform.cli.output import Json, hint, print_json, say, warn
from rolecast.platform.cli.settings import optimizer_settings

if TYPE_CHECKING:
    from rolecast.platform.search.bandit.run import BanditResult  # loads SciPy


def bandit(
    function: Annotated[
        str,
        typer.Argument(
            metavar="FUNCTION",
            help="h1, h2, branin, hartmann4, python:MODULE:FUNCTION or task:TASK.",
        ),
    ],
    *,
    method: Annotated[str, typer.Option(help="duets or a rival; see docs/bandits.md.")] = "duets",
    agents: Annotated[int, typer.Option(help="N, agents.")] = 10,
    rounds: Annotated[int, typer.Option(help="T, queries of each agent.")] = 50,
    beta: Annotated[
        float | None, typer.Option(help="As --set beta: width of the confidence band.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of all random choices.")] = 0,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A setting of the method; repeatable."),
    ] = None,
    bounds: Annotated[
        list[str] | None,
        typer.Option(metavar="LOW:HIGH", help="An input of a function of your own; repeatable."),
    ] = None,
    ball: Annotated[
        bool, typer.Option("--ball", help="The domain is the ball within bounds, all -R:R.")
    ] = False,
    noise: Annotated[
        float | None,
        typer.Option(
            help=option_text(
                "Deviation of noise that is added. Default: 0.2 by name, 0 for your function."
            )
        ),
    ] = None,
    optimum: Annotated[
        float | None, typer.Option(help="Greatest value of your function, for its regret.")
    ] = None,
    policy: Annotated[
        str | None, typer.Option(help="Policy of task:TASK, of at most ten parameters.")
    ] = None,
    episodes: Annotated[int | None, typer.Option(help="Episodes of a value of task:TASK.")] = None,
    offset: Annotated[
        float | None, typer.Option(help="What your function or task returns that counts as 0.")
    ] = None,
    scale: Annotated[
        float | None, typer.Option(help="Difference of what it returns that counts as 1.")
    ] = None,
    workers: Annotated[
        int, typer.Option(help="Ray actors that share the agents. 0: all in this process.")
    ] = 0,
    address: Annotated[
        str | None,
        typer.Option(
            help=option_text(
                "Ray cluster, with --workers. Default: that of RAY_ADDRESS; else one that starts "
                "here."
            )
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of the run, to resume and report.")
    ] = None,
    json: Json = False,
) -> None:
    """Let N agents maximise a function together, and count what they send.

    Example: rolecast bandit branin --agents 10 --rounds 50 --beta 0.5
    """
    from rolecast.platform.search.bandit.run import bandit_search

    given = optimizer_settings(settings or [])
    if beta is not None:
        if "beta" in given:
            raise RequestError("--beta and --set beta are both given; expected one of them")
        given["beta"] = beta
    play = {"policy": policy, "episodes": episodes}
    with told_how_to_go_on(out):
        result = bandit_search(
            function,
            method=method,
            agents=agents,
            rounds=rounds,
            seed=seed,
            settings=given,
            bounds=_bounds(bounds) if bounds else None,
            ball=ball,
            noise=noise,
            optimum=optimum,
            offset=offset,
            scale=scale,
            task_play={name: value for name, value in play.items() if value is not None} or None,
            workers=workers,
            address=address,
            out=out,
            note=warn,
        )
    tell_bandit(result, out, json=json)


@contextmanager
def told_how_to_go_on(out: Path | None) -> Iterator[None]:
    """Let Ctrl-C inside tell by which command the run of a folder goes on."""
    from rolecast.platform.search.bandit.folder import BanditFolder

    try:
        yield
    except KeyboardInterrupt:
        if out is not None and BanditFolder(out).known:
            warn(f"stopped; go on with: rolecast resume {in_shell(out)}")
        raise


def tell_bandit(result: "BanditResult", out: Path | None, *, json: bool) -> None:
    """Print what a run came to."""
    if json:
        print_json(result.json())
        return
    regret = "unknown" if result.cumulative_regret is None else f"{result.cumulative_regret:.4g}"
    say(
        f"{result.method} on {result.function}: cumulative regret {regret} over {result.agents} "
        f"agents and {result.rounds} rounds, {len(result.epochs)} exchanges, "
        f"{result.communication_reals:,.0f} reals ({result.communication_bytes:,.0f} bytes) sent"
    )
    point = ", ".join(f"{place:.4g}" for place in result.incumbent)
    say(f"incumbent ({point}); greatest value met {result.greatest_value:.4g}")
    if out is not None:
        hint(f"next: rolecast report {in_shell(out)}")


def _bounds(texts: Sequence[str]) -> list[tuple[float, float]]:
    """Return the bounds of the inputs."""
    found = []
    for text in texts:
        low, _, high = text.partition(":")
        try:
            found.append((float(low), float(high)))
        except ValueError as error:
            raise ConfigError("--bounds", text, "LOW:HIGH, two numbers") from error
    return found
