"""`play.html`: a policy and the physics of its task as WebAssembly, in one file.

The page needs no other file and no network. It plays held-out episodes, lets a person steer or push
who moves, and compares itself with Python when it is opened.
"""

import base64
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import jinja2
import numpy as np
from numpy.typing import NDArray

from rolecast.core.errors import RequestError, RunError
from rolecast.core.files import write_bytes
from rolecast.core.types import Float, Seeds
from rolecast.envs.trust import make_stored_task
from rolecast.platform.deployment.compiler import require_program, run_program
from rolecast.platform.deployment.config import ExportConfig
from rolecast.platform.deployment.export import exportable
from rolecast.platform.play.worlds import World, world_of
from rolecast.platform.reports.folder import PLAY_FILE
from rolecast.platform.rollout.evaluate import artefact_folder, require_fit
from rolecast.platform.rollout.held_out import DEVELOPMENT_SET, HeldOut, held_out_seeds
from rolecast.platform.rollout.rollout import rollout
from rolecast.policies.artefact import LoadedPolicy, load_policy
from rolecast.policies.certificate import certificate_sentence, weights_digest
from rolecast.policies.export.c99 import COMPILER_FLAGS, code_files
from rolecast.policies.export.reference import reference
from rolecast.policies.export.vectors import drawn_observations

PLAY_TOOLS: Final = ("clang", "wasm-ld")
"""Programs that build WebAssembly."""

PLAYED_EPISODES: Final = 200
"""Held-out episodes that a page plays, and compares with Python."""

CHECKED_VECTORS: Final = 100
"""Vectors on which a page compares its policy with the reference."""

BUILD_FLAGS: Final = ("-O2", "-fno-builtin", "-fno-math-errno")
"""Without library calls: a square root is an instruction."""


@dataclass(frozen=True, kw_only=True)
class Page:
    """What was written."""

    path: Path
    """The file."""

    episodes: int
    """Held-out episodes that it plays."""

    return_mean: float
    """Their mean return in Python."""

    return_stderr: float
    """Its standard error."""


def write_page(folder: str | Path, out: str | Path | None = None, *, trust: bool = False) -> Page:
    """Write a page in which a found policy plays its task.

    Args:
        folder: of a run, or its policy.
        out: the .html to write; `play.html` in the folder by default. An older one is replaced.
        trust: make the policy's task, though its id may run any code.
    Raises:
        RequestError: no policy, one without an exporter, a task without a world in C or that is not
            trusted, no compiler, or a file that cannot be written.
        RunError: the compiler failed.
    """
    target = Path(folder) / PLAY_FILE if out is None else Path(out)
    if target.suffix != ".html":
        raise RequestError(f"--out {target} has ending {target.suffix!r}; expected .html")
    trained = load_policy(artefact_folder(Path(folder)))
    task = make_stored_task(trained.task_id, trust=trust)
    try:
        require_fit(trained, task)
        world = world_of(task)
        if world is None:
            raise RequestError(
                f"task {trained.task_id!r} has no physics for a page; expected predator-prey"
            )
        exportable(trained, ExportConfig(target="wasm"))
        compiled = _compiled(trained, world)
        seeds = held_out_seeds(DEVELOPMENT_SET, HeldOut.seed, PLAYED_EPISODES)
        returns = rollout(task, trained.policy, trained.weights[None], seeds).returns[0]
    finally:
        task.close()
    _write(target, _document(trained, world, compiled, seeds, returns))
    return Page(
        path=target,
        episodes=PLAYED_EPISODES,
        return_mean=float(returns.mean()),
        return_stderr=_stderr(returns),
    )


def world_files(trained: LoadedPolicy, world: World) -> dict[str, str]:
    """Return the C of a policy and of its world, by file name."""
    policy = exportable(trained, ExportConfig(target="wasm"))
    code = code_files(policy, trained.weights, remarks=f"Policy of {trained.task_id}.")
    return {**code, "world.c": world.source}


def _compiled(trained: LoadedPolicy, world: World) -> bytes:
    """Return policy and world as WebAssembly."""
    clang, _ = (require_program(name) for name in PLAY_TOOLS)
    with tempfile.TemporaryDirectory() as scratch:
        for name, text in world_files(trained, world).items():
            (Path(scratch) / name).write_text(text, encoding="utf-8")
        build = [clang, "--target=wasm32", *COMPILER_FLAGS, *BUILD_FLAGS, "-nostdlib"]
        build += ["-Wl,--no-entry", "-Wl,--strip-all", "-o", "play.wasm"]
        run_program([*build, "rolecast_policy.c", "world.c"], Path(scratch))
        return (Path(scratch) / "play.wasm").read_bytes()


def _document(
    trained: LoadedPolicy, world: World, compiled: bytes, seeds: Seeds, returns: Float
) -> str:
    """Return the page."""
    policy, spec = trained.policy, trained.task
    rng = np.random.default_rng(policy.space.size)
    clip = float(policy.options["observation_clip"])
    drawn = drawn_observations(CHECKED_VECTORS, spec.agents, spec.observation_size, clip, rng)
    given: dict[str, Any] = {
        "wasm": _in_letters(np.frombuffer(compiled, dtype=np.uint8)),
        "seeds": [[int(seed) & 0xFFFFFFFF, int(seed) >> 32] for seed in seeds],
        "vectors": CHECKED_VECTORS,
        "observations": _in_letters(drawn.astype("<f4")),
        "actions": _in_letters(reference(policy, trained.weights)(drawn).astype("<f4")),
    }
    return (
        page_templates()
        .get_template("play.html")
        .render(
            title=f"{trained.task_id}: {policy.name}",
            lead=f"{policy.space.size} parameters, found by rolecast. {spec.summary}.",
            hint="Drag who moves to push it elsewhere. Who is steered follows the pointer, or the "
            "arrow keys.",
            scene=world.scene,
            given=given,
            episodes=PLAYED_EPISODES,
            python=f"{returns.mean():.1f} ± {_stderr(returns):.1f}",
            vectors=CHECKED_VECTORS,
            promise=certificate_sentence(trained.extra, weights_digest(trained.weights)),
        )
    )


def page_templates() -> jinja2.Environment:
    """Return the templates of pages, which escape all that they are given."""
    return jinja2.Environment(
        loader=jinja2.PackageLoader("rolecast.platform.play"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
    )


def _stderr(returns: Float) -> float:
    return float(returns.std(ddof=1) / np.sqrt(len(returns)))


def _in_letters(numbers: NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(numbers).tobytes()).decode("ascii")


def _write(target: Path, text: str) -> None:
    try:
        write_bytes(target, text.encode())
    except RunError as error:
        raise RequestError(f"--out {target} cannot be written: {error.__cause__}") from error
