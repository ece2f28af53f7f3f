"""Membership in the team: whose reward counts, and which agents the policy acts for.

Options `team` and `others` of a user's environment, for games in which agents are opposed.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from gymnasium.spaces import Space

from rolecast.core.counter_random import folded_seed
from rolecast.core.errors import ConfigError, unknown_name

WAYS_OF_OTHERS: Final = ("policy", "random")
"""Values of the option `others`."""

SPACE_STREAM: Final = 0x737061636573
"""Tells the seeds of action spaces from all others: "spaces" in ASCII."""


@dataclass(frozen=True, kw_only=True)
class Membership:
    """Agents of an environment, by what they are to the search."""

    everyone: tuple[str, ...]
    """All agents, in the environment's order."""

    paid: tuple[str, ...]
    """Agents whose reward counts."""

    acting: tuple[str, ...]
    """Agents that the policy acts for."""

    @property
    def random(self) -> tuple[str, ...]:
        """Agents that take random actions."""
        return tuple(agent for agent in self.everyone if agent not in self.acting)


def membership(everyone: Sequence[str], team: object, others: object, task_id: str) -> Membership:
    """Return who belongs to the team.

    Args:
        everyone: all agents.
        team: names as a list or as text with commas. `adversary` stands for all of
            `adversary_0`, `adversary_1`, and so on. None for everyone.
        others: "policy", so that the policy acts for agents outside the team too; or "random".
        task_id: for errors.

    Raises:
        RequestError: an agent does not exist, or `others` has another value.
    """
    if others not in WAYS_OF_OTHERS:
        raise ConfigError(f"others of task {task_id!r}", others, "'policy' or 'random'")
    paid = tuple(everyone) if team is None else _named(everyone, team, task_id)
    acting = tuple(everyone) if others == "policy" else paid
    return Membership(everyone=tuple(everyone), paid=paid, acting=acting)


def seeded_spaces(agents: Mapping[str, Space[Any]], seed: int) -> dict[str, Space[Any]]:
    """Return copies of the action spaces of some agents, whose samples depend on the seed alone.

    An environment that is reset with the same seed draws from another stream, and so does each
    agent. A policy could foresee an opponent that acts as things were placed.
    """
    copies = {agent: deepcopy(space) for agent, space in agents.items()}
    for index, space in enumerate(copies.values()):
        words = np.random.SeedSequence((SPACE_STREAM, seed, index)).generate_state(1)
        space.seed(folded_seed(int(words[0])))
    return copies


def _named(everyone: Sequence[str], team: object, task_id: str) -> tuple[str, ...]:
    """Return the agents that the option `team` names, in the environment's order."""
    names = team.split(",") if isinstance(team, str) else team
    if not isinstance(names, list | tuple) or not names:
        raise ConfigError(f"team of task {task_id!r}", team, "names of agents, joined by commas")
    wanted = [str(name) for name in names]  # an environment may name its agents by integers
    known = {str(agent) for agent in everyone}
    kinds = {kind_of(agent) for agent in everyone} - {""}
    for name in wanted:
        if name not in known | kinds:
            raise unknown_name(f"agent of task {task_id!r}:", name, known | kinds)
    return tuple(agent for agent in everyone if {str(agent), kind_of(agent)} & {*wanted})


def kind_of(agent: str) -> str:
    """Return what agents of one kind have in common: `agent` of `agent_0`; "" for no kind."""
    return str(agent).rpartition("_")[0]
