"""The numbers that the DSS-GP-UCB paper prints, beside which a comparison stands.

They lie in `paper.csv`, as printed; a number that cannot be right is marked there.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

PAPER_FILE: Final = Path(__file__).with_name("paper.csv")

ANY_REWARD: Final = "any"
"""Reward of a method that the paper prints once: it sees the sum of an episode alone."""

PRINTED_MISTAKES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "": "",
        "stderr_copied": "its printed error is a copy of another row's, and left out",
        "not_comparable": "many times what every other method of the paper reaches on this task",
    }
)
"""Mark of a printed number that cannot be right, and what it means."""


@dataclass(frozen=True, kw_only=True)
class PaperNumber:
    """A number as printed."""

    table: int
    """4 and 5: the last policy; 7 and 8: the best so far."""

    mean: float
    """Mean return of an episode over five runs."""

    stderr: float | None
    """Its standard error over the runs; None where the printed one is a copy."""

    mistake: str
    """A key of `PRINTED_MISTAKES`; empty for a number that nothing speaks against."""

    @property
    def text(self) -> str:
        """The number as tables show it, with the mark of a mistake."""
        error = "" if self.stderr is None else f" ({self.stderr:g})"
        return f"{self.mean:g}{error}" + (" [?]" if self.mistake else "")


def paper_number(
    task: str, reward: str, method: str, size: str, *, best_so_far: bool = False
) -> PaperNumber | None:
    """Return what the paper prints for a cell; None where it prints nothing.

    Args:
        task: id, as "hopper" or "ma_hopper_3x1?obs=own"; the paper's are Gym's of version 3.
        reward: "dense", "sparse=5", "delay=5".
        method: name of the algorithm, as "td3".
        size: of a learner's policy, "small" or "xl"; of a search, its kind of policy, which the
            paper prints as one.
        best_so_far: of the best policy so far (tables 7 and 8), not of the last (4 and 5).
    """
    numbers = _numbers()
    tables = (7, 8) if best_so_far else (4, 5)
    keys = [(table, task, reward, method, size) for table in tables]
    keys += [(table, task, ANY_REWARD, method, "small") for table in tables]
    return next((numbers[key] for key in keys if key in numbers), None)


@cache
def _numbers() -> Mapping[tuple[int, str, str, str, str], PaperNumber]:
    with PAPER_FILE.open(newline="") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return MappingProxyType(
            {
                (int(row["table"]), row["task"], row["reward"], row["method"], row["size"]): _read(
                    row
                )
                for row in rows
            }
        )


def _read(row: Mapping[str, str]) -> PaperNumber:
    return PaperNumber(
        table=int(row["table"]),
        mean=float(row["mean"]),
        stderr=None if row["mistake"] == "stderr_copied" else float(row["stderr"]),
        mistake=row["mistake"],
    )
