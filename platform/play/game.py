"""A page in which a policy plays, as WebAssembly with the physics of its task.

It plays held-out episodes, lets a person steer or push who moves, and compares itself with Python
when it is opened.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from rolecast.core.types import Seeds
from rolecast.envs.spec import BatchedTask
from rolecast.platform.deployment.config import ExportConfig
from rolecast.platform.deployment.export import exportable
from rolecast.platform.deployment.wasm import compile_wasm
from rolecast.platform.play.document import document, in_letters
from rolecast.platform.play.worlds import World
from rolecast.platform.rollout.held_out import DEVELOPMENT_SET, HeldOut, held_out_seeds
from rolecast.platform.rollout.rollout import rollout
from rolecast.policies.artefact import LoadedPolicy
from rolecast.policies.certificate import certificate_sentence, weights_digest
from rolecast.policies.export.c99 import code_files
from rolecast.policies.export.reference import reference
from rolecast.policies.export.vectors import drawn_observations

PLAYED_EPISODES: Final = 200
"""Held-out episodes that a page plays, and compares with Python."""

CHECKED_VECTORS: Final = 100
"""Vectors on which a page compares its policy with the reference."""

BUILD_FLAGS: Final = ("-O2", "-fno-builtin", "-fno-math-errno")
"""Without library calls: a square root is an instruction."""


@dataclass(frozen=True, kw_only=True)
class Game:
    """A page, and what its policy earns in Python."""

    text: str
    """The HTML."""

    return_mean: float
    """Mean return of its episodes in Python, as earned."""

    return_stderr: float
    """Its standard error."""


def game_page(trained: LoadedPolicy, task: BatchedTask, world: World) -> Game:
    """Return the page of a policy in a world.

    Args:
        trained: a policy with an exporter.
        task: that it was searched for.
        world: of the task.
    Raises:
        RequestError: the policy has no exporter, or a program is not installed.
        RunError: the compiler failed.
    """
    compiled = _compiled(world_files(trained, world))
    seeds = held_out_seeds(DEVELOPMENT_SET, HeldOut.seed, PLAYED_EPISODES)
    returns = rollout(task, trained.policy, trained.weights[None], seeds).returns[0]
    mean, stderr = float(returns.mean()), float(returns.std(ddof=1) / np.sqrt(len(returns)))
    policy, summary = trained.policy, trained.task.summary
    text = document(
        "play.html",
        policy=weights_digest(trained.weights),
        title=f"{trained.task_id}: {policy.name}",
        lead=f"{policy.space.size} parameters, found by rolecast. {summary}.",
        hint="Drag who moves to push it elsewhere. Who is steered follows the pointer, or the "
        "arrow keys.",
        scene=world.scene,
        given={"wasm": in_letters(compiled), **_vectors(trained), "seeds": _halves(seeds)},
        episodes=PLAYED_EPISODES,
        python=f"{mean:.2f} ± {stderr:.2f}",
        vectors=CHECKED_VECTORS,
        promise=certificate_sentence(trained.certificate),
    )
    return Game(text=text, return_mean=mean, return_stderr=stderr)


def world_files(trained: LoadedPolicy, world: World) -> dict[str, str]:
    """Return the C of a policy and of its world, by file name."""
    policy = exportable(trained, ExportConfig(target="wasm"))
    code = code_files(policy, trained.weights, remarks=f"Policy of {trained.task_id}.")
    return {**code, "world.c": world.source}


def _compiled(files: dict[str, str]) -> bytes:
    """Return C files as WebAssembly."""
    with tempfile.TemporaryDirectory() as scratch:
        for name, text in files.items():
            (Path(scratch) / name).write_text(text, encoding="utf-8")
        return compile_wasm(Path(scratch), "world.c", *BUILD_FLAGS)


def _vectors(trained: LoadedPolicy) -> dict[str, Any]:
    """Return observations, and the actions of the reference, for the check in the page."""
    policy, spec = trained.policy, trained.task
    rng = np.random.default_rng(policy.space.size)
    clip = float(policy.options["observation_clip"])
    drawn = drawn_observations(CHECKED_VECTORS, spec.agents, spec.observation_size, clip, rng)
    actions = reference(policy, trained.weights)(drawn)
    return {
        "vectors": CHECKED_VECTORS,
        "observations": in_letters(drawn.astype("<f4")),
        "actions": in_letters(actions.astype("<f4")),
    }


def _halves(seeds: Seeds) -> list[list[int]]:
    """Return the lower and the upper half of each seed."""
    return [[int(seed) & 0xFFFFFFFF, int(seed) >> 32] for seed in seeds]
