"""The request of a search, before anything heavy is loaded: read from a file, and checked.

The file is TOML or YAML, as `rolecast search --config` reads it and run.toml is written. Keys are
the fields of `SearchConfig`; options of task, policy and optimiser are tables. In TOML, which has
no null, the text "null" among those options stands for None.
"""

import json
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from rolecast.core.disk import LOCAL_DISK, Disk
from rolecast.core.errors import ConfigError, RequestError, require_known
from rolecast.core.files import in_shell, make_folder, unmakeable
from rolecast.core.locks import is_taken, left_at_once
from rolecast.envs.registry import check_task_id
from rolecast.platform.optimizers.registry import optimizer_names
from rolecast.platform.search.planning.config import (
    CALLABLE_PREFIX,
    OWN_ADDRESSES,
    SearchConfig,
)
from rolecast.policies.registry import policy_names

REQUEST_TABLES: Final = ("task_options", "policy_options", "optimizer_settings")
"""Fields that are tables."""

REQUEST_TEXTS: Final = ("task", "policy", "optimizer", "out", "address", "failed_episodes")
"""Fields that are text."""

NOT_WRITTEN: Final = ("out",)
"""Fields that another run of the same search cannot share."""

MADE_FOLDERS: Final = ("checkpoint",)
"""Folders that are made with that of a run."""

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
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no UTF-8"
        raise RequestError(f"--config {path} cannot be read ({reason}); expected a file") from error
    values = _parsed(path, text)
    require_known(f"setting of {path}:", values, [each.name for each in fields(SearchConfig)])
    for name in REQUEST_TEXTS:
        if not isinstance(values.get(name), str | None):
            raise ConfigError(f"{name} of {path}", values[name], "text in quotes")
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


def check_names(request: Mapping[str, Any], *, begun: bool = False) -> None:
    """Refuse names that do not exist, and a folder that does.

    Args:
        request: fields of `SearchConfig`; the task is an id.
        begun: whether `out` holds the run that is meant.

    Raises:
        RequestError: a name is unknown, with the nearest; or `out` exists.
    """
    task = request["task"]
    if task.startswith(CALLABLE_PREFIX):
        raise RequestError(
            "the task of this search was a Python callable, "
            f"{task.removeprefix(CALLABLE_PREFIX)!r}; "
            "expected a task id, or the callable in Python"
        )
    check_task_id(task)
    for kind, known in (("optimizer", optimizer_names()), ("policy", policy_names())):
        if request.get(kind) is not None:
            require_known(kind, [request[kind]], known)
    if not begun and request.get("out") is not None:
        require_no_run(Path(request["out"]))


def require_trusted_file(file: Mapping[str, Any], given: Mapping[str, Any], *, trust: bool) -> None:
    """Refuse a task or a cluster that a file of settings names, unless it is trusted.

    Args:
        file: settings of the file; empty where there is none.
        given: what the caller gave, None where nothing; it comes before the file's.
        trust: allow both, and remember that.

    Raises:
        RequestError: one of them is neither built in nor known here.
    """
    if not file:
        return
    from rolecast.envs.trust import require_trust, require_trusted  # loads Gymnasium

    if given.get("task") is None or file.get("task_options"):
        task = given.get("task") or file["task"]
        require_trust(task, file.get("task_options"), trust=trust)
    if given.get("address") is None and file.get("address") not in OWN_ADDRESSES:
        require_trusted("cluster", file["address"], trust=trust)


def require_no_run(path: Path) -> None:
    """Refuse a folder for a new run that exists, before anything is started for it.

    Raises:
        RequestError: the path exists, and a run may have begun there.
    """
    if is_taken(path, MADE_FOLDERS):
        raise folder_exists(path)


def make_run_folder(path: Path, *inside: Path, disk: Disk = LOCAL_DISK) -> None:
    """Make the folder of a new run, where none may have begun, and folders inside it.

    Raises:
        RequestError: the path exists or cannot be written.
    """
    try:
        with suppress(FileExistsError):
            make_folder(path, disk=disk, new=True)
        if not left_at_once(path, MADE_FOLDERS, disk=disk):
            raise folder_exists(path)
        for folder in inside:
            make_folder(folder, disk=disk)
    except OSError as error:
        raise unmakeable(path, error) from error


def folder_exists(path: Path) -> RequestError:
    """Return the error for a folder of a new run that exists."""
    known = any((path / record).is_file() for record in ("run.json", "bandit.json"))
    hint = f"or `rolecast resume {in_shell(path)}`" if known else "the folder of a new run"
    return RequestError(f"--out {path} exists; expected a path that does not, {hint}")
