"""`rolecast learners`: the learning algorithms of a comparison, their settings and their tasks."""

from typing import Annotated

import typer

from rolecast.platform.cli.documented import json_settings
from rolecast.platform.cli.output import Json, print_json, print_table, say


def learners(
    name: Annotated[str | None, typer.Argument(help="Show the settings of this one.")] = None,
    *,
    task: Annotated[
        str | None, typer.Option(metavar="ID", help="Tell which learners take this task.")
    ] = None,
    json: Json = False,
) -> None:
    """List the learning algorithms of `rolecast compare`, or the settings of one.

    An experiment names them: LearnerMethod(algorithm="mappo", settings={"size": "small"}).

    Example: rolecast learners --task gym:CartPole-v1
    """
    if name is not None:
        _show_settings(name, json=json)
        return
    from rolecast.envs.registry import make_task
    from rolecast.platform.tuning.learner import method_factory, method_names, refusals

    refused: dict[str, str | None] | None = None
    if task is not None:
        made = make_task(task)
        refused = refusals(made)
        made.close()
    rows = []
    for each in method_names({}):
        factory = method_factory(each, {})
        row = {
            "summary": str(getattr(factory, "summary", "of another package")),
            "takes": str(getattr(factory, "takes", "not told")),
        }
        if refused is not None:
            row["this task"] = "not told" if each not in refused else refused[each] or "yes"
        rows.append((each, row))
    if json:
        print_json({"learners": dict(rows)})
        return
    print_table(("learner", *_heads(rows)), [(each, *row.values()) for each, row in rows])
    say("\nSettings of one: rolecast learners NAME")


def _heads(rows: list[tuple[str, dict[str, str]]]) -> list[str]:
    heads = {"summary": "what it is", "takes": "takes", "this task": "takes this task"}
    return [heads[key] for key in rows[0][1]] if rows else []


def _show_settings(name: str, *, json: bool) -> None:
    """Print summary, spaces, and the settings with defaults of one learner."""
    from rolecast.core.errors import RequestError
    from rolecast.platform.tuning.learner import DescribesItself, method_factory

    factory = method_factory(name, {})
    if not isinstance(factory, DescribesItself):
        raise RequestError(
            f"learner {name!r} is of another package, which does not tell its settings; "
            "expected one of this project"
        )
    settings = factory.settings()
    if json:
        facts = {"summary": factory.summary, "takes": factory.takes}
        print_json({"name": name, **facts, "settings": json_settings(settings)})
        return
    say(f"{name}: {factory.summary}. Takes {factory.takes}.\n")
    print_table(
        ("setting", "default", "values", "what it is"),
        [(each.name, str(each.default), each.values, each.text) for each in settings],
    )
    note = str(getattr(factory, "note", ""))
    if note:
        say(f"\n{note}")
