"""Reads `--set key=value`: which part of a search a key belongs to, and what its value is."""

import json
from typing import Any, Final

from rolecast.core.errors import RequestError

SEARCH_PARTS: Final = ("task", "policy", "optimizer")
"""What a key may be prefixed with; a bare key is a setting of the optimiser."""


def parse_settings(words: list[str]) -> dict[str, dict[str, Any]]:
    """Sort settings by the part they belong to.

    Args:
        words: "key=value", where key may begin with "task.", "policy." or "optimizer.".
    Returns:
        Part to its settings; a value is read as JSON where it is JSON, else as text.
    Raises:
        RequestError: a word has no "=", an empty key or an unknown part, or a key comes twice.
    Example:
        >>> parse_settings(["window=600", "policy.size=sm"])
        {'task': {}, 'policy': {'size': 'sm'}, 'optimizer': {'window': 600}}
    """
    settings: dict[str, dict[str, Any]] = {part: {} for part in SEARCH_PARTS}
    for word in words:
        path, equals, text = word.partition("=")
        part, _, key = path.partition(".") if "." in path else ("optimizer", "", path)
        if not (equals and key) or part not in SEARCH_PARTS:
            raise RequestError(
                f"--set {word!r} is not understood; expected key=value, policy.key=value, "
                "task.key=value or optimizer.key=value"
            )
        if key in settings[part]:
            raise RequestError(f"--set {path} is given twice; expected one value")
        settings[part][key] = parse_value(text)
    return settings


def optimizer_settings(words: list[str]) -> dict[str, Any]:
    """Return the settings of an optimiser, where there is no policy and no task to set.

    Raises:
        RequestError: as of `parse_settings`; or a setting is of another part.
    """
    parts = parse_settings(words)
    for part in ("task", "policy"):
        for key in parts[part]:
            raise RequestError(
                f"--set {part}.{key} is of no use here; expected a setting of the optimiser"
            )
    return parts["optimizer"]


def parse_value(text: str) -> Any:
    """Return the JSON value that a text writes, or the text itself where it is not JSON."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
