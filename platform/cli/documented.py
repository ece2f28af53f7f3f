"""Reads the settings of a config class, with the text under each field, for help and catalogues.

So a default and its meaning exist once: in the dataclass.
"""

import ast
import inspect
import math
import textwrap
from collections.abc import Collection, Sequence
from dataclasses import MISSING, fields, is_dataclass
from itertools import pairwise
from typing import Any

from rolecast.core.lazy_table import Setting


def settings_of(config: type) -> list[Setting]:
    """Return the settings of a frozen dataclass in their order.

    Args:
        config: a dataclass whose fields are documented below them.
    """
    texts = field_texts(config)
    return [Setting(each.name, _default(each), texts.get(each.name, "")) for each in fields(config)]


def json_settings(settings: Sequence[Setting]) -> dict[str, dict[str, Any]]:
    """Return settings by name, for JSON: their defaults, values where they are told, and texts."""
    return {
        each.name: {
            "default": _json_value(each.default),
            **({"expected": each.values} if each.values else {}),
            "text": each.text,
        }
        for each in settings
    }


def _json_value(default: object) -> object:
    """Return a default as JSON has it; what it has not, as text."""
    infinite = isinstance(default, float) and not math.isfinite(default)
    plain = isinstance(default, str | int | float | bool | list | None) and not infinite
    return default if plain else str(default)


def _default(each: Any) -> Any:
    if each.default is not MISSING:
        return each.default
    return each.default_factory() if each.default_factory is not MISSING else None


def field_texts(config: type) -> dict[str, str]:
    """Return the string that stands under each field, inherited ones too, on one line.

    Read are dataclasses, and classes of this project.
    """
    texts: dict[str, str] = {}
    for part in reversed(config.__mro__):
        if not (is_dataclass(part) or part.__module__.startswith("rolecast.")):
            continue
        tree = ast.parse(textwrap.dedent(inspect.getsource(part))).body[0]
        body = tree.body if isinstance(tree, ast.ClassDef) else []
        for line, after in pairwise(body):
            match line, after:
                case (
                    ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str(text))),
                ):
                    texts[name] = " ".join(text.split())
    return texts


def option_text(text: str, default: object = None, *, fields_named: Collection[str] = ()) -> str:
    r"""Return the help of an option: its default as Typer shows one, and fields as options.

    Args:
        text: what stands under a field; may end with "Default: " and what is done without a value.
        default: a default that the option itself does not have; None for none.
        fields_named: fields that stand in the text as `name` and are options as well.

    >>> option_text("Steps drawn; or `stride`. Default: all.", fields_named=["stride"])
    'Steps drawn; or --stride. \\[default: all]'
    """
    meaning, _, said = text.partition(" Default: ")
    for name in fields_named:
        meaning, said = (each.replace(f"`{name}`", flag(name)) for each in (meaning, said))
    shown = said.removesuffix(".") or default
    return meaning if shown is None else rf"{meaning} \[default: {shown}]"


def flag(name: str) -> str:
    """Return the option of a field: --env-steps of env_steps."""
    return f"--{name.replace('_', '-')}"
