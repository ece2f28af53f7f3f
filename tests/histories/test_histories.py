"""Searches of one seed compute what they computed before the house was put in order.

`digests.json` was written at commit a096170 by `record.py DIR` and `record.py DIR --digests`. A
change that means to change what a search computes writes it anew, and says so.
"""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from tests.histories.record import DIGESTS, OPTIMIZERS, PROBLEMS, history, machine, row_digests

RECORDED: Final[dict[str, Any]] = json.loads(DIGESTS.read_text())


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_history_is_equal_to_the_last_bit(optimizer: str, problem: str, tmp_path: Path) -> None:
    """On another kind of processor, or with other libraries, last bits differ: two runs agree."""
    recorded: list[str] = RECORDED["histories"][f"{problem}-{optimizer}"]
    found = row_digests(history(optimizer, problem, "small", tmp_path))
    if machine() == RECORDED["machine"]:
        assert found == recorded
    else:
        assert len(found) == len(recorded)
        assert found == row_digests(history(optimizer, problem, "small", tmp_path / "again"))
