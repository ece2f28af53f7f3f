"""The section that tells what roles do, and its moving graph."""

from dataclasses import replace

import numpy as np
from PIL import ImageColor

from rolecast.platform.reports.role_graph import graph_frame, graph_frames, role_colour
from rolecast.platform.reports.roles import role_sections
from rolecast.platform.search.records.roles import RoleMeasures

MEASURED = RoleMeasures(
    specialisation=0.25,
    changed_roles=0.5,
    connectivity_mean=0.75,
    connectivity_std=0.125,
    message_effect=0.1,
    steps=(0, 7),
    role_of_agent=((0, 1, 2), (2, 1, 0)),
    edges=(
        ((0.0, 1.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
        ((0.0, 1.0, 1.0), (1.0, 0.0, 1.0), (1.0, 1.0, 0.0)),
    ),
    explained=(0.6, 0.3),
    points=tuple(tuple((0.1 * k, 0.2 * k, 0.0, role / 3) for role in range(3)) for k in range(4)),
)

BOTH = {"role_assignment": True, "role_interaction": True}


def text(measured: RoleMeasures | None, **changed: bool) -> str:
    return "".join(role_sections({**BOTH, **changed}, measured))


def test_the_section_says_what_was_measured_and_draws_it_twice() -> None:
    told = text(MEASURED)
    for words in (
        "Specialisation 0.25",
        "50% of agents change their role",
        "0.75 ± 0.12",
        "by 0.10",
    ):
        assert words in told
    assert told.count("data:image/png") == told.count("data:image/gif") == 1


def test_what_a_policy_has_not_is_not_told() -> None:
    assert role_sections(BOTH, None) == []
    silent = text(MEASURED, role_interaction=False)
    assert "Connectivity" not in silent
    assert "Messages" not in silent
    assert "data:image/gif" not in silent
    fixed = text(MEASURED, role_assignment=False)
    assert "change their role" not in fixed
    assert "role of its own number" in fixed
    assert "all actions are alike" in text(replace(MEASURED, specialisation=None))


def test_actions_of_one_number_are_drawn_in_a_row_for_each_role() -> None:
    points = tuple(tuple((0.1 * k, 0.0) for _ in range(3)) for k in range(4))
    assert "data:image/png" in text(replace(MEASURED, explained=(1.0,), points=points))


def test_a_frame_shows_agents_in_the_colours_of_their_roles_and_who_hears_whom() -> None:
    first, last = graph_frames(MEASURED)
    # The first agent stands on top; a little left of its number its disc is seen.
    top = (160 - 14, 50)
    assert first.getpixel(top) == ImageColor.getrgb(role_colour(0))
    assert last.getpixel(top) == ImageColor.getrgb(role_colour(2))
    inked = [np.any(np.array(frame) < 200, axis=2).sum() for frame in (first, last)]
    assert inked[0] < inked[1], "six arrows need more ink than one"
    edges = MEASURED.edges[0]
    none = replace(MEASURED, edges=(tuple(tuple(0.0 for _ in row) for row in edges),) * 2)
    arrow = np.any(np.array(first) != np.array(graph_frame(none, 0)), axis=2)
    rows, columns = np.nonzero(arrow)
    # Agent 0 on top hears agent 1, below it to the right: all the ink is between them.
    assert 50 <= rows.min() <= rows.max() <= 225
    assert 150 <= columns.min() <= columns.max() <= 265
