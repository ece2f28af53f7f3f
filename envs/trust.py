"""Trust in what a folder names: a folder is data, and the id of a task can name code.

A task that a file names is made only if this project brings it, if this user has made it on this
machine before, or if the caller says so. What was made before is a line of the trust list: a name
without options, which are data for its code, and the place from which the code came. The same name
in a stranger's directory is another task.
"""

import importlib.util
import json
import os
import sys
from collections.abc import Callable, Mapping
from importlib.machinery import PathFinder
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Final

import gymnasium

from rolecast.core.errors import RequestError
from rolecast.core.user_folders import settings_folder
from rolecast.envs.adapters.task import ADAPTER_OPTIONS
from rolecast.envs.ids import format_id, parse_id
from rolecast.envs.registry import ENTRY_POINTS, is_built_in, make_task
from rolecast.envs.rewards.settings import REWARD_OPTIONS
from rolecast.envs.spec import BatchedTask

TRUST_LIST: Final = "trusted.jsonl"
"""Name of the trust list in the user's folder of settings."""

GYMNASIUM_ENVIRONMENTS: Final = "gymnasium.envs."
"""Beginning of the entry points of Gymnasium's own environments."""


def make_stored_task(task_id: str, *, trust: bool = False, **options: Any) -> BatchedTask:
    """Make a task that a file names.

    Args:
        task_id: as it is stored.
        trust: make it though it may run any code.
        options: further ones, of the caller.
    Raises:
        RequestError: the task is not trusted or was a callable that no id names, or `make_task`
            refuses it.
    """
    if is_unnamed(task_id):
        raise RequestError(
            f"the task was a Python callable, {task_id!r}, that cannot be imported; expected a "
            "function of a module, or the callable again where there is task="
        )
    require_trust(task_id, trust=trust)
    return make_task(task_id, **options)


def make_wanted_task(
    named: str | Callable[..., Any] | None, stored: str, *, trust: bool = False, **options: Any
) -> BatchedTask:
    """Make the task that the caller names, or, where none is named, that of a file.

    Args:
        named: task id or callable, as in `make_task`; an id is remembered. None: the stored task.
        stored: as it is stored.
        trust: of the stored task.
        options: further ones, of the caller.
    Raises:
        RequestError: as in `make_stored_task`.
    """
    if named is None:
        return make_stored_task(stored, trust=trust, **options)
    task = make_task(named, **options)
    if isinstance(named, str):
        remember_task(named)
    return task


def is_unnamed(task_id: str) -> bool:
    """Return whether a task was a callable that cannot be imported here.

    That is so of a lambda, and of a function of a script for all but the script.
    """
    name, _ = parse_id(task_id)
    script, function = "python:__main__:", name.rpartition(":")[2].partition(".")[0]
    return "<" in name or (
        name.startswith(script) and not hasattr(sys.modules["__main__"], function)
    )


def require_trust(
    task_id: str, options: Mapping[str, Any] | None = None, *, trust: bool = False
) -> None:
    """Refuse a task that a file names, unless it may be made.

    Args:
        task_id: as it is stored.
        options: further options that are stored with it.
        trust: allow it, and remember that.
    Raises:
        RequestError: it is neither built in nor known here, and `trust` is not given.
    """
    identity, place = _identity(task_id, options or {})
    if place is None:
        return
    name = parse_id(identity)[0]
    if trust:
        _remember("task", name, place)
    elif not _known("task", name, place):
        if not place:
            raise RequestError(
                f"task {identity!r} is stored in a folder, and its module is not found from "
                f"{Path.cwd()}; expected the working directory of its search, and --trust "
                "(trust=True) if you know who wrote the folder"
            )
        raise RequestError(
            f"task {identity!r} is stored in a folder, is not built in, and was never made here "
            f"by you: it runs code of {place}; expected --trust "
            "(trust=True) if you know who wrote the folder, or the task named again"
        )


