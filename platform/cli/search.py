"""`rolecast search`: a new search, its settings made from `SearchConfig`."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from rolecast.core.errors import RequestError
from rolecast.core.files import in_shell
from rolecast.platform.cli.documented import option_text, settings_of
from rolecast.platform.cli.loggers import Log, callbacks
from rolecast.platform.cli.output import Json, hint, print_json, say
from rolecast.platform.cli.reward_options import given_rewards, takes_rewards, with_rewards
from rolecast.platform.cli.settings import parse_settings
from rolecast.platform.cli.trust import Trust
from rolecast.platform.cli.verbosity import shown
from rolecast.platform.optimizers.registry import optimizer_config
from rolecast.platform.search.planning.config import SearchConfig
from rolecast.platform.search.planning.continuation import begun_search, continuation
from rolecast.platform.search.planning.request import (
    check_names,
    read_request,
    require_trusted_file,
)

_SEARCH_SETTINGS = {each.name: each for each in settings_of(SearchConfig)}


def search_option(name: str, *, metavar: str | None = None) -> Any:
    """Return the option of one field: its text and its default are the config's."""
    setting = _SEARCH_SETTINGS[name]
    text = option_text(setting.text, setting.default, fields_named=_SEARCH_SETTINGS)
    return typer.Option(help=text, metavar=metavar)


Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="A setting of the optimiser, as `rolecast optimizers NAME` lists them; with policy. "
        "before the key, one of `rolecast policies NAME`; with task., an option of the task. "
        "May be given many times; a value is read as JSON, else as text.",
    ),
]


Resume = Annotated[
    bool,
    typer.Option(
        "--resume",
        help="Go on if --out holds a run of this search, to a larger budget if one is given; "
        "refuse another search. For jobs that may be started twice.",
    ),
]

Multirun = Annotated[
    bool,
    typer.Option(
        "--multirun",
        "-m",
        help="One search for each combination of the values in lists with commas, each in a "
        "folder below --out. The same command again goes on with those that have not ended.",
    ),
]

_OPTIONS_OF = {
    "task": "task_options",
    "policy": "policy_options",
    "optimizer": "optimizer_settings",
}

_BUDGET_FIELDS = ("env_steps", "evaluations")


@takes_rewards
def search(
    task: Annotated[
        str | None, typer.Argument(metavar="[TASK]", help=_SEARCH_SETTINGS["task"].text)
    ] = None,
    *,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Settings of the search in TOML or YAML, such as the run.toml of another run; "
            "what is given here comes first.",
        ),
    ] = None,
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
    step_timeout: Annotated[float | None, search_option("step_timeout", metavar="SECONDS")] = None,
    failed_episodes: Annotated[
        str | None, search_option("failed_episodes", metavar="stop|lowest")
    ] = None,
    test_episodes: Annotated[int | None, search_option("test_episodes")] = None,
    confirm_share: Annotated[float | None, search_option("confirm_share")] = None,
    rewards: Mapping[str, Any],
    log_json: Annotated[
        bool, typer.Option("--log-json", help="Write progress to stderr as JSON, one line a batch.")
    ] = False,
    log: Log = None,
    resume: Resume = False,
    multirun: Multirun = False,
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Search the weights of a policy for a task; the result is a folder.

    With --resume, the same command goes on with what it has begun. With -m, lists with commas give
    one search for each combination of their values.

    Example: rolecast search pred_prey_3 --env-steps 400000 --seed 0 --out runs/hunt

    Example: rolecast search pred_prey_3 -m --seed 0,1,2 --optimizer dss_gp_ucb,snes --out runs/both
    """
    if multirun:  # taken off by the console entry, so it came another way
        raise RequestError("--multirun is for the command line; expected one search")
    values = {
        "task": task,
        "policy": policy,
        "optimizer": optimizer,
        "env_steps": env_steps,
        "evaluations": evaluations,
        "episodes": episodes,
        "fewer_episodes": fewer_episodes,
        "batch_size": batch_size,
        "seed": seed,
        "asynchronous": asynchronous,
        "workers": workers,
        "threads": threads,
        "out": out,
        "address": address,
        "step_timeout": step_timeout,
        "failed_episodes": failed_episodes,
        "test_episodes": test_episodes,
        "confirm_share": confirm_share,
    }
    file, given = _asked(values, settings, config, rewards)
    request = merged(file, given)
    stored = begun_search(request.get("out")) if resume else None
    check_names(request, begun=stored is not None)
    require_trusted_file(file, given, trust=trust)
    again = None if stored is None else continuation(request, stored)
    told = callbacks(log)
    from rolecast.platform.search import run
    from rolecast.platform.search.progress import progress_for

    asked = progress_for(sys.stderr, json=log_json)
    progress = asked if log_json else shown(asked)  # lines that were asked for are not left out
    if again is None:
        result = run.search(progress=progress, callbacks=told, **request)
    else:
        out = request["out"]
        result = run.resume(out, progress=progress, callbacks=told, trust=trust, **again)
    tell(result.out, result.summary, json=json)


def check_options(values: Mapping[str, Any]) -> None:
    """Refuse what `search` refuses of its options before it makes a task, and run nothing.

    Args:
        values: parameters of the command to their values, None where not given.
    Raises:
        RequestError: a name or a value is wrong.
    """
    fields_given = {name: values.get(name) for name in _SEARCH_SETTINGS}
    rewards = given_rewards(values)
    file, given = _asked(fields_given, values["settings"], values["config"], rewards)
    request = merged(file, given)
    check_names(request, begun=True)
    config = SearchConfig.from_json(request)
    optimizer_config(config.optimizer, **config.optimizer_settings)
    callbacks(values["log"])


def _asked(
    values: Mapping[str, Any],
    settings: Sequence[str] | None,
    config: Path | None,
    rewards: Mapping[str, Any],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the settings of a file and those of a command line, which together name a task.

    Args:
        values: fields of `SearchConfig` to what their options say.
        settings: words of --set.
        config: the file, if there is one.
        rewards: by options of their own.
    Raises:
        RequestError: one is given twice, or there is no task.
    """
    parts = parse_settings([*(settings or ())])
    given = {
        **values,
        "task_options": with_rewards(values["task"], parts["task"], rewards),
        "policy_options": parts["policy"],
        "optimizer_settings": parts["optimizer"],
    }
    file = {} if config is None else read_request(config)
    if given["task"] is None and file.get("task") is None:
        raise RequestError("no task is given; expected TASK, or --config FILE with a task")
    return file, given


