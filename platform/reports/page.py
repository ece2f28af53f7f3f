"""The frame and the parts of a report: one HTML file that needs no other file and no network.

The HTML stands in `templates/`, where Jinja2 escapes all that is not a part from here.
"""

import base64
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

MEDIA_TYPES: Final[Mapping[str, str]] = MappingProxyType({"png": "image/png", "gif": "image/gif"})

PAGE_WIDTH: Final = "60rem"
WIDE_PAGE: Final = "76rem"
"""Greatest width of a page that has wide tables."""


@cache
def _templates() -> Environment:
    """Return the templates of reports."""
    folder = Path(__file__).with_name("templates")
    found = Environment(loader=FileSystemLoader(folder), autoescape=True, undefined=StrictUndefined)
    found.filters["in_words"] = _in_words
    return found


def _in_words(value: object) -> str:
    """Write a cell: whole numbers with separators, others with four digits."""
    if isinstance(value, float):
        return f"{value:,.4g}"
    whole = isinstance(value, int) and not isinstance(value, bool)
    return f"{value:,}" if whole else str(value)


def _part(name: str, *values: Any) -> Markup:
    """Return what a macro of parts.html makes of values."""
    macro = getattr(_templates().get_template("parts.html").module, name)
    return Markup(macro(*values))


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Markup:
    """Return a table; cells that are numbers stand to the right."""
    return _part("table", head, list(rows))


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


def link(target: str, text: str) -> Markup:
    """Return a paragraph that links a file beside the page."""
    return _part("link", target, text)


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


def page(title: str, lead: str, sections: Iterable[Markup], *, width: str = PAGE_WIDTH) -> str:
    """Return a whole document.

    Args:
        title: plain text, also the window's title.
        lead: plain text, one sentence under the title.
        sections: from `section`.
        width: greatest width of the text, as CSS has it.
    """
    return (
        _templates()
        .get_template("page.html")
        .render(title=title, lead=lead, sections=list(sections), width=width)
    )
