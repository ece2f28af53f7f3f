"""The section of a report that tells what roles do: figure 6 of the paper, of any found `hom`."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from rolecast.platform.reports.film.encode import gif
from rolecast.platform.reports.page import captioned, inline_image, paragraph, section, small_charts
from rolecast.platform.reports.role_graph import graph_frames, role_colour
from rolecast.platform.reports.style import GREY, INK, panel_grid, panel_style, png
from rolecast.platform.search.records.roles import RoleMeasures

GRAPH_FRAME_MS: Final = 150
"""How long a step of the moving graph is shown."""


def role_sections(options: Mapping[str, Any], measured: RoleMeasures | None) -> list[Markup]:
    """Return the section; none where no roles were measured.

    Args:
        options: settings of the policy: whether it assigns roles, and whether they interact.
        measured: what roles do.
    """
    if measured is None:
        return []
    assigns, talks = bool(options["role_assignment"]), bool(options["role_interaction"])
    told = [paragraph(sentence) for sentence in _sentences(measured, assigns=assigns, talks=talks)]
    picture = inline_image(png(roles_picture(measured, talks=talks)), "png", "What roles do")
    graph = []
    if talks:
        frames = gif(graph_frames(measured), GRAPH_FRAME_MS)
        moving = inline_image(frames, "gif", "Roles and edges, step by step")
        text = (
            "An episode: numbers are agents, colours their roles. An arrow leads to the agent that "
            "hears the other; the darker, the more."
        )
        graph = [small_charts([captioned("Who hears whom", moving, text)])]
    return [section("What roles do", *told, picture, *graph)]


def _sentences(measured: RoleMeasures, *, assigns: bool, talks: bool) -> list[str]:
    """Say the numbers in words."""
    told = []
    if measured.specialisation is None:
        told.append("Specialisation: none is defined, for all actions are alike.")
    else:
        told.append(
            f"Specialisation {measured.specialisation:.2f}: given the same observation, roles "
            "differ by this share of the variance of an action. At 0 all act alike, at 1 the role "
            "alone decides."
        )
    if assigns:
        told.append(
            f"From one step to the next, {measured.changed_roles:.0%} of agents change their role."
        )
    else:
        told.append("No roles are assigned: each agent keeps the role of its own number.")
    if talks:
        told.append(
            f"Connectivity {measured.connectivity_mean:.2f} ± {measured.connectivity_std:.2f} "
            "(mean weight of the edges between two roles, and its standard deviation over "
            "observations)."
        )
    if talks and measured.message_effect is not None:
        told.append(
            f"Messages change an action by {measured.message_effect:.2f} of its standard deviation "
            "(root mean square)."
        )
    return told


def roles_picture(measured: RoleMeasures, *, talks: bool) -> Figure:
    """Draw roles over an episode, edges on average, and actions by role.

    Args:
        measured: what roles do.
        talks: whether there are edges and messages.
    """
    drawing, panels = panel_grid(3 if talks else 2, 3, width=10.0, height=3.2)
    _draw_roles(panels[0], measured)
    _draw_actions(panels[1], measured, talks=talks)
    if talks:
        _draw_edges(panels[2], measured)
    roles = len(measured.role_of_agent[0])
    handles = [
        Line2D([], [], ls="", marker="s", color=role_colour(role), label=f"role {role}")
        for role in range(roles)
    ]
    drawing.legend(handles=handles, loc="outside lower center", ncols=min(roles, 8))
    return drawing


def _draw_roles(axes: Axes, measured: RoleMeasures) -> None:
    """Draw which agent has which role, over the steps of the episode."""
    held = np.array(measured.role_of_agent)
    count = held.shape[1]
    panel_style(axes, "role of each agent over an episode", scale="linear")
    axes.imshow(
        held.T,
        aspect="auto",
        interpolation="none",
        cmap=ListedColormap([role_colour(role) for role in range(count)]),
        vmin=-0.5,
        vmax=count - 0.5,
        extent=(measured.steps[0], measured.steps[-1] + 1, count - 0.5, -0.5),
    )
    axes.set(xlabel="step", ylabel="agent", yticks=range(count))


def _draw_actions(axes: Axes, measured: RoleMeasures, *, talks: bool) -> None:
    """Draw actions by role, with lines from where they were without messages."""
    points = np.array(measured.points)
    width = len(measured.explained)
    panel_style(axes, "actions by role", scale="linear")
    for role in range(points.shape[1]):
        after, before = points[:, role, :width], points[:, role, width:]
        if width == 1:  # a row for each role
            after, before = (
                np.column_stack([each, np.full(len(each), role)]) for each in (after, before)
            )
        if talks:
            ends = np.stack([before, after], axis=1)
            axes.plot(*ends.transpose(2, 1, 0), color=GREY, lw=0.5, zorder=1)
        axes.scatter(after[:, 0], after[:, 1], s=9, color=role_colour(role), lw=0, zorder=2)
    names = [f"axis {place + 1} ({share:.0%})" for place, share in enumerate(measured.explained)]
    axes.set(xlabel=names[0], ylabel=names[1] if width > 1 else "role")


def _draw_edges(axes: Axes, measured: RoleMeasures) -> None:
    """Draw what each role hears of each other, on average over the episode."""
    heard = np.array(measured.edges).mean(axis=0)
    panel_style(axes, "weight of what a role hears", scale="linear")
    axes.imshow(heard, cmap="Greys", vmin=0.0, vmax=1.0)
    if len(heard) <= 8:
        for (row, column), weight in np.ndenumerate(heard):
            colour = "white" if weight > 0.5 else INK
            axes.text(column, row, f"{weight:.2f}", ha="center", va="center", color=colour, size=8)
    places = range(len(heard))
    axes.set(xlabel="of role", ylabel="role", xticks=places, yticks=places)