def same_task(named: str, task_id: str, options: Mapping[str, Any]) -> bool:
    """Return whether a caller names, options included, the task that a folder stores."""
    return _identity(named, {}) == _identity(task_id, options)


def remember_task(task_id: str, options: Mapping[str, Any] | None = None) -> None:
    """Note that this user has made a task, so that folders may name it."""
    identity, place = _identity(task_id, options or {})
    if place is not None:
        _remember("task", parse_id(identity)[0], place)


def require_trusted(kind: str, name: str, *, trust: bool = False) -> None:
    """Refuse something else that a file names, unless this user has used it before.

    Args:
        kind: what is named, in a word or two.
        name: its name.
        trust: allow it, and remember that.
    Raises:
        RequestError: it was never used here, and `trust` is not given.
    """
    if trust:
        _remember(kind, name, "")
    elif not _known(kind, name, ""):
        raise RequestError(
            f"{kind} {name!r} is named by a folder and was never used here by you: it can run any "
            "code; expected --trust (trust=True) if you know who wrote the folder"
        )


def remember_use(kind: str, name: str) -> None:
    """Note that this user has used something, so that folders may name it."""
    _remember(kind, name, "")


def _identity(task_id: str, further: Mapping[str, Any]) -> tuple[str, str | None]:
    """Return a task without what cannot run code, and where its code is; None: it is built in."""
    name, options = parse_id(task_id)
    theirs = {
        key: value
        for key, value in {**options, **further}.items()
        if key not in (*REWARD_OPTIONS, *ADAPTER_OPTIONS)
    }
    scheme, colon, rest = name.partition(":")
    if is_built_in(name) or (scheme == "gym" and not theirs and _is_gymnasiums(rest)):
        return name, None
    if scheme in {"gym", "pettingzoo", "python"} and colon:
        module = rest.partition(":")[0] if scheme != "gym" or ":" in rest else "gymnasium"
        return format_id(name, theirs), _place(module)
    found = [point.value for point in entry_points(group=ENTRY_POINTS, name=name)]
    return format_id(name, theirs), found[0] if found else ""


def _is_gymnasiums(name: str) -> bool:
    """Return whether an environment is one that Gymnasium itself brings."""
    known = gymnasium.registry.get(name)
    return known is not None and str(known.entry_point).startswith(GYMNASIUM_ENVIRONMENTS)


def _place(module: str) -> str:
    """Return the path from which the package of a module would be imported; "" if there is none.

    Nothing is imported for it. The working directory comes last, as in an import by `make_task`.
    """
    top = module.partition(".")[0]
    loaded = getattr(sys.modules.get(top), "__file__", None)
    if top == "__main__" or loaded:
        return str(Path(loaded).resolve()) if loaded else ""
    try:
        spec = importlib.util.find_spec(top) if top else None
    except ValueError:  # a module without a spec, such as one made by hand
        return ""
    spec = spec or PathFinder.find_spec(top, [str(Path.cwd())])
    if spec is None:
        return ""
    folders = sorted(spec.submodule_search_locations or [])
    return str(Path(spec.origin or "".join(folders[:1])).resolve())


def _remember(kind: str, name: str, place: str) -> None:
    """Add a line to the trust list, if it is not there."""
    if _known(kind, name, place):
        return
    line = json.dumps({"kind": kind, "name": name, "place": place}) + "\n"
    folder = settings_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(folder / TRUST_LIST, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(handle, "ab") as file:
            file.write(line.encode())
    except OSError:
        # A home that cannot be written: what was made is asked for again, and nothing else fails.
        return


def _known(kind: str, name: str, place: str) -> bool:
    """Return whether the trust list has a line."""
    try:
        lines = (settings_folder() / TRUST_LIST).read_bytes().splitlines()
    except OSError:
        return False
    wanted = {"kind": kind, "name": name, "place": place}
    return any(_parsed(line) == wanted for line in lines)


def _parsed(line: bytes) -> Any:
    """Return a line of the trust list; None where it is none."""
    try:
        return json.loads(line)
    except ValueError:
        return None
