"""What the request of a search asks of a run that has begun: more budget, or other workers.

A job that may be started twice gives the same request twice. Whatever it names of the search must
be as the run has it, for another search in the same folder would be taken for this one.
"""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from rolecast.core.errors import ConfigError, RequestError
from rolecast.core.files import read_json
from rolecast.envs.ids import format_id, parse_id
from rolecast.platform.search.planning.config import SearchConfig

BUDGET_SETTINGS: Final = ("env_steps", "evaluations")
"""Settings of which a larger one extends a run."""

HOW_IT_RUNS: Final = ("workers", "threads", "address", "step_timeout", "failed_episodes")
"""Settings that may differ between two starts of one search."""

RECORDED_OPTIONS: Final = ("centre", "normalise_share", "output_gain")
"""Settings of a policy whose defaults are others than they were."""

OPTION_TABLES: Final = ("policy_options", "optimizer_settings")
"""Settings that are compared name by name, since a run has what follows from others, too."""

DECIDING_SETTINGS: Final = tuple(
    each.name
    for each in fields(SearchConfig)
    if each.name not in (*BUDGET_SETTINGS, *HOW_IT_RUNS, *OPTION_TABLES)
    and each.name not in ("task", "task_options", "out", "random_play_steps")
)
"""Settings that are the same in all starts."""


def begun_search(out: str | Path | None) -> dict[str, Any] | None:
    """Return the settings of the run in a folder, None where none has begun.

    Raises:
        RequestError: no folder is given, or its run is damaged.
    """
    if out is None:
        raise RequestError("--resume needs --out DIR, the folder in which the search goes on")
    file = Path(out) / "run.json"
    if not file.is_file():
        return None
    stored = read_json(file).get("search")
    if not isinstance(stored, dict):
        raise RequestError(f"{file} is damaged: it has no settings")
    return stored


def continuation(request: Mapping[str, Any], stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `rolecast.resume` by which a run goes on as a request wants it.

    Args:
        request: fields of `SearchConfig`, those that are given; the task is an id.
        stored: settings of the run.
    Raises:
        RequestError: a setting is another one than the run's.
    """
    pairs = [
        (name, request[name], stored.get(name)) for name in DECIDING_SETTINGS if name in request
    ]
    for table in OPTION_TABLES:
        known = stored.get(table) or {}
        for name, value in (request.get(table) or {}).items():
            if (name, value) != ("symmetries", "found"):  # a run has those that were found
                pairs.append((f"{name} of {table}", value, known.get(name)))
    for name, value, began in pairs:
        if value != began:
            raise ConfigError(name, value, f"{began!r}, as of the run in --out, or another --out")
    task, options = parse_id(request["task"])
    changed = (name for name in BUDGET_SETTINGS if request.get(name) != stored.get(name))
    return {
        "task": format_id(task, {**options, **(request.get("task_options") or {})}),
        **{name: request.get(name) for name in (*changed, *HOW_IT_RUNS)},
    }


def recorded_options(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings of the policy that a run began with, should defaults have changed since."""
    policy = run.get("policy")
    options = policy.get("options") if isinstance(policy, dict) else None
    if not isinstance(options, dict):
        return {}
    began = {name: options[name] for name in RECORDED_OPTIONS if name in options}
    # Before there was a setting, observations of all of the budget counted.
    return {"normalise_share": 1.0, **began} if "normalise" in options else began
