from typing import Any

import gymnasium
import pytest
from gymnasium import spaces
from pettingzoo import AECEnv, ParallelEnv

from rolecast.core.errors import ConfigError, RequestError
from rolecast.envs.registry import make_task


class Bare(gymnasium.Env[Any, Any]):
    """Has no spaces at all."""


class Blind(Bare):
    """Has an action space alone."""

    observation_space: Any = None
    action_space = spaces.Box(-1.0, 1.0, (1,))


class Bound(Bare):
    """Has an observation space alone."""

    observation_space = spaces.Box(-1.0, 1.0, (1,))
    action_space: Any = None


class Turns(AECEnv):  # type: ignore[misc]  # PettingZoo has no types
    """Two agents that act in turns."""

    possible_agents = ["one", "other"]  # noqa: RUF012 - the interface's own form


def test_an_environment_without_spaces_is_refused() -> None:
    with pytest.raises(RequestError, match="has spaces that cannot be read: AttributeError"):
        make_task(Bare)


@pytest.mark.parametrize(("made", "kind"), [(Blind, "observation"), (Bound, "action")])
def test_a_space_that_is_none_is_refused(made: type[Bare], kind: str) -> None:
    said = rf"{kind} space of 'agent' of task .* is None; expected a gymnasium.spaces.Space"
    with pytest.raises(ConfigError, match=said):
        make_task(made)


def test_an_environment_of_turns_is_refused_with_what_to_do() -> None:
    said = r"made an AECEnv, whose agents act in turns; expected .* or .*aec_to_parallel"
    with pytest.raises(RequestError, match=said):
        make_task(Turns)


class Cycles(ParallelEnv):  # type: ignore[misc]  # PettingZoo has no types
    """A team that states how many steps it lasts."""

    possible_agents = ["one"]  # noqa: RUF012 - the interface's own form

    def __init__(self, max_cycles: object) -> None:
        self.max_cycles = max_cycles

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return spaces.Box(-1.0, 1.0, (1,))

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return spaces.Box(-1.0, 1.0, (1,))


def test_cycles_without_end_are_no_horizon_and_negative_ones_name_the_option() -> None:
    endless: Any = make_task(lambda: Cycles(float("inf")))
    assert endless.ends_itself
    assert make_task(lambda: Cycles(30)).spec.horizon == 30
    with pytest.raises(ConfigError, match=r"is -1; expected .* an option horizon=STEPS"):
        make_task(lambda: Cycles(-1))
    assert make_task(lambda: Cycles(-1), horizon=5).spec.horizon == 5


def test_an_environment_without_a_number_to_act_with_is_refused() -> None:
    class Idle(Bare):
        observation_space = spaces.Box(-1.0, 1.0, (1,))
        action_space = spaces.Box(-1.0, 1.0, (0,))

    with pytest.raises(RequestError, match=r"has the action space Box.*; expected one with number"):
        make_task(Idle)
