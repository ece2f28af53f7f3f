"""What the optimiser told of itself, batch by batch, with what a healthy search shows."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from markupsafe import Markup

from rolecast.platform.reports.charts.chart import SMALL_CHART, Series, chart
from rolecast.platform.reports.folder import Scalars
from rolecast.platform.reports.page import captioned, section, small_charts

HEALTHY_SIGNS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "cloud_radius": (
            "Radius of the cloud",
            "Healthy: it shrinks over the whole budget, and further, to some 0.4 of that, where "
            "symmetries are accepted. Much smaller long before the end: the search has settled, "
            "perhaps early; try another seed or a larger radius.",
        ),
        "signal_to_noise": (
            "Signal-to-noise ratio of a batch",
            "Healthy: near 1 or above. Far below for long: candidates cannot be told apart; "
            "play more episodes, or widen the cloud.",
        ),
        "structure_share": (
            "Weight of the structure in the kernel",
            "Healthy: it settles. At 0, as is usual without a given graph, the cliques explain "
            "nothing, and one term over all parameters is used; with a graph, look at the graph.",
        ),
        "episodes_share": (
            "Share of the planned episodes that a candidate plays",
            "Healthy: 1, all of them; or less while the ratio of signal to noise is near 1 or "
            "above, for returns then hardly vary by chance. Less at a low ratio: give --episodes.",
        ),
    }
)
"""What is shown of `optimizer/NAME`: its title, and how to read it."""

LEAST_VALUES: Final = 3
"""Fewer values are no curve."""


def diagnostics(told: Scalars) -> list[Markup]:
    """Return the section on the search itself; nothing where nothing was told.

    Args:
        told: by the optimiser (`Run.told`).
    """
    parts = [
        captioned(title, _curve(name, told[name]), text)
        for name, (title, text) in HEALTHY_SIGNS.items()
        if len(told.get(name, ())) >= LEAST_VALUES
    ]
    return [section("How the search went", small_charts(parts))] if parts else []


def _curve(name: str, values: Sequence[tuple[float, float]]) -> Markup:
    steps, heights = zip(*values, strict=True)
    return chart(
        [Series(name=name, at=steps, values=heights)],
        description=f"{name} against environment steps",
        across="environment steps",
        up="",
        height=SMALL_CHART,
    )
