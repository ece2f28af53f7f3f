"""How the four nets of `hom` move under a symmetry of the task.

Messages and the hidden vector h move as actions do, codes of roles stay. Units of the message and
update nets are copies of the action. Units of the edge and role nets come in pairs (+a, -a), whose
sum is the invariant affinity.
"""

from collections.abc import Mapping

from rolecast.envs.symmetry import SignedPlaces, Symmetry
from rolecast.policies.hom.model import HomModel
from rolecast.policies.symmetry import (
    NetSymmetry,
    joined,
    paired_units,
    same_places,
    vector_units,
)


def net_symmetries(model: HomModel, symmetry: Symmetry) -> dict[str, NetSymmetry]:
    """Return the symmetry of each net, by its name."""
    observed, acted = symmetry.observation, symmetry.action
    code = same_places(model.bits)
    hidden = vector_units(acted, model.message_width)
    read = [hidden, hidden] if model.message_reads == "hidden" else [observed]
    inputs = {
        "role": [observed, code, code],
        "edge": [observed, observed, code, code],
        "message": [*read, code, code],
        "update": [observed, code, hidden],
    }
    paired = tuple(paired_units(acted, width) for width in model.hidden)
    copied = tuple(vector_units(acted, width) for width in model.hidden)
    scalar = same_places(1)
    return {
        net.name: NetSymmetry(
            inputs=joined(inputs[net.name]),
            hidden=paired if net.name in ("role", "edge") else copied,
            outputs=scalar if net.name in ("role", "edge") else hidden,
        )
        for net in model.nets
    }


def moved(model: HomModel, nets: Mapping[str, NetSymmetry]) -> SignedPlaces:
    """Return the signed permutation of all weights, in the order of the parameter vector."""
    return joined(nets[net.name].moved() for net in model.nets)
