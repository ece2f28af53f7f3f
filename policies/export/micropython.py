"""Target `micropython`: a policy as one Python file without imports, and its test program.

Numbers are those of the interpreter: float64 where it has them, as the unix port does.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rolecast.core.types import Float, Float32
from rolecast.policies.export.c99 import EXPORT_TEMPLATES
from rolecast.policies.export.reference import clip, in_chunks, reference, role_affinities
from rolecast.policies.export.tables import interacts
from rolecast.policies.hom.assignment import SUBSET_LIMIT, assign_roles
from rolecast.policies.hom.interaction import SOFT_EDGE_SLOPE
from rolecast.policies.hom.model import HomModel
from rolecast.policies.hom.policy import HomPolicy
from rolecast.policies.mlp import MlpPolicy
from rolecast.policies.network import TANH_BOUND, unpack

PYTHON_FILE: Final = "rolecast_policy.py"
PYTHON_TEST_FILE: Final = "main_test.py"

_NEAR_POLICIES: Final = 8
_NEAR_ACTIONS: Final = 1e-7

FLOAT32_TOLERANCE: Final = 1e-3
"""Largest difference of an action of a board with float32 from that of the policy in float64."""

_FLOAT32_ERROR: Final = 1e-6
"""Relative error of a sum in float32, which may be that of several roundings."""

_NEAR_ACTIONS_FLOAT32: Final = 0.5 * FLOAT32_TOLERANCE


def python_source(policy: HomPolicy | MlpPolicy, weights: Float, *, remarks: str) -> str:
    """Return `rolecast_policy.py`: `step(observations)` of a team, and `act` of an agent of `mlp`.

    Args:
        policy: what is exported.
        weights: [D], finite.
        remarks: lines for the comment on top.
    """
    nets = policy.model.nets if isinstance(policy, HomPolicy) else [policy.net]
    layers = {
        name: [(weight.tolist(), bias.tolist()) for weight, bias in each]
        for name, each in unpack(weights, nets).items()
    }
    values = _hom_values(policy) if isinstance(policy, HomPolicy) else _mlp_values(policy)
    return EXPORT_TEMPLATES.get_template("policy.py.jinja").render(
        head=_comment(remarks),
        kind=policy.name,
        nets=layers,
        tanh_bound=float(TANH_BOUND),
        **values,
    )


def python_check(observations: Float, actions: Float, *, remarks: str) -> str:
    """Return `main_test.py`: it compares the policy with vectors.

    Args:
        observations: [V, n, do].
        actions: [V, n, da], those of the policy in float64.
        remarks: lines for the comment on top.
    """
    vectors = zip(observations.tolist(), actions.tolist(), strict=True)
    return EXPORT_TEMPLATES.get_template("main_test.py.jinja").render(
        head=_comment(remarks), vectors=list(vectors), float32_tolerance=FLOAT32_TOLERANCE
    )


def clearly_decided(
    policy: HomPolicy | MlpPolicy, weights: Float, observations: Float
) -> NDArray[np.bool_]:
    """Return for which observations [V, n, do] the last bits of numbers decide nothing, [V].

    Agents that observe the same, or whose affinities saturate to the same, are tied: their roles
    follow from their numbers, so agents in the other order show it. Near ties, and edges whose
    affinity is near 0, are shown by weights that differ by 1e-10.

    Args:
        policy: what is exported.
        weights: [D].
        observations: [V, n, do].
    """
    if isinstance(policy, MlpPolicy):
        return np.ones(len(observations), dtype=bool)
    actions = policy.act(weights[None], observations[None])[0]
    decided = _change(policy, weights, observations, share=1e-10) < _NEAR_ACTIONS
    backwards = policy.act(weights[None], observations[None, :, ::-1])[0, :, ::-1]
    tied = np.abs(backwards - actions).max(axis=(1, 2)) >= _NEAR_ACTIONS
    return np.asarray(decided & ~(tied & policy.model.role_assignment))


def decided_in_float32(
    policy: HomPolicy | MlpPolicy, weights: Float, observations: Float
) -> NDArray[np.bool_]:
    """Return for which observations [V, n, do] the rounding of float32 decides nothing, [V].

    The float32 reference, and weights that differ by 1e-6, must give the same actions, but for half
    of what a board is allowed; and affinities that differ by 1e-6 of their terms the same roles.

    Args:
        policy: what is exported.
        weights: [D].
        observations: [V, n, do], clearly decided.
    """
    if isinstance(policy, MlpPolicy):
        return np.ones(len(observations), dtype=bool)
    single = observations.astype(np.float32)
    actions = policy.act(weights[None], observations[None])[0]
    rounded = np.abs(reference(policy, weights)(single) - actions).max(axis=(1, 2))
    change = _change(policy, weights, observations, share=_FLOAT32_ERROR)
    decided = np.maximum(rounded, change) < _NEAR_ACTIONS_FLOAT32
    if policy.model.role_assignment:
        decided &= _has_clear_roles(policy.model, weights, single)
    return np.asarray(decided)


def _has_clear_roles(model: HomModel, weights: Float, observations: Float32) -> NDArray[np.bool_]:
    """Return for which observations [V, n, do] errors of the affinities change no role, [V]."""
    rounded = weights.astype(np.float32)
    layers = unpack(rounded, model.nets)["role"]
    states = clip(observations, np.float32(model.observation_clip))
    affinity = role_affinities(model, layers, states).astype(np.float64)
    error = _FLOAT32_ERROR * float(sum(np.abs(part).sum() for part in layers[-1]))
    rng = np.random.default_rng(0)
    drawn = rng.uniform(-error, error, (_NEAR_POLICIES, *affinity.shape))
    roles = assign_roles((affinity + drawn).reshape(-1, *affinity.shape[1:]))
    same = roles.reshape(_NEAR_POLICIES, len(affinity), -1) == assign_roles(affinity)
    return np.asarray(same.all(axis=(0, 2)))


def _change(policy: HomPolicy, weights: Float, observations: Float, *, share: float) -> Float:
    """Return how far actions [V, n, da] move, at most, for weights that differ by a share, [V]."""
    rng = np.random.default_rng(0)
    near = weights * (1.0 + share * rng.choice([-1.0, 1.0], (_NEAR_POLICIES, len(weights))))
    candidates = np.concatenate([weights[None], near])

    def changes(rows: Float) -> Float:
        actions = policy.act(candidates, np.broadcast_to(rows, (len(candidates), *rows.shape)))
        return np.asarray(np.abs(actions[1:] - actions[0]).max(axis=(0, 2, 3)))

    return in_chunks(changes, policy, copies=2 * len(candidates))(observations)


def _comment(text: str) -> str:
    return "\n".join(f"# {line}".rstrip() for line in text.splitlines())


def _mlp_values(policy: MlpPolicy) -> dict[str, Any]:
    widths = policy.net.widths
    return {
        "agents": policy.agents,
        "observation_size": widths[0],
        "action_size": widths[-1],
        "clip": float(policy.observation_clip),
        "gain": float(policy.output_gain),
    }


def _hom_values(policy: HomPolicy) -> dict[str, Any]:
    model = policy.model
    return {
        "agents": model.agents,
        "observation_size": model.observation_size,
        "action_size": model.action_size,
        "clip": float(model.observation_clip),
        "gain": float(model.settings.output_gain),
        "bits": model.bits,
        "roles": model.role_assignment,
        "interacts": interacts(model),
        "soft": model.soft_edges,
        "half_slope": 0.5 * SOFT_EDGE_SLOPE,
        "self_edges": model.self_edges,
        "reads_hidden": model.message_reads == "hidden",
        "message_width": model.message_width,
        "rounds": model.rounds,
        "subset_limit": SUBSET_LIMIT,
    }
