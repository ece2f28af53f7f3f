"""Policies that this repository ships, with their C in the loop: equal bits, and equal returns.

The C is built by gcc on this machine, and acts in the held-out episodes of the policy's task.
"""

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import numpy as np

from rolecast.benchmarks.result_table import Row
from rolecast.core.seeds import Purpose, episode_seeds
from rolecast.core.types import Float, Float32
from rolecast.envs.trust import make_stored_task
from rolecast.platform.deployment.compiler import build_library
from rolecast.platform.deployment.loop import ExportedPolicy
from rolecast.platform.deployment.quantise import float_actions, quantised
from rolecast.platform.rollout.artefact_folder import artefact_folder
from rolecast.platform.rollout.held_out import DEVELOPMENT_SET, HeldOut, held_out_seeds
from rolecast.platform.rollout.rollout import rollout
from rolecast.policies.artefact import LoadedPolicy, load_policy
from rolecast.policies.export.c99 import COMPILER_FLAGS, code_files, fixed_code_files
from rolecast.policies.export.reference import reference
from rolecast.policies.hom.policy import HomPolicy
from rolecast.policies.mlp import MlpPolicy

SHIPPED_POLICIES: Final[Mapping[str, Path]] = MappingProxyType(
    {"hunt of the gallery": Path("docs/gallery/hunt")}
)
"""Name to the folder, from the root of the repository."""

NUMBER_BITS: Final[Mapping[str, int | None]] = MappingProxyType(
    {"returns, float32": None, "returns, int16": 16, "returns, int8": 8}
)
"""Column of a run to the bits of its weights; None is float32."""

Act = Callable[[Float32], Float32]
"""From observations [V, n, do] to actions."""

_LEAST_STEPS: Final = 25
"""Observations that an episode of the shipped policies has at least."""


def run_returns(name: str, core: str, *, vectors: int, quick: bool) -> Row:
    """Return what a shipped policy earns by its reference and by its C.

    Args:
        name: in `SHIPPED_POLICIES`.
        core: in `NUMBER_BITS`.
        vectors: recorded observations on which bits are compared.
        quick: 20 episodes in place of 1,000.
    """
    trained = load_policy(artefact_folder(SHIPPED_POLICIES[name]))
    task = make_stored_task(trained.task_id, trust=False)
    held_out = HeldOut()
    seeds = held_out_seeds(DEVELOPMENT_SET, held_out.seed, 20 if quick else held_out.episodes)
    weights = trained.weights[None]

    def returns(act: Act) -> Float:
        found: Float = rollout(task, ExportedPolicy(trained.policy, act), weights, seeds).returns[0]
        return found

    recorded = rollout(
        task,
        trained.policy,
        weights,
        episode_seeds(0, Purpose.SEARCH, 0, -(-vectors // _LEAST_STEPS)),
        record=vectors,
    ).observations
    assert recorded is not None
    with tempfile.TemporaryDirectory() as folder:
        c, python = _pair(trained, NUMBER_BITS[core], Path(folder))
        found, wanted = returns(c), returns(python)
        kept = recorded[:vectors].astype(np.float32)
        actions = python(kept)
        same = np.array_equal(
            c(kept).reshape(actions.shape).view(np.uint32), actions.view(np.uint32)
        )
    whole = NUMBER_BITS[core] is not None
    plain = returns(reference(trained.policy, trained.weights)) if whole else wanted
    task.close()
    return {
        "vectors": vectors,
        "parameters": trained.policy.space.size,
        "equal": same and len(kept) == vectors,
        "episodes": len(seeds),
        "equal_returns": int((found == wanted).sum()),
        "float32_return": float(plain.mean()),
        "device_return": float(found.mean()),
    }


def _pair(trained: LoadedPolicy, bits: int | None, folder: Path) -> tuple[Act, Act]:
    """Return the functions of C and of the reference, from observations to actions in float32.

    Actions of C are [V, n * da], those of the reference [V, n, da].
    """
    policy = trained.policy
    if not isinstance(policy, HomPolicy | MlpPolicy):
        raise TypeError(f"policy {policy.name} has no templates")
    fixed = None if bits is None else quantised(trained, bits)
    if fixed is None:
        files = code_files(policy, trained.weights, remarks="returns")
    else:
        files = fixed_code_files(fixed, remarks="returns")
    for name, text in files.items():
        (folder / name).write_text(text)
    built = build_library(
        folder,
        "gcc",
        [*COMPILER_FLAGS, "-O2"],
        function="rolecast_policy_step",
        outputs=trained.task.agents * trained.task.action_size,
        fixed=fixed is not None,
    )
    if fixed is None:
        return built.act, reference(policy, trained.weights)
    return float_actions(fixed, built.act), float_actions(fixed)
