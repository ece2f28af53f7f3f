"""`rolecast learners`: the learning algorithms of a comparison, their settings and their tasks."""

from collections.abc import Mapping
from contextlib import closing
from typing import Annotated

import typer

from rolecast.platform.cli.documented import json_settings
from rolecast.platform.cli.output import Json, print_json, print_table, say


def learners(
    name: Annotated[str | None, typer.Argument(help="Show the settings of this one.")] = None,
    *,
    task: Annotated[
        str | None,
        typer.Option(
            metavar="ID", help="Tell which learners take this task, or whether NAME does."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """List the learning algorithms of `rolecast compare`, or the settings of one.

    An experiment names them: LearnerMethod(algorithm="mappo", settings={"size": "small"}).

    Example: rolecast learners --task gym:CartPole-v1
    """
    from rolecast.platform.tuning.learner import method_factory, method_names

    if name is not None:
        _show_settings(name, task, json=json)
        return
    refused = None if task is None else _refusals(task)
    rows = []
    for each in method_names({}):
        factory = method_factory(each, {})
        row = {
            "summary": str(getattr(factory, "summary", "of another package")),
            "takes": str(getattr(factory, "takes", "not told")),
        }
        if refused is not None:
            row["this task"] = _answer(each, refused)
        rows.append((each, row))
    if json:
        print_json({"learners": dict(rows)})
        return
    print_table(("learner", *_heads(rows)), [(each, *row.values()) for each, row in rows])
    say("\nSettings of one: rolecast learners NAME")


def _heads(rows: list[tuple[str, dict[str, str]]]) -> list[str]:
    heads = {"summary": "what it is", "takes": "takes", "this task": "takes this task"}
    return [heads[key] for key in rows[0][1]] if rows else []


def _refusals(task: str) -> dict[str, str | None]:
    """Return why each learner does not take a task; None where it does."""
    from rolecast.envs.registry import make_task
    from rolecast.platform.tuning.learner import refusals

    with closing(make_task(task)) as made:
        return refusals(made)


def _answer(name: str, refused: Mapping[str, str | None]) -> str:
    """Return whether a learner takes a task, and if not, why."""
    return "not told" if name not in refused else refused[name] or "yes"


def _show_settings(name: str, task: str | None, *, json: bool) -> None:
    """Print summary, spaces, and the settings with defaults of one learner; of a task, its answer.

    Raises:
        RequestError: the learner or the task does not exist, or the learner tells no settings.
    """
    from rolecast.core.errors import RequestError
    from rolecast.platform.tuning.learner import DescribesItself, method_factory

    factory = method_factory(name, {})
    if not isinstance(factory, DescribesItself):
        raise RequestError(
            f"learner {name!r} is of another package, which does not tell its settings; "
            "expected one of this project"
        )
    settings = factory.settings()
    answer = {} if task is None else {"this task": _answer(name, _refusals(task))}
    if json:
        facts = {"summary": factory.summary, "takes": factory.takes, **answer}
        print_json({"name": name, **facts, "settings": json_settings(settings)})
        return
    say(f"{name}: {factory.summary}. Takes {factory.takes}.")
    for text in answer.values():
        say(f"Takes {task}: {text}.")
    say("")
    print_table(
        ("setting", "default", "values", "what it is"),
        [(each.name, str(each.default), each.values, each.text) for each in settings],
    )
    note = str(getattr(factory, "note", ""))
    if note:
        say(f"\n{note}")
