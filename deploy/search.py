"""Search on the Ray cluster that this machine belongs to; go on if the folder holds a run.

For `ray submit`, `ray job submit` and a RayJob, which want a script that may be started twice:
    ray submit deploy/cluster.yaml deploy/search.py TASK --env-steps N --workers W --out DIR
All words are those of `rolecast search`. A run of another search in DIR is refused; a new budget
extends it.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, Final

import typer

from rolecast.core.errors import RequestError
from rolecast.core.files import read_json
from rolecast.envs.ids import format_id, parse_id
from rolecast.envs.rewards.settings import REWARD_OPTIONS
from rolecast.platform.cli.app import main
from rolecast.platform.cli.multirun import MULTIRUN_FLAGS
from rolecast.platform.cli.search import merged, search
from rolecast.platform.cli.settings import parse_settings
from rolecast.platform.cli.verbosity import VERBOSITY_FLAGS
from rolecast.platform.search.planning.request import read_request

BUDGET_SETTINGS: Final = ("env_steps", "evaluations")
"""Settings of which a larger one extends a run."""

HOW_IT_RUNS: Final = ("workers", "step_timeout", "failed_episodes")
"""Settings that `rolecast resume` takes too."""

DECIDING_SETTINGS: Final = ("policy", "optimizer", "seed", "episodes", "batch_size", "asynchronous")
"""Settings that are the same in every search of one folder, and so are those by --set."""

COMMON_FLAGS: Final = (*VERBOSITY_FLAGS, "--debug")
"""Words of every command."""


def command(words: Sequence[str]) -> list[str]:
    """Return the words of `rolecast`: a search, or its resumption where its folder has begun.

    Raises:
        RequestError: the folder is missing, or holds another search.
    """
    if any(word in MULTIRUN_FLAGS for word in words):
        raise RequestError("--multirun is given; expected one search for each folder")
    out = _value("--out", words)
    if out is None:
        raise RequestError("--out is missing; expected --out DIR, to find the run")
    named, run = _value("--address", words), Path(out) / "run.json"
    if not run.is_file():
        return ["search", *words, *([] if named else ["--address", "auto"])]
    again = _resumed(words, read_json(run)["search"])
    return ["resume", out, *again, "--address", named or "auto"]


def _value(option: str, words: Sequence[str]) -> str | None:
    """Return the value of an option, `--out DIR` or `--out=DIR`; None where it is not given."""
    found = None
    for word, after in zip(words, [*words[1:], None], strict=True):
        if word == option:
            found = after
        elif word.startswith(f"{option}="):
            found = word.partition("=")[2]
    return found


def _resumed(words: Sequence[str], stored: Mapping[str, Any]) -> Iterator[str]:
    """Yield the words of `rolecast resume` for those of a search that has begun.

    Args:
        words: of `rolecast search`.
        stored: settings of the run.
    Raises:
        RequestError: a setting is another one than the run's.
    """
    given = _parsed([word for word in words if word not in COMMON_FLAGS])
    file = {} if given["config"] is None else read_request(given["config"])
    options = parse_settings(given["settings"] or [])
    options["task"] |= {name: given[name] for name in REWARD_OPTIONS if given.get(name) is not None}
    request = merged(
        file,
        {name: given[name] for name in ("task", *BUDGET_SETTINGS, *HOW_IT_RUNS, *DECIDING_SETTINGS)}
        | {f"{part}_options": options[part] for part in ("task", "policy")}
        | {"optimizer_settings": options["optimizer"]},
    )
    _require_same(request, stored)
    yield from ("--task", _task_id(request)) if "task" in request else ()
    for name in (*BUDGET_SETTINGS, *HOW_IT_RUNS):
        if request.get(name) not in (None, stored.get(name)):
            yield from (f"--{name.replace('_', '-')}", str(request[name]))
    for logger in given["log"] or []:
        yield from ("--log", logger)
    yield from (f"--{name}" for name in ("trust", "json") if given[name])
    yield from (word for word in words if word in COMMON_FLAGS)


def _parsed(words: list[str]) -> dict[str, Any]:
    """Return the parameters of `rolecast search` by name, None where not given.

    Raises:
        SystemExit: a word is wrong, or --help is among them.
    """
    found: dict[str, Any] = {}
    reader = typer.Typer(add_completion=False)
    reader.command()(wraps(search)(lambda **given: found.update(given)))
    try:
        reader(words, prog_name="deploy/search.py")
    except SystemExit:
        if not found:
            raise
    return found


def _task_id(settings: Mapping[str, Any]) -> str:
    """Return the task of a search with all of its options, those of rewards too."""
    name, options = parse_id(settings["task"])
    return format_id(name, {**options, **(settings.get("task_options") or {})})


def _require_same(request: Mapping[str, Any], stored: Mapping[str, Any]) -> None:
    """Refuse a request that would find something else than the run finds."""
    pairs = [(name, request.get(name), stored.get(name)) for name in DECIDING_SETTINGS]
    if "task" in request:
        pairs.append(("task", _task_id(request), _task_id(stored)))
    for table in ("policy_options", "optimizer_settings"):
        known = stored.get(table) or {}
        for name, value in request.get(table, {}).items():
            if name != "symmetries":  # written as those that were found
                pairs.append((f"{table} {name}", value, known.get(name)))
    for name, value, began in pairs:
        if value is not None and value != began:
            raise RequestError(
                f"{name} is {value!r}; expected {began!r}, as of the run in --out, or another --out"
            )


if __name__ == "__main__":
    try:
        words = command(sys.argv[1:])
    except RequestError as error:
        sys.stderr.write(f"deploy/search.py: {error}\n")
        sys.exit(2)
    sys.exit(main(words))
