"""How each method is drawn: one colour in all pictures and reports, no two methods alike."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from rolecast.platform.reports.style import (
    BLUE,
    COLOUR_CYCLE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
)

METHOD_COLOURS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "dss_gp_ucb": BLUE,
        "local_gp": SKY,
        "gp_ucb": PURPLE,
        "cmaes": INK,
        "random": GREY,
        "maddpg": VERMILION,
        "facmac": GREEN,
        "comix": PURPLE,
        "covdn": SKY,
        "matd3": INK,
        "masac": BLUE,
        "g2anet": BLUE,
        "iddpg": GREY,
        "iql": GREY,
        "isac": GREY,
        "vdn": SKY,
        "qmix": GREEN,
        "ippo": GREY,
        "ppo": ORANGE,
        "mappo": ORANGE,
        "ddpg": VERMILION,
        "td3": GREEN,
        "sac": PURPLE,
        "intrinsic_ppo": SKY,
    }
)
"""Of the methods that stand beside each other in the paper's tables no two are alike."""

METHOD_DASHES: Final = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 1, 1, 1)))
"""Of methods that share a colour, in their order."""

METHOD_MARKERS: Final = ("", "o", "s", "^", "D")
"""Of methods that share colour and dashes, in their order."""

MARKERS_PER_LINE: Final = 8
"""Markers on a line, about."""


@dataclass(frozen=True, kw_only=True)
class MethodStyle:
    """How a method is drawn."""

    colour: str
    dash: Any
    """As matplotlib's linestyle."""

    marker: str
    """As matplotlib's; empty for none."""

    def line(self, points: int) -> dict[str, Any]:
        """Return what matplotlib's `plot` takes of it, for a line of some points."""
        return {
            "color": self.colour,
            "ls": self.dash,
            "marker": self.marker,
            "markevery": max(1, points // MARKERS_PER_LINE),
            "ms": 4,
        }

    def marked(self) -> dict[str, Any]:
        """Return what `plot` takes of it for a line whose every point is seen."""
        return {
            "color": self.colour,
            "ls": self.dash,
            "marker": self.marker or ".",
            "ms": 5 if self.marker else 8,
        }


def method_styles(methods: Sequence[str]) -> dict[str, MethodStyle]:
    """Give each method a colour, dashes where it is taken, and a marker where those are too.

    A method is known by its name or by the longest known name that it begins with, as
    `dss_gp_ucb hom`; the others take the colours that are left.
    """
    found: dict[str, MethodStyle] = {}
    used: dict[str, int] = {}
    for method in methods:
        names = sorted((name for name in METHOD_COLOURS if method.startswith(name)), key=len)
        colour = (
            METHOD_COLOURS[names[-1]]
            if names
            else min(COLOUR_CYCLE, key=lambda each: used.get(each, 0))
        )
        turn, place = divmod(used.get(colour, 0), len(METHOD_DASHES))
        marker = METHOD_MARKERS[turn % len(METHOD_MARKERS)]
        found[method] = MethodStyle(colour=colour, dash=METHOD_DASHES[place], marker=marker)
        used[colour] = used.get(colour, 0) + 1
    return found
