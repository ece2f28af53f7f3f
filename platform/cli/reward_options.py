"""The reward settings on the command line, made from `RewardSettings`: options of the task."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import wraps
from inspect import Parameter
from typing import Annotated, Any

import typer

from rolecast.core.errors import RequestError
from rolecast.envs.ids import parse_id
from rolecast.envs.rewards.settings import RewardSettings
from rolecast.platform.cli.documented import field_texts, flag

_FIELD_TEXTS = field_texts(RewardSettings)
_HELP_PANEL = "Reward that the search learns from (scores stay those of the task itself)"
_OPTION_LETTERS = {
    "sparse": "S",
    "delay": "D",
    "noise": "SD",
    "flip": "P",
    "drop": "P",
    "survival": "P",
}


def takes_rewards(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command of Typer's an option for each reward setting.

    They take the place of its keyword parameter `rewards`, which gets those that were given, by
    name.
    """
    options = [_option(each.name, each.type) for each in fields(RewardSettings)]
    signature = inspect.signature(command)
    parameters: list[Parameter] = []
    for each in signature.parameters.values():
        parameters += options if each.name == "rewards" else [each]

    @wraps(command)
    def run(**words: Any) -> None:
        values = {option.name: words.pop(option.name) for option in options}
        command(**words, rewards=given_rewards(values))

    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def given_rewards(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reward settings among the values of a command's parameters that were given."""
    names = [each.name for each in fields(RewardSettings)]
    return {name: values[name] for name in names if values[name] is not None}


def _option(name: str, kind: Any) -> Parameter:
    """Return the option of one setting: None, or no flag, where it is not given."""
    option = typer.Option(
        flag(name),
        metavar=_OPTION_LETTERS.get(name),
        help=_FIELD_TEXTS[name],
        rich_help_panel=_HELP_PANEL,
    )
    annotation = Annotated[kind | None, option]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def with_rewards(
    task: str | None, options: Mapping[str, Any], rewards: Mapping[str, Any]
) -> dict[str, Any]:
    """Return options of a task and reward settings together.

    Args:
        task: id on the same command line, which may have options too; None where there is none.
        options: by --set.
        rewards: by options of their own.
    Raises:
        RequestError: one is given twice.
    """
    for name in rewards:
        if name in options:
            raise RequestError(
                f"{name} is given as {flag(name)} and by --set; expected one of them"
            )
    of_the_id = {} if task is None else parse_id(task)[1]
    for name, value in {**options, **rewards}.items():
        if name in of_the_id and of_the_id[name] != value:
            given = flag(name) if name in rewards else f"{name} by --set"
            raise RequestError(
                f"{given} is {value!r} and the task is {task!r}; expected one value of {name}"
            )
    return {**options, **rewards}
