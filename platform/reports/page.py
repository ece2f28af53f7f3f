"""The frame of a report: one HTML file that needs no other file and no network."""

import html
from collections.abc import Iterable, Sequence
from typing import Final

_PAGE_STYLE: Final = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 60rem; margin: 2rem auto;
       padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: 0; } h2 { font-size: 1.15rem; margin-top: 2rem; }
p.lead { color: #555; margin-top: .2rem; }
img { max-width: 100%; }
table { border-collapse: collapse; margin: .5rem 0; }
td, th { text-align: left; padding: .2rem 1.2rem .2rem 0; border-bottom: 1px solid #e5e5e5;
         vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
code { background: #f4f4f4; padding: 0 .25rem; }
"""


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return an HTML table; cells that are numbers stand to the right."""
    lines = ["".join(_cell("th", name, number=False) for name in head)] if head else []
    lines += [
        "".join(_cell("td", cell, number=isinstance(cell, int | float)) for cell in row)
        for row in rows
    ]
    return "<table>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>"


def _cell(tag: str, content: object, *, number: bool) -> str:
    text = f"{content:,.4g}" if isinstance(content, float) else str(content)
    if isinstance(content, int) and not isinstance(content, bool):
        text = f"{content:,}"
    attribute = ' class="number"' if number else ""
    return f"<{tag}{attribute}>{html.escape(text)}</{tag}>"


def section(title: str, *parts: str) -> str:
    """Return a heading and what stands under it; parts are HTML."""
    return f"<h2>{html.escape(title)}</h2>" + "".join(parts)


def paragraph(text: str) -> str:
    """Return plain text as a paragraph."""
    return f"<p>{html.escape(text)}</p>"


def page(title: str, lead: str, sections: Iterable[str]) -> str:
    """Return a whole document.

    Args:
        title: plain text, also the window's title.
        lead: plain text, one sentence under the title.
        sections: HTML, from `section`.
    """
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{html.escape(title)}</title><style>{_PAGE_STYLE}</style></head><body>"
        f'<h1>{html.escape(title)}</h1><p class="lead">{html.escape(lead)}</p>'
        + "".join(sections)
        + "</body></html>\n"
    )
