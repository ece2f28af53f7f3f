"""What a black box gave, as it is told to a study: by words or lines of JSON."""

import json
from collections.abc import Iterable, Sequence

from rolecast.core.errors import RequestError

Result = tuple[float, float | None]
"""Value of a candidate, and its standard error where it is known."""


def results_by_id(pairs: Iterable[tuple[int, Result]]) -> dict[int, Result]:
    """Return results by the ids of their candidates.

    Raises:
        RequestError: an id comes twice.
    """
    results: dict[int, Result] = {}
    for number, result in pairs:
        if number in results:
            raise RequestError(f"candidate {number} is told twice; expected one value of each")
        results[number] = result
    return results


def read_results(lines: Sequence[str]) -> dict[int, Result]:
    """Return the results that lines of JSON give: {"id": 3, "value": 0.7, "stderr": 0.1}.

    Raises:
        RequestError: a line is no such object, or an id comes twice.
    """
    return results_by_id(_parsed_result(line) for line in lines if line.strip())


def _parsed_result(line: str) -> tuple[int, Result]:
    """Return id, value and standard error of a line of JSON."""
    try:
        given = json.loads(line)
        number, error = given["id"], given.get("stderr")
        if type(number) is not int:
            raise ValueError("the id is no integer")  # noqa: TRY301
        return number, (float(given["value"]), None if error is None else float(error))
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as wrong:
        raise RequestError(
            f'{line.strip()!r} is no result; expected {{"id": ID, "value": NUMBER}}'
        ) from wrong
