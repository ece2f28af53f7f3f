"""The frame and the parts of a report: one HTML file that needs no other file and no network.

The HTML stands in `templates/`, where Jinja2 escapes all that is not a part from here.
"""

import base64
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from math import floor, log10
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from rolecast.core.rounding import ROUNDING_SHARE

MEDIA_TYPES: Final[Mapping[str, str]] = MappingProxyType({"png": "image/png", "gif": "image/gif"})

PAGE_WIDTH: Final = "60rem"
WIDE_PAGE: Final = "76rem"
"""Greatest width of a page that has wide tables."""

CHART_FILES: Final = ("uplot.css", "uplot.js", "charts.js")
"""Style and code of the charts, in `templates/`."""

CHART_MARK: Final = '<figure class="chart"'
"""How a chart begins, the macro `figure` of parts.html."""


@cache
def _templates() -> Environment:
    """Return the templates of reports."""
    folder = Path(__file__).with_name("templates")
    found = Environment(loader=FileSystemLoader(folder), autoescape=True, undefined=StrictUndefined)
    found.filters["in_words"] = _in_words
    return found


def _in_words(value: object) -> str:
    """Write a cell: whole numbers with separators, others with four digits, parts as they are."""
    if isinstance(value, Markup):
        return value
    if isinstance(value, WrittenNumber):
        return value.text
    if isinstance(value, float):
        return f"{value:,.4g}"
    whole = isinstance(value, int) and not isinstance(value, bool)
    return f"{value:,}" if whole else str(value)


@cache
def _macros() -> Any:
    """Return the macros of parts.html: a list of thousands of trials asks for each of them."""
    return _templates().get_template("parts.html").module


def _part(name: str, *values: Any) -> Markup:
    """Return what a macro of parts.html makes of values."""
    return Markup(getattr(_macros(), name)(*values))


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Markup:
    """Return a table; cells that are numbers stand to the right."""
    return _part("table", head, list(rows))


class WrittenNumber(float):
    """Number of a table whose digits are chosen."""

    text: str

    @classmethod
    def with_digits(cls, value: float, digits: int) -> "WrittenNumber":
        """Return a number that is written with so many digits after the point."""
        return as_written(f"{value:,.{digits}f}")


def as_written(text: str) -> WrittenNumber:
    """Return the number of a text, which may separate thousands, to be written like that."""
    found = WrittenNumber(text.replace(",", ""))
    found.text = text
    return found


def rounded(mean: float, stderr: float | None) -> tuple[float, float | str]:
    """Return a mean and its error with the digits that the error leaves: 188.6 and 2.6."""
    if not stderr or stderr <= ROUNDING_SHARE * abs(mean):
        return float(mean), ""
    digits = max(0, 1 - floor(log10(stderr)))
    return WrittenNumber.with_digits(mean, digits), WrittenNumber.with_digits(stderr, digits)


def results_table(
    columns: Sequence[str], rows: Iterable[tuple[str, Sequence[Mapping[str, Any] | None]]]
) -> Markup:
    """Return the table of end returns: a row a reward, a column a method.

    Args:
        columns: names of the methods.
        rows: a reward and its cells: `main` text, whether it is the `best`, and `notes` under it.
    """
    return _part("wide", _part("results", columns, list(rows)))


def wide(part: Markup) -> Markup:
    """Return a part that scrolls where it is wider than the page."""
    return _part("wide", part)


def section(title: str, *parts: Markup) -> Markup:
    """Return a heading and what stands under it."""
    return _part("section", title, parts)


def heading(text: str) -> Markup:
    """Return a heading inside a section."""
    return _part("heading", text)


def paragraph(text: str) -> Markup:
    """Return plain text as a paragraph."""
    return _part("paragraph", text)


def details(summary: str, *parts: Markup) -> Markup:
    """Return parts that a reader unfolds by their summary."""
    return _part("details", summary, parts)


def inline_image(data: bytes, kind: str, description: str) -> Markup:
    """Return an `<img>` that holds its own data, so that a page needs no other file.

    Args:
        data: the bytes of the image file.
        kind: "png" or "gif".
        description: for readers who do not see the image.
    """
    return _part("image", MEDIA_TYPES[kind], base64.b64encode(data).decode("ascii"), description)


def preformatted(text: str) -> Markup:
    """Return commands or code as they are typed."""
    return _part("preformatted", text)


def figure(description: str, numbers: Markup, picture: Markup | str) -> Markup:
    """Return a chart of its numbers, JSON, and what is shown where no script runs."""
    return _part("figure", description, numbers, picture)


def small_charts(parts: Sequence[Markup]) -> Markup:
    """Return charts beside each other, as many as fit."""
    return _part("small_charts", parts)


def captioned(title: str, drawn: Markup, text: str) -> Markup:
    """Return a small chart under its title, with what it tells."""
    return _part("captioned", title, drawn, text)


def links(rows: Sequence[tuple[str, str]]) -> Markup:
    """Return names that lead to files beside the page."""
    return _part("links", rows)


@cache
def _chart_files() -> Mapping[str, Markup]:
    """Return style and code of the charts, which a page with one holds once."""
    folder = Path(__file__).with_name("templates")
    read = {name: (folder / name).read_text(encoding="utf-8") for name in CHART_FILES}
    code = read["uplot.js"] + read["charts.js"]
    return {"css": Markup(read["uplot.css"]), "code": Markup(code)}


def page(
    title: str,
    lead: str,
    sections: Iterable[Markup],
    *,
    width: str = PAGE_WIDTH,
    verdict: str = "",
    reload_s: int | None = None,
) -> str:
    """Return a whole document.

    Args:
        title: plain text, also the window's title.
        lead: plain text, one sentence under the title.
        sections: from `section`.
        width: greatest width of the text, as CSS has it.
        verdict: plain text, what the page shows in one sentence; above the lead.
        reload_s: seconds after which a browser reads the page again; None for never.
    """
    parts = list(sections)
    charts = _chart_files() if any(CHART_MARK in part for part in parts) else None
    return (
        _templates()
        .get_template("page.html")
        .render(
            title=title,
            lead=lead,
            sections=parts,
            width=width,
            verdict=verdict,
            charts=charts,
            reload_s=reload_s,
        )
    )
