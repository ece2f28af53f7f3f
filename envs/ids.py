"""Task ids: a name, and options after `?`, as in `pred_prey_6?observation=full`.

An id names a task completely: a run folder, a worker and a command line build the same task. Each
value is read as JSON, or as text where it is not JSON.
"""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from rolecast.core.errors import ConfigError, RequestError


def parse_id(text: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the options of an id.

    `%26` stands for `&` and `%25` for `%` inside a value.

    Raises:
        RequestError: the id is empty, or an option is not `key=value` or is given twice.

    >>> parse_id("pettingzoo:mpe2.simple_spread_v3?N=3&continuous_actions=true")
    ('pettingzoo:mpe2.simple_spread_v3', {'N': 3, 'continuous_actions': True})
    """
    name, _, rest = text.partition("?")
    name = name.strip()
    if not name:
        raise ConfigError("task id", text, "a name, as in pred_prey_3")
    options: dict[str, Any] = {}
    for pair in filter(None, rest.split("&")):
        key, equals, value = pair.partition("=")
        if not key or not equals:
            raise ConfigError(f"option of task {name!r}", pair, "key=value")
        if key in options:
            raise RequestError(f"option {key!r} of task {name!r} is given twice; expected once")
        options[key] = _read(unquote(value))
    return name, options


def format_id(name: str, options: Mapping[str, Any]) -> str:
    """Return the id of a name and options, with sorted keys; the inverse of `parse_id`.

    Raises:
        ConfigError: a value is not a JSON value.

    >>> format_id("pred_prey_6", {"observation": "full"})
    'pred_prey_6?observation=full'
    """
    if not options:
        return name
    pairs = [f"{key}={_write(name, key, options[key])}" for key in sorted(options)]
    return f"{name}?{'&'.join(pairs)}"


def _read(text: str) -> Any:
    """Return the JSON value of a text, or the text."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def _write(name: str, key: str, value: Any) -> str:
    """Return the text of one value; plain text is unchanged unless it reads as JSON."""
    try:
        text = json.dumps(value, separators=(",", ":"))
    except TypeError as error:
        raise ConfigError(f"option {key!r} of task {name!r}", value, "a JSON value") from error
    if isinstance(value, str) and _read(value) == value:
        text = value
    return text.replace("%", "%25").replace("&", "%26")
