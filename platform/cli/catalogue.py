"""`rolecast tasks`, `policies` and `optimizers`: what there is, and with which settings."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any, Final

import typer

from rolecast.core.lazy_table import Setting, told_settings
from rolecast.envs.spec import TaskSpec
from rolecast.platform.cli.documented import json_settings, settings_of
from rolecast.platform.cli.output import Json, print_json, print_table, say

Name = Annotated[str | None, typer.Argument(help="Show the settings of this one.")]


TABLE_HEAD: Final = ("task", "agents", "observation", "action", "steps", "source")


def tasks(*, json: Json = False) -> None:
    """List the tasks with their sizes, agent by agent, and how to name your own."""
    from rolecast.envs.registry import FAMILIES, OWN_FORMS, task_specs, tasks_of_others

    specs, others = task_specs(), tasks_of_others()
    if json:
        listed = {name: _sizes(spec) for name, spec in specs.items()}
        families = {
            name: {"numbers": family.numbers, "options": family.options}
            for name, family in FAMILIES.items()
        }
        print_json(
            {"tasks": listed, "families": families, "others": others, "own": dict(OWN_FORMS)}
        )
        return
    print_table(TABLE_HEAD, [_row(name, spec) for name, spec in specs.items()])
    say("\nobservation and action are numbers of one agent, steps the most that an episode has.")
    say("A number at the end is a size, and others than those listed work too:\n")
    smallest = {name: specs[f"{name}_{family.sizes[0]}"] for name, family in FAMILIES.items()}
    print_table(
        ("family", "sizes", "for example"),
        [(f"{name}_N", FAMILIES[name].numbers, spec.summary) for name, spec in smallest.items()],
    )
    say("\nOptions stand after ?, as in pred_prey_6?observation=full; see docs/tasks.md.\n")
    print_table(("task of your own", "what it is"), [*others.items(), *OWN_FORMS.items()])


def _sizes(spec: TaskSpec) -> dict[str, Any]:
    """Return what a listing tells of a task."""
    return {name: value for name, value in asdict(spec).items() if name != "id"}


def _row(name: str, spec: TaskSpec) -> tuple[str, ...]:
    sizes = (spec.agents, spec.observation_size, spec.action_size, spec.horizon)
    return (name, *map(str, sizes), spec.source)


def policies(name: Name = None, *, json: Json = False) -> None:
    """List the policies, or the settings of one (--set policy.KEY=VALUE)."""
    from rolecast.policies.registry import (
        POLICY_SETTINGS,
        policy_config,
        policy_names,
        policy_summary,
    )

    if name is None:
        _list("policies", {each: policy_summary(each) for each in policy_names()}, json=json)
        return
    settings = told_settings(POLICY_SETTINGS).get(name) or settings_of(policy_config(name))
    _show(name, policy_summary(name), "policy.", settings, json=json)


def optimizers(name: Name = None, *, json: Json = False) -> None:
    """List the optimisers, or the settings of one (--set KEY=VALUE)."""
    from rolecast.platform.optimizers.registry import (
        OPTIMIZER_SETTINGS,
        optimizer_config_class,
        optimizer_names,
        optimizer_summary,
    )

    if name is None:
        summaries = {each: optimizer_summary(each) for each in optimizer_names()}
        _list("optimizers", summaries, json=json)
        return
    told = told_settings(OPTIMIZER_SETTINGS).get(name)
    settings = told or settings_of(optimizer_config_class(name))
    _show(name, optimizer_summary(name), "", settings, json=json)


def _list(kind: str, summaries: Mapping[str, str], *, json: bool) -> None:
    """Print all names of a kind with their summaries."""
    if json:
        print_json({kind: summaries})
    else:
        print_table((kind, "what it is"), summaries.items())
        say(f"\nSettings of one: rolecast {kind} NAME")


def _show(name: str, summary: str, prefix: str, settings: Sequence[Setting], *, json: bool) -> None:
    """Print the settings of one name."""
    if json:
        print_json({"name": name, "settings": json_settings(settings)})
        return
    say(f"{name}: {summary}\n")
    print_table(
        ("--set", "default", "what it is"),
        [(f"{prefix}{each.name}", str(each.default), each.text) for each in settings],
    )
