"""`rolecast search`: a new search, its settings made from `SearchConfig`."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from rolecast.platform.cli.documented import settings_of
from rolecast.platform.cli.output import Json, print_json, say
from rolecast.platform.cli.reward_options import takes_rewards, with_rewards
from rolecast.platform.cli.settings import parse_settings
from rolecast.platform.search.config import SearchConfig

_SEARCH_SETTINGS = {each.name: each for each in settings_of(SearchConfig)}


def search_option(name: str, *, metavar: str | None = None) -> Any:
    """Return the option of one field: its text and its default are the config's."""
    setting = _SEARCH_SETTINGS[name]
    default = "" if setting.default is None else f" Default: {setting.default}."
    return typer.Option(help=setting.text + default, metavar=metavar)


Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="A setting of the optimiser; with policy. or task. before the key, of those. "
        "May be given many times; a value is read as JSON, else as text.",
    ),
]


@takes_rewards
def search(
    task: Annotated[str, typer.Argument(metavar="TASK", help=_SEARCH_SETTINGS["task"].text)],
    *,
    policy: Annotated[str | None, search_option("policy")] = None,
    optimizer: Annotated[str | None, search_option("optimizer")] = None,
    env_steps: Annotated[int | None, search_option("env_steps")] = None,
    evaluations: Annotated[int | None, search_option("evaluations")] = None,
    episodes: Annotated[int | None, search_option("episodes")] = None,
    fewer_episodes: Annotated[bool | None, search_option("fewer_episodes")] = None,
    batch_size: Annotated[int | None, search_option("batch_size")] = None,
    seed: Annotated[int | None, search_option("seed")] = None,
    asynchronous: Annotated[bool | None, search_option("asynchronous")] = None,
    workers: Annotated[int | None, search_option("workers")] = None,
    threads: Annotated[int | None, search_option("threads")] = None,
    out: Annotated[str | None, search_option("out", metavar="DIR")] = None,
    settings: Settings = None,
    address: Annotated[str | None, search_option("address")] = None,
    test_episodes: Annotated[int | None, search_option("test_episodes")] = None,
    confirm_share: Annotated[float | None, search_option("confirm_share")] = None,
    rewards: Mapping[str, Any],
    log_json: Annotated[
        bool, typer.Option("--log-json", help="Write progress to stderr as JSON, one line a batch.")
    ] = False,
    json: Json = False,
) -> None:
    """Search the weights of a policy for a task; the result is a folder.

    Example: rolecast search pred_prey_3 --env-steps 400000 --seed 0 --out runs/hunt
    """
    parts = parse_settings(settings or [])
    task_options = with_rewards(parts["task"], rewards)
    from rolecast.platform.search.progress import progress_for
    from rolecast.platform.search.run import search as run_search

    result = run_search(
        task,
        progress=progress_for(sys.stderr, json=log_json),
        task_options=task_options,
        policy=policy,
        policy_options=parts["policy"],
        optimizer=optimizer,
        optimizer_settings=parts["optimizer"],
        env_steps=env_steps,
        evaluations=evaluations,
        episodes=episodes,
        fewer_episodes=fewer_episodes,
        batch_size=batch_size,
        seed=seed,
        asynchronous=asynchronous,
        workers=workers,
        threads=threads,
        out=out,
        address=address,
        test_episodes=test_episodes,
        confirm_share=confirm_share,
    )
    tell(result.out, result.summary, json=json)


def tell(out: Path, summary: Mapping[str, Any], *, json: bool) -> None:
    """Write the report of a finished search; print one JSON object, or what comes next."""
    from rolecast.platform.reports.run import write_report
    from rolecast.platform.search.measurements import complete_run

    complete_run(out)
    report = write_report(out)
    if json:
        print_json({"out": str(out), "report": str(report), **summary})
    else:
        say(f"open {report}; next: rolecast evaluate {out}, rolecast render {out} --out hunt.gif")
