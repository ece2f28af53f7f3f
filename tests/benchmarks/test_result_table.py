"""What tables have in common when they are written for readers."""

from rolecast.benchmarks.result_table import keyed_table, markdown_table, sets_text, slug


def test_a_table_has_a_line_for_each_row() -> None:
    assert markdown_table(("a", "b"), [("1", "2")]) == "| a | b |\n|---|---|\n| 1 | 2 |"
    assert markdown_table(("a",), [], ("---:",)) == "| a |\n|---:|"
    assert keyed_table((("a", "x"), ("b", "y")), [{"y": 2, "x": 0.5, "z": 3}]) == (
        "| a | b |\n|---|---|\n| 0.5 | 2 |"
    )


def test_a_table_says_which_held_out_sets_its_rows_are_of() -> None:
    old, sealed = {"key": "a"}, {"key": "b", "held_out_set": "sealed"}
    assert sets_text([old]) == "the development set"
    assert sets_text([sealed, sealed]) == "the sealed set"
    assert sets_text([sealed, old, sealed]) == (
        "the development set (1 rows) and the sealed set (2 rows), which do not compare: "
        "`--fresh` makes all rows again"
    )


def test_a_name_in_a_file_name_is_letters_and_digits_joined() -> None:
    assert slug("pred_prey_3, 2M") == "pred_prey_3_2m"
    assert slug("hopper, authors' nets") == "hopper_authors_nets"
    assert slug("Swimmer-v5") == "swimmer_v5"
