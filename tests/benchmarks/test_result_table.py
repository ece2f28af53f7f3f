"""What tables have in common when they are written for readers."""

from pathlib import Path

import pandas as pd
import pytest

from rolecast.benchmarks.result_table import (
    keyed_table,
    markdown_table,
    read_rows,
    sets_text,
    slug,
)
from rolecast.platform.reports.comparison.statistics import LEAST_SEEDS_OF_INTERVAL

DOCS = Path(__file__).resolve().parents[2] / "docs"


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


def test_the_guide_says_which_committed_rows_are_of_the_sealed_set() -> None:
    rows = {
        name: read_rows(DOCS / f"results/{name}.json")
        for name in ("main", "baselines", "optimizers_policies", "dial")
    }
    text = (DOCS / "comparison.md").read_text()
    main, learners = (
        f"{sum(row.get('held_out_set') == 'sealed' for row in rows[name])} of {len(rows[name])}"
        for name in ("main", "baselines")
    )
    some = f"{main} of [main](results/main.md), {learners} of [the learners](results/baselines.md)"
    assert f"{some} and all of [the policies](results/optimizers_policies.md) are of it" in text
    assert sets_text(rows["optimizers_policies"]) == "the sealed set"
    assert sets_text(rows["dial"]) == "the development set"
    assert "those of [the dial](results/dial.md) of the development set" in text


@pytest.mark.parametrize("file", ["results", "curves", "improvement"])
def test_committed_figures_of_few_seeds_have_no_interval(file: str) -> None:
    found = [*(DOCS / "results").glob(f"*/{file}.csv")]
    assert found
    for path in found:
        frame = pd.read_csv(path)
        ends = frame[[name for name in frame if str(name).endswith(("low", "high"))]]
        columns = [name for name in frame if str(name).startswith("seeds")]
        settings = frame.get("settings", 1)
        few = frame[columns].min(axis=1) / settings < LEAST_SEEDS_OF_INTERVAL
        assert ends[few].isna().all(axis=None), path
