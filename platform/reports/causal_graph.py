"""The causal graph of a search in its report: a picture, a table, and the expected rewards."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rolecast.envs.causal.graph import CausalGraph
from rolecast.envs.causal.graph_file import graph_from_json
from rolecast.envs.causal.problem import HasCausalGraph
from rolecast.envs.rewards.task import unwrapped
from rolecast.envs.spec import BatchedTask
from rolecast.platform.reports.folder import Run
from rolecast.platform.reports.page import inline_image, paragraph, section, table
from rolecast.platform.reports.style import (
    BLUE,
    GREEN,
    GREY,
    INK,
    VERMILION,
    figure,
    literal,
    png,
)
from rolecast.platform.search.records.causal import intervention_text
from rolecast.platform.search.records.measurements import RunMeasurements

Place = tuple[float, float]
"""Position in a drawing."""

ARROW_STYLE: Final = {"arrowstyle": "-|>", "color": GREY, "shrinkA": 14, "shrinkB": 14}


def causal_graph_of(run: Run, task: BatchedTask) -> CausalGraph | None:
    """Return the graph that a search knew; None for other searches."""
    given = run.record["search"].get("optimizer_settings", {}).get("graph")
    if given is not None:
        return graph_from_json(given)
    below = unwrapped(task)
    return below.graph if isinstance(below, HasCausalGraph) else None


def causal_sections(graph: CausalGraph, measured: RunMeasurements | None) -> list[Markup]:
    """Return the graph as a picture and a table, and the curve of expected rewards.

    Args:
        graph: what the search knew.
        measured: expected reward of each evaluation; None before a run is measured.
    """
    ranges = {each.name: f"[{each.low:g}, {each.high:g}]" for each in graph.interventions}
    rows = [(each.name, "-", "set by the search", "-", ranges[each.name]) for each in graph.actions]
    for node in graph.nodes:
        noise: str = node.noise.kind
        noise += f" {node.noise.scale:g}" if node.noise.scale else ""
        causes = ", ".join((*node.parents, *node.actions)) or "-"
        rows.append(
            (node.name, causes, node.mechanism or "unknown", noise, ranges.get(node.name, "-"))
        )
    head = ("action or node", "causes", "mechanism", "noise", "may be set in")
    picture = inline_image(png(graph_picture(graph)), "png", "Causal graph of the task")
    text = "Blue: the reward. Green squares: actions. Red: nodes that may be set."
    found = []
    if measured is not None and measured.intervention is not None:
        chosen = f"Of the incumbent: {intervention_text(measured.intervention)}."
        found.append(section("Intervention found", paragraph(chosen)))
    found.append(section("Causal graph", picture, paragraph(text), table(head, rows)))
    if measured is not None and measured.expected_rewards:
        kind = "Observed" if measured.rewards_observed else "Expected"
        drawing = _reward_curve(measured.expected_rewards, f"{kind.lower()} reward")
        curve = inline_image(png(drawing), "png", f"{kind} reward by evaluation")
        found.append(section(f"{kind} reward", curve, *_doubt(measured)))
    return found


def _doubt(measured: RunMeasurements) -> list[Markup]:
    """Say what a best observed reward is."""
    text = "No simulator is known that gives expectations. The best of noisy rewards is too high."
    return [paragraph(text)] if measured.rewards_observed else []


def graph_picture(graph: CausalGraph) -> Figure:
    """Draw nodes from left to right by the longest path that leads to them."""
    places = _places(graph)
    most = max(x for x, _ in places.values())
    drawing, axes = figure(2.2 + 1.5 * most, 3.6)
    axes.axis("off")
    settable = {each.name for each in graph.do}
    for node in graph.nodes:
        for cause in (*node.parents, *node.actions):
            axes.annotate("", places[node.name], places[cause], arrowprops=ARROW_STYLE)
        colour = VERMILION if node.name in settable else INK
        _draw(axes, node.name, places, BLUE if node is graph.reward else colour, "round")
    for action in graph.actions:
        _draw(axes, action.name, places, GREEN, "square")
    axes.set_xlim(-0.6, most + 0.6)
    heights = [y for _, y in places.values()]
    axes.set_ylim(min(heights) - 0.6, max(heights) + 0.6)
    return drawing


def _draw(axes: Axes, name: str, places: dict[str, Place], colour: str, shape: str) -> None:
    box = {"boxstyle": f"{shape},pad=0.35", "facecolor": "white", "edgecolor": colour}
    axes.text(
        *places[name], literal(name), ha="center", va="center", fontsize=9, color=colour, bbox=box
    )


def _places(graph: CausalGraph) -> dict[str, Place]:
    """Return positions: a column for each length of the longest path, actions in the first."""
    depth: dict[str, int] = {each.name: 0 for each in graph.actions}
    for node in graph.nodes:
        causes = (*node.parents, *node.actions)
        depth[node.name] = max((depth[cause] + 1 for cause in causes), default=0)
    columns: dict[int, list[str]] = {}
    for name, column in depth.items():
        columns.setdefault(column, []).append(name)
    return {
        # Odd columns are shifted, so that a long edge does not run through the nodes between.
        name: (float(column), (len(names) - 1) / 2.0 - row + 0.35 * (column % 2))
        for column, names in columns.items()
        for row, name in enumerate(names)
    }


def _reward_curve(rewards: Sequence[float], name: str) -> Figure:
    """Draw each reward, the mean so far, and the best so far."""
    values = np.array(rewards)
    numbers = np.arange(1, len(values) + 1)
    drawing, axes = figure()
    axes.plot(numbers, values, ".", color=GREY, label="each evaluation")
    axes.plot(numbers, np.cumsum(values) / numbers, color=BLUE, label="mean so far")
    axes.plot(numbers, np.maximum.accumulate(values), color=VERMILION, label="best so far")
    axes.set_xlabel("evaluation")
    axes.set_ylabel(name)
    axes.legend(frameon=False)
    return drawing
