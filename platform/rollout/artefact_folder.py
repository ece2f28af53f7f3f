"""Where the policy of a run or of an artefact is, and the tasks that it fits."""

from pathlib import Path

from rolecast.core.errors import RequestError
from rolecast.core.files import in_shell
from rolecast.envs.scripted import SCRIPTED
from rolecast.envs.spec import BatchedTask
from rolecast.policies.artefact import LoadedPolicy


def artefact_folder(path: Path, *, or_scripted: bool = False) -> Path:
    """Return the folder of the policy: of a run, or the path itself.

    Args:
        path: of the run, or of the policy.
        or_scripted: whether the name of a scripted policy might have stood there.
    Raises:
        RequestError: there is no such folder, or no policy in it yet.
    """
    if not path.is_dir():
        others = f", or a scripted policy: {', '.join(SCRIPTED)}" if or_scripted else ""
        raise RequestError(
            f"{str(path)!r} is no folder; expected that of a run, or of its policy{others}"
        )
    if not (path / "run.json").is_file():
        return path
    if not (path / "policy").is_dir():
        raise RequestError(
            f"{path} has no policy yet; finish it by: rolecast resume {in_shell(path)}"
        )
    return path / "policy"


def require_fit(trained: LoadedPolicy, task: BatchedTask) -> None:
    """Refuse a task whose sizes are not those that the policy was made for."""
    made, here = trained.task, task.spec
    for name in ("agents", "observation_size", "action_size"):
        if getattr(made, name) != getattr(here, name):
            raise RequestError(
                f"{name} of task {here.id!r} is {getattr(here, name)}; expected "
                f"{getattr(made, name)}, as the policy was searched in {made.id!r}"
            )
