"""Parts of pages that a command writes: between two marks, which say which command it is."""

from pathlib import Path

from rolecast.core.errors import RequestError


def fill_region(page: Path, begin: str, end: str, text: str) -> bytes:
    """Return a page with the text between two marks replaced.

    Args:
        page: the file.
        begin: line before the region.
        end: line after it.
        text: new lines of the region, the last one ended.

    Raises:
        RequestError: the page is not there, or has no such region.
    """
    if not page.is_file():
        raise RequestError(f"{page} is no file; expected a page with a region for results")
    before, found, rest = page.read_text().partition(begin)
    _, ended, after = rest.partition(end)
    if not found or not ended:
        raise RequestError(f"{page} has no region for results; expected {begin} … {end}")
    return f"{before}{begin}\n{text}{end}{after}".encode()
