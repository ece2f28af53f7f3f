"""`rolecast tasks`, `policies` and `optimizers`: what there is, and with which settings."""

from collections.abc import Callable, Iterable
from typing import Annotated, Any

import typer

from rolecast.platform.cli.documented import Setting, settings_of, summary_of
from rolecast.platform.cli.output import Json, print_json, print_table, say

Name = Annotated[str | None, typer.Argument(help="Show the settings of this one.")]


def tasks(*, json: Json = False) -> None:
    """List the tasks that come with rolecast, and how to name your own."""
    from rolecast.envs.registry import OWN_FORMS, task_ids

    described = task_ids()
    if json:
        print_json({"tasks": described, "own": dict(OWN_FORMS)})
        return
    print_table(("task", "what it is"), [*described.items(), *OWN_FORMS.items()])
    say("\nA number at the end is a size: others work too, of predators any multiple of 3.")
    say("Options stand after ?, as in pred_prey_6?observation=full")


def policies(name: Name = None, *, json: Json = False) -> None:
    """List the policies, or the settings of one (--set policy.KEY=VALUE)."""
    from rolecast.policies.registry import policy_config, policy_names

    _show("policies", "policy.", name, policy_names(), policy_config, json=json)


def optimizers(name: Name = None, *, json: Json = False) -> None:
    """List the optimisers, or the settings of one (--set KEY=VALUE)."""
    from rolecast.platform.optimizers.registry import optimizer_config_class, optimizer_names

    _show("optimizers", "", name, optimizer_names(), optimizer_config_class, json=json)


def _show(
    kind: str,
    prefix: str,
    name: str | None,
    names: Iterable[str],
    config_class: Callable[[str], Any],
    *,
    json: bool,
) -> None:
    """Print all names with their summaries, or the settings of one name."""
    if name is None:
        summaries = {each: summary_of(config_class(each)) for each in names}
        if json:
            print_json({kind: summaries})
        else:
            print_table((kind, "what it is"), summaries.items())
            say(f"\nSettings of one: rolecast {kind} NAME")
        return
    settings = settings_of(config_class(name))
    if json:
        print_json({"name": name, "settings": {each.name: _as_json(each) for each in settings}})
        return
    say(f"{name}: {summary_of(config_class(name))}\n")
    print_table(
        ("--set", "default", "what it is"),
        [(f"{prefix}{each.name}", str(each.default), each.text) for each in settings],
    )


def _as_json(setting: Setting) -> dict[str, Any]:
    plain = str | int | float | bool | None
    default = setting.default if isinstance(setting.default, plain) else str(setting.default)
    return {"default": default, "text": setting.text}
