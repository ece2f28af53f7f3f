"""A centre of HOM at which roles talk: edges on, messages that are read.

Differs: the paper searches a plain cube. At its middle no edge is on, all messages are 0 and the
update net ignores them: every first derivative towards interaction is 0, a saddle. Here the centre
has the edges on, and the update net reads h + m as it reads an observation.
"""

from dataclasses import replace
from typing import Final

import numpy as np

from rolecast.policies.hom.model import HomModel
from rolecast.policies.space import Block

HARD_EDGE_BIAS: Final = 0.3
"""Affinity of every pair of roles at a coupled centre of hard edges: on, by a little.

Soft edges have affinity 0, where their weight is 1/2 and their slope largest.
"""


def coupled(block: Block, model: HomModel) -> Block:
    """Return a block of the policy, at the coupled centre if the model has one.

    - Edge net: the output bias of hard edges is HARD_EDGE_BIAS, so that every role hears every
      other; that of soft ones stays 0.
    - Message net: if it reads h, a message is about the sender's h; if it reads observations, its
      first layer is 0, and has a slope, as the update net reads what comes.
    - Update net: unit u reads the numbers j of h + m with j = u modulo da, by the coupling.

    Args:
        block: block with the centre of the saddle.
        model: sizes, and the coupling.
    """
    if model.coupling is None:
        return block
    if block.net == "edge" and block.kind == "bias" and block.layer == len(model.hidden):
        bias = 0.0 if model.soft_edges else HARD_EDGE_BIAS
        return replace(block, centre=np.full(block.shape, bias))
    if block.layer > 0 or block.kind != "weight" or block.net not in {"message", "update"}:
        return block
    centre = block.centre.copy()
    units, width = len(centre), model.message_width
    if block.net == "message" and model.message_reads == "hidden":
        heard = block.columns.index("neighbour h[0]")
        centre[:, heard : heard + width] = np.eye(units, width)
    elif block.net == "update":
        first = block.columns.index("h+m[0]")
        same = np.arange(units)[:, None] % model.action_size == (
            np.arange(width) % model.action_size
        )
        centre[:, first : first + width] = model.coupling * same
    return replace(block, centre=centre)
