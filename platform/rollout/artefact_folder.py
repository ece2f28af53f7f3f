"""Where the policy of a run or of an artefact is, and the tasks that it fits."""

from pathlib import Path

from rolecast.core.errors import RequestError
from rolecast.envs.scripted import SCRIPTED
from rolecast.envs.spec import BatchedTask
from rolecast.policies.artefact import LoadedPolicy


def artefact_folder(path: Path) -> Path:
    """Return the folder of the policy: of a run, or the path itself."""
    if not path.is_dir():
        scripted = ", ".join(SCRIPTED)
        raise RequestError(
            f"{str(path)!r} is no folder; expected that of a run, or a scripted policy: {scripted}"
        )
    if not (path / "run.json").is_file():
        return path
    if not (path / "policy").is_dir():
        raise RequestError(f"{path} has no policy yet; finish it by: rolecast resume {path}")
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
