"""A search as a file, in TOML or YAML: read by `rolecast search --config`, written as run.toml.

Keys are the fields of `SearchConfig`; options of task, policy and optimiser are tables. In TOML,
which has no null, the text "null" among those options stands for None.
"""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from rolecast.core.errors import ConfigError, RequestError, unknown_name
from rolecast.platform.search.config import SearchConfig

REQUEST_TABLES: Final = ("task_options", "policy_options", "optimizer_settings")
"""Fields that are tables."""

NOT_WRITTEN: Final = ("out",)
"""Fields that another run of the same search cannot share."""

NO_VALUE: Final = "null"
"""Text that stands for None among options in TOML."""

YAML_ENDINGS: Final = (".yaml", ".yml")


def request_text(config: SearchConfig) -> str:
    """Return a search as TOML, without its folder.

    Args:
        config: of the search; fields that are None are left out.
    """
    values = {
        name: value
        for name, value in config.to_json().items()
        if value is not None and name not in NOT_WRITTEN
    }
    lines = ["# Again, in another folder: rolecast search --config run.toml"]
    lines += [f"{name} = {_toml(values[name])}" for name in values if name not in REQUEST_TABLES]
    for table in REQUEST_TABLES:
        if values.get(table):
            pairs = [f"{_key(name)} = {_toml(value)}" for name, value in values[table].items()]
            lines += ["", f"[{table}]", *pairs]
    return "\n".join(lines) + "\n"


def read_request(path: Path) -> dict[str, Any]:
    """Return the settings of a search that a file gives; only those that it names.

    Args:
        path: TOML, or YAML where it ends in .yaml or .yml.

    Raises:
        RequestError: the file cannot be read, is no mapping, or names an unknown setting.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        reason = error.strerror
        raise RequestError(f"--config {path} cannot be read ({reason}); expected a file") from error
    values = _parsed(path, text)
    known = [each.name for each in fields(SearchConfig)]
    for name in values:
        if name not in known:
            raise unknown_name(f"setting of {path}:", str(name), known)
    for table in REQUEST_TABLES:
        options = values.get(table, {})
        if not isinstance(options, Mapping):
            raise ConfigError(f"{table} of {path}", options, "a table of options")
        if table in values:
            values[table] = {
                str(name): None if value == NO_VALUE else value for name, value in options.items()
            }
    return values


def _parsed(path: Path, text: str) -> dict[str, Any]:
    """Return the mapping that a file holds."""
    if path.suffix in YAML_ENDINGS:
        import yaml

        try:
            found = yaml.safe_load(text)
        except yaml.YAMLError as error:
            reason = " ".join(str(error).split())
            raise RequestError(f"--config {path} is no YAML: {reason}") from error
        if not isinstance(found, dict):
            raise ConfigError(f"--config {path}", type(found).__name__, "a mapping of settings")
        return found
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RequestError(f"--config {path} is no TOML: {error}") from error


def _key(name: str) -> str:
    """Return a key of TOML, quoted where it must be."""
    bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if bare else json.dumps(name)


def _toml(value: Any) -> str:
    """Return a JSON value in the notation of TOML."""
    if value is None:
        return json.dumps(NO_VALUE)
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{_key(str(name))} = {_toml(each)}" for name, each in value.items())
        return f"{{{pairs}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, float):
        return repr(value)  # 1e-05, inf and nan are TOML as they are
    return json.dumps(value, ensure_ascii=False)
