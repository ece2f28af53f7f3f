"""First look at the request of a search: names and its folder, before anything heavy is loaded."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rolecast.core.errors import RequestError, unknown_name
from rolecast.envs.registry import check_task_id
from rolecast.platform.optimizers.registry import optimizer_names
from rolecast.platform.search.config import CALLABLE_PREFIX, OWN_ADDRESSES
from rolecast.policies.registry import policy_names


def check_names(request: Mapping[str, Any]) -> None:
    """Refuse names that do not exist, and a folder that does.

    Args:
        request: fields of `SearchConfig`; the task is an id.

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
        name = request.get(kind)
        if name is not None and name not in known:
            raise unknown_name(kind, name, known)
    if request.get("out") is not None and Path(request["out"]).exists():
        raise folder_exists(Path(request["out"]))


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


def folder_exists(path: Path) -> RequestError:
    """Return the error for a folder of a new run that exists."""
    known = (path / "run.json").is_file()
    hint = f"or `rolecast resume {path}`" if known else "the folder of a new run"
    return RequestError(f"--out {path} exists; expected a path that does not, {hint}")
