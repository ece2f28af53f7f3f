"""What a black box gave, as it is told to a study: by words or lines of JSON."""

import json
from collections.abc import Iterable, Sequence
from typing import Final

from rolecast.core.errors import RequestError

Result = tuple[float, float | None]
"""Value of a candidate, and its standard error where it is known."""

TOLD_FAILED: Final = "failed"
"""Word, or field of a line of JSON, for a candidate whose evaluation failed."""


def results_by_id(pairs: Iterable[tuple[int, Result | None]]) -> dict[int, Result | None]:
    """Return results by the ids of their candidates; None of one that failed.

    Raises:
        RequestError: an id comes twice.
    """
    results: dict[int, Result | None] = {}
    for number, result in pairs:
        if number in results:
            raise RequestError(f"candidate {number} is told twice; expected one value of each")
        results[number] = result
    return results


def read_results(lines: Sequence[str]) -> dict[int, Result | None]:
    """Return the results that lines of JSON give: {"id": 3, "value": 0.7, "stderr": 0.1}.

    A candidate that failed is {"id": 3, "failed": true}.

    Raises:
        RequestError: a line is no such object, or an id comes twice.
    """
    return results_by_id(_parsed_result(line) for line in lines if line.strip())


def _parsed_result(line: str) -> tuple[int, Result | None]:
    """Return id, value and standard error of a line of JSON."""
    try:
        given = json.loads(line)
        number, error = given["id"], given.get("stderr")
        if type(number) is not int:
            raise ValueError("the id is no integer")  # noqa: TRY301
        if TOLD_FAILED in given:
            if given != {"id": number, TOLD_FAILED: True}:
                raise ValueError("failed, and something else")  # noqa: TRY301
            return number, None
        return number, (float(given["value"]), None if error is None else float(error))
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as wrong:
        raise RequestError(
            f'{line.strip()!r} is no result; expected {{"id": ID, "value": NUMBER}}'
        ) from wrong
