"""Lays out the sources of the site: the pages of docs/, what they link to, and generated pages.

Pages are written for GitHub. On the site a file outside docs/ lies in `sources/`, a link to a
folder leads to its `index.md`, one to a tutorial to its page, and a list has a line before it.
"""

import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent.parent
DOCS_FOLDER: Final = ROOT / "docs"
TUTORIALS_FOLDER: Final = DOCS_FOLDER / "tutorials"

LINK_TARGET: Final = re.compile(r"(?<=\]\()(?!\w+:|#)([^)#\s]+)")
LIST_ITEM: Final = re.compile(r"^(\s*)([-*]|\d+\.) ")
CODE_FENCE: Final = "```"

RESULT_TEXTS: Final = {".md": "page", ".csv": "table", ".json": "data", ".png": "picture"}
"""What the index of results calls files by their endings."""

INDEX_HEADS: Final = {"notebook": "Notebook: what was tried, and when", "results": "Results"}
"""Headings of indexes by the folder."""


def lay_out(target: Path) -> None:
    """Copy docs/ to a folder, with all files that its pages link to, fit for the site."""
    ignore = shutil.ignore_patterns("unfinished")
    shutil.copytree(DOCS_FOLDER, target, dirs_exist_ok=True, ignore=ignore)
    waiting = [*sorted(DOCS_FOLDER.rglob("*.md")), ROOT / "CONTRIBUTING.md"]
    seen = set(waiting)
    while waiting:
        page = waiting.pop()
        place = target / site_path(page)
        place.parent.mkdir(parents=True, exist_ok=True)
        if page.suffix != ".md":
            shutil.copy(page, place)
            continue
        text, outside = with_site_links(page)
        place.write_text(with_lists(text))
        waiting += outside - seen
        seen |= outside


def site_path(file: Path) -> Path:
    """Return where a file of the repository lies in the site."""
    if file.is_relative_to(DOCS_FOLDER):
        return file.relative_to(DOCS_FOLDER)
    return Path("sources") / file.relative_to(ROOT)


def with_site_links(page: Path) -> tuple[str, set[Path]]:
    """Return a page with links as the site has them, and the files outside docs/ that it names."""
    outside = set()

    def on_site(match: re.Match[str]) -> str:
        file = (page.parent / match[1]).resolve()
        if file.is_dir():
            file /= "index.md"
        elif file.parent == TUTORIALS_FOLDER:
            file = file.with_suffix(".md")
        elif file.exists() and not file.is_relative_to(DOCS_FOLDER):
            outside.add(file)
        elif not file.exists():
            return match[1]
        return os.path.relpath(site_path(file), site_path(page).parent)

    return LINK_TARGET.sub(on_site, page.read_text()), outside


def with_lists(text: str) -> str:
    """Return a page with an empty line before each list."""
    lines: list[str] = []
    fenced = False
    for line in text.splitlines():
        before = lines[-1] if lines else ""
        starts = LIST_ITEM.match(line) and before.strip() and not LIST_ITEM.match(before)
        if starts and not fenced and not before.startswith(" "):
            lines.append("")
        fenced ^= line.lstrip().startswith(CODE_FENCE)
        lines.append(line)
    return "\n".join(lines) + "\n"


def write_indexes(target: Path) -> None:
    """Write an index into each folder of results and of pages that has none."""
    folders = [
        target / "notebook",
        target / "results",
        *sorted(path for path in (target / "results").iterdir() if path.is_dir()),
    ]
    for folder in folders:
        write_index(folder, sorted(path for path in folder.iterdir() if path.name != "index.md"))


def write_index(folder: Path, files: Iterable[Path]) -> None:
    """Write the index of one folder: its pages and tables as a list, its pictures shown."""
    listed, pictures = [], []
    for file in files:
        if file.is_dir():
            listed.append(f"| [{file.name}]({file.name}/index.md) | folder |")
        elif file.suffix == ".png":
            pictures.append(f"![{file.stem}]({file.name})")
        else:
            title = title_of(file) if file.suffix == ".md" else file.name
            listed.append(f"| [{title}]({file.name}) | {RESULT_TEXTS[file.suffix]} |")
    head = INDEX_HEADS.get(folder.name, f"Results of {folder.name}")
    text = "\n".join(["| file | what it is |", "|---|---|", *listed])
    (folder / "index.md").write_text(f"# {head}\n\n{text}\n\n" + "\n\n".join(pictures) + "\n")


def title_of(page: Path) -> str:
    """Return the first heading of a page."""
    return page.read_text().splitlines()[0].removeprefix("# ")
