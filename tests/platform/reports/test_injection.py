"""Names in a folder from a stranger stay text in a report: no script, no link, no other page."""

import json
from collections.abc import Callable
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from rolecast.core.errors import RequestError
from rolecast.platform.reports import page as page_module
from rolecast.platform.reports.run import write_report

FILES = ("run.json", "history.parquet", "incumbents.parquet", "summary.json", "measurements.json")

PAYLOADS = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "javascript:alert(1)",
    "</title></style><iframe src=//evil.example>",
    "{{ 7 * 191 }}",
)

FREE_TEXT = ("optimizer", "rolecast", "python", "ray", "torch", "numpy", "out", "address", "task")
"""Fields of run.json and summary.json that a report or a check of it does not look up."""


def changed(value: Any, change: Callable[[str], str], key: str = "") -> Any:
    """Return a JSON value with another text in each field of `FREE_TEXT`."""
    if isinstance(value, dict):
        return {name: changed(item, change, name) for name, item in value.items()}
    if isinstance(value, list):
        return [changed(item, change, key) for item in value]
    return change(value) if isinstance(value, str) and key in FREE_TEXT else value


def poisoned(small_run: Path, folder: Path, payload: str, *, task_id: bool) -> Path:
    """Copy a run whose texts contain a payload."""
    for name in FILES:
        (folder / name).write_bytes((small_run / name).read_bytes())
    for name in ("run.json", "summary.json", "measurements.json"):
        content = json.loads((folder / name).read_text())
        content.pop("seal", None)
        content = changed(content, lambda text: text + payload)
        if task_id and name == "run.json":
            content["task"]["id"] += payload
        (folder / name).write_text(json.dumps(content))
    return folder


class Elements(HTMLParser):
    """The elements of a page, as a browser reads them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.scripts: list[str] = []
        self.attributes: set[tuple[str, str]] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "script":
            self.scripts.append(dict(attrs).get("type") or "")
        self.tags.add(tag)
        self.attributes |= {(name, value or "") for name, value in attrs}


def code_of_charts() -> str:
    """Return the one script of a report, which is the project's own."""
    folder = Path(page_module.__file__).parent / "templates"
    code = "".join((folder / name).read_text() for name in page_module.CHART_FILES[1:])
    return f"<script>{code}</script>"


def require_harmless(page: str) -> None:
    """Fail unless a page runs nothing but the code of its charts, and loads nothing."""
    found = Elements(page.replace(code_of_charts(), "", 1))
    assert set(found.scripts) <= {"application/json"}
    assert not found.tags & {"iframe", "object", "embed", "link", "base", "form"}
    for name, value in found.attributes:
        assert not name.startswith("on")
        if name == "src":
            assert value.startswith("data:image/")
        if name == "href":
            assert value == "play.html"


@pytest.mark.parametrize("payload", PAYLOADS)
def test_texts_of_a_folder_are_escaped_in_its_report(
    small_run: Path, tmp_path: Path, payload: str
) -> None:
    text = write_report(poisoned(small_run, tmp_path, payload, task_id=False)).read_text()
    assert payload in unescape(text)
    assert "1337" not in text
    require_harmless(text)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_task_whose_name_is_a_payload_is_refused_in_a_sentence(
    small_run: Path, tmp_path: Path, payload: str
) -> None:
    folder = poisoned(small_run, tmp_path, payload, task_id=True)
    with pytest.raises(RequestError) as refused:
        write_report(folder)
    assert "\n" not in str(refused.value)


def test_a_harmful_page_is_seen() -> None:
    for page in ("<script>", '<img src="x">', '<p onclick="x">', '<a href="javascript:x">'):
        with pytest.raises(AssertionError):
            require_harmless(page)
