"""What pages say of their rows: whose code made them, and which name other settings."""

from typing import Any

from rolecast.benchmarks.kept_rows import commits_text, differing_text


def test_a_page_names_the_commits_of_its_rows() -> None:
    old: dict[str, Any] = {"key": "a"}
    new, both = {"key": "b", "commit": "abc"}, {"key": "c", "commit": "abc def+"}
    assert commits_text([new]) == "Rows were made by the code of commit `abc`."
    assert commits_text([new, both]) == "Rows were made by the code of commits `abc`, `def+`."
    assert commits_text([old, old]) == "2 of 2 rows do not say which commit made them."
    assert commits_text([old, new]) == (
        "1 of 2 rows do not say which commit made them; the others are of commit `abc`."
    )
    assert commits_text([{"key": "d", "commit": None}]).startswith("1 of 1 rows do not say")


def test_rows_of_other_settings_are_named_without_their_seeds() -> None:
    fields = {"settings": {"size": (2, 3)}, "evaluations": [10, 20], "batch": 10}
    planned: dict[str, dict[str, Any]] = {
        "f / m / 0": fields,
        "f / m / 1": fields,
        "f / n / 0": {"settings": {}},
    }
    agreeing = {"key": "f / m / 0", "settings": {"size": [2, 3]}}
    other = {"key": "f / m / 1", "settings": {"size": [2, 4]}}
    silent, unknown = {"key": "f / n / 0"}, {"key": "z", "settings": {"size": 1}}
    assert differing_text(planned, [agreeing, silent, unknown]) == ""
    told = differing_text(planned, [agreeing, other, silent, unknown])
    assert told.startswith("1 of 3 rows name other settings than the table now does")
    assert told.endswith(": `f / m`. `--fresh` makes them anew.")


def test_rows_of_another_budget_or_batch_size_are_named_where_they_record_it() -> None:
    planned = {f"f / m / {seed}": {"evaluations": [10, 20], "batch": 10} for seed in range(3)}
    same = {"key": "f / m / 0", "evaluations": [10, 20]}
    longer = {"key": "f / m / 1", "evaluations": [20, 40]}
    smaller = {"key": "f / m / 2", "evaluations": [10, 20], "batch": 5}
    assert differing_text(planned, [same]) == ""
    told = differing_text(planned, [same, longer, smaller])
    terms = "another budget, batch size or places along it than the table now has"
    assert told == f"2 of 3 rows are of {terms}: `f / m`. `--fresh` makes them anew."
