"""`rolecast causal`: a search of interventions in a causal graph."""

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Final

import typer

from rolecast.core.errors import ConfigError
from rolecast.platform.cli.documented import option_text
from rolecast.platform.cli.output import Json, warn
from rolecast.platform.cli.search import Settings, search_option, tell
from rolecast.platform.cli.settings import parse_settings
from rolecast.platform.cli.verbosity import shown

FILE_SUFFIX: Final = ".py"


def causal(
    task: Annotated[
        str,
        typer.Argument(
            metavar="TASK",
            help="A causal task, as rolecast tasks lists them, FILE.py:NAME with a problem of your "
            "own, or any task whose metrics are the nodes of --graph.",
        ),
    ],
    *,
    method: Annotated[str, typer.Option(help="mcbo, eifn, eicbo, cbo, gp_ucb or random.")] = "mcbo",
    rounds: Annotated[int, typer.Option(help="Rounds after the initial design.")] = 100,
    graph: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Causal graph of the task's metrics, in JSON."),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(help=option_text("Policy whose parameters act. Default: constant.")),
    ] = None,
    episodes: Annotated[
        int | None,
        typer.Option(help=option_text("Episodes of one evaluation. Default: 1.")),
    ] = None,
    batch_size: Annotated[int, typer.Option(help="Interventions of a round.")] = 1,
    seed: Annotated[int | None, search_option("seed")] = None,
    workers: Annotated[int | None, search_option("workers")] = None,
    out: Annotated[str | None, search_option("out", metavar="DIR")] = None,
    step_timeout: Annotated[float | None, search_option("step_timeout", metavar="SECONDS")] = None,
    test_episodes: Annotated[int | None, search_option("test_episodes")] = None,
    settings: Settings = None,
    json: Json = False,
) -> None:
    """Search interventions in a causal graph; the result is a folder like that of a search.

    Example: rolecast causal causal:toy --rounds 20 --set beta=0.5 --seed 0 --out runs/toy
    """
    from rolecast.platform.search.causal import causal_search, constant_nodes
    from rolecast.platform.search.progress import progress_for

    parts = parse_settings(settings or [])
    result = causal_search(
        problem_id(task),
        method=method,
        rounds=rounds,
        graph=graph,
        batch_size=batch_size,
        settings=parts["optimizer"],
        progress=shown(progress_for(sys.stderr)),
        task_options=parts["task"],
        policy=policy,
        policy_options=parts["policy"],
        episodes=episodes,
        seed=seed,
        workers=workers,
        out=out,
        step_timeout=step_timeout,
        test_episodes=test_episodes,
    )
    for name in constant_nodes(result.history):
        warn(
            f"{name} had one value in all episodes: its process has learned nothing; "
            "expected one that interventions change"
        )
    tell(result.out, result.summary, json=json)


def problem_id(text: str) -> str:
    """Return the id of a task: that given, or of FILE.py:NAME below the working directory.

    Raises:
        ConfigError: the file is elsewhere, or there is none, or no name; or Python imports another
            module by the name of the file.

    >>> problem_id("causal:toy")
    'causal:toy'
    """
    path, colon, name = text.rpartition(":")
    if not path.endswith(FILE_SUFFIX) and not text.endswith(FILE_SUFFIX):
        return text
    file = Path(path)
    inside = not file.is_absolute() and ".." not in file.parts and file.is_file()
    if not (colon and name and inside):
        raise ConfigError("task", text, "FILE.py:NAME of a file below the working directory")
    parts = file.with_suffix("").parts
    if any("." in part for part in parts):
        raise ConfigError("task", text, "a path without a dot before .py, for Python to import")
    _require_own_module(text, file if len(parts) == 1 else Path(parts[0]))
    return f"python:{'.'.join(parts)}:{name}"


def _require_own_module(task: str, place: Path) -> None:
    """Refuse a file, or the folder that it is in, if Python imports something else by its name."""
    try:
        found = find_spec(place.stem)
    except ValueError:  # a module without a place, such as __main__
        raise ConfigError("task", task, f"another name: {place.stem!r} is Python's own") from None
    if found is None:
        return
    places = [each for each in (found.origin, *(found.submodule_search_locations or ())) if each]
    if place.resolve() not in [Path(each).resolve() for each in places]:
        where = places[0] if places else "elsewhere"
        raise ConfigError("task", task, f"another name: Python's module {place.stem!r} is {where}")
