"""The picture of structure: its matrix, its shares by block, and its words."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rolecast.platform.reports.structure import adjacency, block_shares, structure_picture

BLOCKS = {"edge": slice(0, 3), "message": slice(3, 5)}
edge = st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda pair: pair[0] != pair[1])


@given(st.lists(edge, max_size=30))
def test_the_matrix_is_symmetric_with_one_pair_for_each_edge(edges: list[tuple[int, int]]) -> None:
    matrix = adjacency(edges, 10)
    assert (matrix == matrix.T).all()
    assert not matrix.diagonal().any()
    assert matrix.sum() == 2 * len({frozenset(pair) for pair in edges})


def test_shares_count_pairs_of_parameters_within_and_between_blocks() -> None:
    shares = block_shares(adjacency([(0, 1), (0, 3), (3, 4)], 5), BLOCKS)
    assert shares == {
        ("edge", "edge"): 1 / 3,
        ("edge", "message"): 1 / 6,
        ("message", "message"): 1.0,
    }


def test_the_title_counts_edges_and_cliques() -> None:
    drawing = structure_picture([(0, 1), (1, 2)], BLOCKS, cliques=[[0, 1], [1, 2], [3], [4]])
    title = drawing.axes[0].get_title(loc="left")
    assert title == "2 edges of 10 pairs of parameters, 4 cliques, the largest of 2"


def test_without_edges_the_picture_says_so() -> None:
    drawing = structure_picture(np.zeros((0, 2)), BLOCKS)
    assert drawing.axes[0].get_title(loc="left").startswith("no structure")


def test_blocks_are_named_with_their_sizes_along_both_axes() -> None:
    axes = structure_picture([(0, 1)], BLOCKS).axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["edge\n3", "message\n2"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["edge\n3", "message\n2"]
