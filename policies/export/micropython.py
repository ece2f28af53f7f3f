"""Target `micropython`: a policy as one Python file without imports, and its test program.

Numbers are those of the interpreter: float64 where it has them, as the unix port does.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rolecast.core.types import Float
from rolecast.policies.export.c99 import EXPORT_TEMPLATES
from rolecast.policies.export.tables import interacts
from rolecast.policies.hom.assignment import SUBSET_LIMIT
from rolecast.policies.hom.interaction import SOFT_EDGE_SLOPE
from rolecast.policies.hom.policy import HomPolicy
from rolecast.policies.mlp import MlpPolicy
from rolecast.policies.network import unpack

PYTHON_FILE: Final = "rolecast_policy.py"
PYTHON_TEST_FILE: Final = "main_test.py"

_NEAR_POLICIES: Final = 8
_NEAR_ACTIONS: Final = 1e-7


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
        head=_comment(remarks), kind=policy.name, nets=layers, **values
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
        head=_comment(remarks), vectors=list(vectors)
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
    rng = np.random.default_rng(0)
    near = weights * (1.0 + 1e-10 * rng.choice([-1.0, 1.0], (_NEAR_POLICIES, len(weights))))
    candidates = np.concatenate([weights[None], near])
    given = np.broadcast_to(observations, (len(candidates), *observations.shape))
    actions = policy.act(candidates, given)
    decided = np.abs(actions[1:] - actions[0]).max(axis=(0, 2, 3)) < _NEAR_ACTIONS
    backwards = policy.act(weights[None], observations[None, :, ::-1])[0, :, ::-1]
    tied = np.abs(backwards - actions[0]).max(axis=(1, 2)) >= _NEAR_ACTIONS
    return np.asarray(decided & ~(tied & policy.model.role_assignment))


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
