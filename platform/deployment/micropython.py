"""Target `micropython`: one Python file, run here and compared with the policy in float64."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from rolecast.core.types import Float
from rolecast.platform.deployment.compiler import has_program, run_program
from rolecast.platform.deployment.manifest import BuiltExport
from rolecast.policies.artefact import LoadedPolicy
from rolecast.policies.export.micropython import (
    PYTHON_FILE,
    PYTHON_TEST_FILE,
    clearly_decided,
    decided_in_float32,
    python_check,
    python_source,
)
from rolecast.policies.export.vectors import drawn_observations, vector_count
from rolecast.policies.hom.policy import HomPolicy
from rolecast.policies.mlp import MlpPolicy

FLOAT64_TOLERANCE: Final = 1e-6
"""Largest difference of an action from that of the policy in float64."""

PYTHON_VECTORS: Final = 800
"""Most vectors that are drawn for the check; those with one answer are compared."""

STORED_BYTES: Final = 16_000
"""Most source of the vectors in the test file, which a board must hold beside the policy."""

LEAST_STORED: Final = 4
"""Vectors in the test file, where there are so many, however long they are."""

MICROPYTHON_PROGRAM: Final = "micropython"


def build_python(
    trained: LoadedPolicy,
    policy: HomPolicy | MlpPolicy,
    remarks: Sequence[str | None],
    scratch: Path,
) -> BuiltExport:
    """Return the files of target `micropython`.

    They are run by this Python, and by the unix port of MicroPython where it is installed.

    Args:
        trained: the policy with its weights.
        policy: it, of a kind that has a template.
        remarks: lines for the comment on top of each file.
        scratch: an empty folder.
    Raises:
        RunError: an action differs from the policy's by more than 1e-6.
    """
    text = "\n".join(line for line in remarks if line)
    sizes = trained.task.agents, trained.task.observation_size
    rng = np.random.default_rng(policy.space.size)
    bound = float(policy.options["observation_clip"])
    count = vector_count(PYTHON_VECTORS, sizes[0] if isinstance(policy, HomPolicy) else 1)
    drawn = drawn_observations(count, *sizes, bound, rng).astype(np.float64)
    observations = drawn[clearly_decided(policy, trained.weights, drawn)]
    expected = policy.act(trained.weights[None], observations[None])[0]
    source = python_source(policy, trained.weights, remarks=text)
    interpreters = {"python": sys.executable}
    if has_program(MICROPYTHON_PROGRAM):
        interpreters[MICROPYTHON_PROGRAM] = MICROPYTHON_PROGRAM
    (scratch / PYTHON_FILE).write_text(source, encoding="utf-8")
    whole = python_check(observations, expected, remarks=text)
    (scratch / PYTHON_TEST_FILE).write_text(whole, encoding="utf-8")
    for program in interpreters.values():
        run_program([program, PYTHON_TEST_FILE], scratch)
    (kept,) = np.nonzero(decided_in_float32(policy, trained.weights, observations))
    kept = kept[: _fitting(observations[kept], expected[kept])]
    stored = python_check(observations[kept], expected[kept], remarks=text)
    return BuiltExport(
        files={PYTHON_FILE: source.encode(), PYTHON_TEST_FILE: stored.encode()},
        check={
            "interpreters": list(interpreters),
            "vectors_equal_to_float64": len(observations),
            "largest_difference_allowed": FLOAT64_TOLERANCE,
            "vectors_stored": len(kept),
        },
    )


def _fitting(observations: Float, actions: Float) -> int:
    """Return how many vectors, of observations [V, n, do] and actions [V, n, da], a board holds.

    Float32 decides nothing in them, as a board may have no more.
    """
    pairs = zip(observations.tolist(), actions.tolist(), strict=True)
    sizes = np.cumsum([len(str(pair)) for pair in pairs])
    return max(int(np.searchsorted(sizes, STORED_BYTES, side="right")), LEAST_STORED)