def merged(file: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a file and of a command line together; the latter come first.

    Options of a policy or optimiser that the command line replaces are left out, and so is the
    file's budget where the command line has another. Symmetries that were found for another task
    are looked for again; where the policy takes none of them, they cost no random play.

    Args:
        file: as `read_request` returned them.
        given: fields of `SearchConfig`; None where not given.
    """
    said = {name: value for name, value in given.items() if value not in (None, {})}
    kept = dict(file)
    for part, options in _OPTIONS_OF.items():
        if part in said and said[part] != kept.get(part):
            kept.pop(options, None)
        if options in said:
            said[options] = {**kept.get(options, {}), **said[options]}
    if said.keys() & _BUDGET_FIELDS:
        for name in _BUDGET_FIELDS:
            kept.pop(name, None)
    request = {**kept, **said}
    if request.get("random_play_steps"):
        options, before = (each.get("policy_options", {}) for each in (request, file))
        if options.get("symmetries") != before.get("symmetries"):
            del request["random_play_steps"]
        elif request.get("task") != file.get("task"):
            request["policy_options"] = {**options, "symmetries": "found"}
            del request["random_play_steps"]
    return request


def tell(out: Path, summary: Mapping[str, Any], *, json: bool) -> None:
    """Write the report of a search that this process ran; print one JSON object, or what next."""
    from rolecast.platform.reports.run import write_measured_report
    from rolecast.platform.search.causal import causal_figures
    from rolecast.platform.search.records.causal import intervention_text

    if not json:
        hint("writing the report")
    report = write_measured_report(out, trust=True)
    figures = causal_figures(out)
    if json:
        print_json({"out": str(out), "report": str(report), **summary, **figures})
        return
    if "intervention" in figures:
        say(f"intervention found: {intervention_text(figures['intervention'])}")
    if figures:
        rounds = f", {figures['rounds']} rounds" if "rounds" in figures else ""
        hint(
            f"{figures['reward_kind']} reward: {figures['average_expected_reward']:.4g} on "
            f"average, {figures['best_expected_reward']:.4g} at best{rounds}; "
            f"open {in_shell(report)}"
        )
    else:
        hint(f"open {in_shell(report)}; next: rolecast evaluate {in_shell(out)}")
