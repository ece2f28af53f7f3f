"""`rolecast play`: one HTML file that needs no other and no network."""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from rolecast.core.errors import RequestError, RunError
from rolecast.core.files import write_bytes
from rolecast.envs.trust import make_stored_task
from rolecast.platform.deployment.config import ExportConfig
from rolecast.platform.deployment.export import exportable
from rolecast.platform.play.game import PLAYED_EPISODES, Game, game_page
from rolecast.platform.play.replay import replay_page
from rolecast.platform.play.worlds import world_of
from rolecast.platform.reports.film.options import Shot
from rolecast.platform.reports.film.render import render
from rolecast.platform.reports.folder import PLAY_FILE
from rolecast.platform.rollout.artefact_folder import artefact_folder, require_fit
from rolecast.policies.artefact import LoadedPolicy, load_policy
from rolecast.policies.certificate import weights_digest


@dataclass(frozen=True, kw_only=True)
class Page:
    """What was written."""

    path: Path
    """The file."""

    description: str
    """What it shows."""

    game: Game | None
    """Policy and physics; None where a recorded episode is shown."""


def write_page(folder: str | Path, out: str | Path | None = None, *, trust: bool = False) -> Page:
    """Write a page in which a found policy plays its task, or one with a recorded episode.

    Args:
        folder: of a run; or its policy, for a task whose physics a page carries and a policy with
            an exporter.
        out: the .html to write; `play.html` in the folder by default. An older one is replaced.
        trust: make the policy's task, though its id may run any code.
    Raises:
        RequestError: no policy, a task that is not trusted or cannot be drawn, no compiler, or a
            file that cannot be written.
        RunError: the compiler or the task failed.
    """
    target = Path(folder) / PLAY_FILE if out is None else Path(out)
    if target.suffix != ".html":
        raise RequestError(f"--out {target} has ending {target.suffix!r}; expected .html")
    trained = load_policy(artefact_folder(Path(folder)))
    with closing(make_stored_task(trained.task_id, trust=trust)) as task:
        require_fit(trained, task)
        world = world_of(task)
        no_physics = f"no page carries the physics of {trained.task_id}"
        reason = no_physics if world is None else _not_exported(trained)
        game = None if world is None or reason else game_page(trained, task, world)
    if game is None and not (Path(folder) / "run.json").is_file():
        raise RequestError(
            f"{folder} is no run, and a recorded episode is shown, since {reason}; expected the "
            "folder of the run"
        )
    if game is not None:
        text = game.text
        description = (
            f"{PLAYED_EPISODES} held-out episodes of {trained.task_id}, return "
            f"{game.return_mean:.2f} ± {game.return_stderr:.2f} in Python"
        )
    else:
        rendering = render(folder, Shot(), trust=trust)
        digest = weights_digest(trained.weights)
        text = replay_page(rendering, policy=digest, reason=reason)
        description = f"recorded: {rendering.description}"
    try:
        write_bytes(target, text.encode())
    except RunError as error:
        raise RequestError(f"--out {target} cannot be written: {error.__cause__}") from error
    return Page(path=target, description=description, game=game)


def _not_exported(trained: LoadedPolicy) -> str:
    """Return why a policy cannot leave Python; nothing where it can."""
    try:
        exportable(trained, ExportConfig(target="wasm"))
    except RequestError as reason:
        return str(reason)
    return ""
