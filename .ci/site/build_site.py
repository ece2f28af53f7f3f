"""Builds the site into build/site/VERSION: strict, offline, every link inside it checked.

mkdocs reads a copy of docs/ in build/site-sources, in which the reference has been written.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import yaml
from reference_pages import reference
from site_sources import ROOT, lay_out, title_of, write_indexes
from tutorial_pages import tutorial_page

import rolecast
from rolecast.rooms import ROOMS

WORK_FOLDER: Final = ROOT / "build" / "site-sources"
SITE_FOLDER: Final = ROOT / "build" / "site"

TUTORIALS_AT_ONCE: Final = 2
"""Processes that run tutorials side by side."""


def main() -> int:
    """Build; return mkdocs' exit status."""
    shutil.rmtree(WORK_FOLDER, ignore_errors=True)
    pages = WORK_FOLDER / "docs"
    lay_out(pages)
    write_indexes(pages)
    for path, text in reference().items():
        (pages / path).parent.mkdir(parents=True, exist_ok=True)
        (pages / path).write_text(text)
    scripts = sorted((pages / "tutorials").glob("*.py"))
    with ThreadPoolExecutor(TUTORIALS_AT_ONCE) as pool:
        for script, text in zip(scripts, pool.map(tutorial_page, scripts), strict=True):
            script.with_suffix(".md").write_text(text)
    copy_packages(WORK_FOLDER / "packages")
    config = WORK_FOLDER / "mkdocs.yml"
    config.write_text(yaml.safe_dump(settings(pages), sort_keys=False))
    options = ["--quiet", "--strict", "--config-file", str(config)]
    command = [sys.executable, "-m", "mkdocs", "build", *options]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}  # an announcement of the theme
    status = subprocess.run(command, cwd=WORK_FOLDER, env=environment, check=False).returncode
    if status == 0:
        write_versions()
    return status


def settings(pages: Path) -> dict[str, Any]:
    """Return mkdocs.yml with its folders expanded, for these pages."""
    read: dict[str, Any] = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
    (docstrings,) = (each for each in read["plugins"] if "mkdocstrings" in each)
    docstrings["mkdocstrings"]["handlers"]["python"]["paths"] = ["packages"]
    places = {"docs_dir": "docs", "site_dir": str(SITE_FOLDER / rolecast.__version__)}
    nav = expanded(read["nav"], pages)
    named = set(paths(nav))
    others = sorted(path for path in map(str, page_paths(pages)) if path not in named)
    return read | places | {"nav": [*nav, *([{"More": others}] if others else [])]}


def page_paths(pages: Path) -> list[Path]:
    """Return the paths of all pages."""
    return [file.relative_to(pages) for file in pages.rglob("*.md")]


def paths(nav: list[Any]) -> Iterator[str]:
    """Yield the pages that a navigation names."""
    for entry in nav:
        value = next(iter(entry.values())) if isinstance(entry, dict) else entry
        yield from paths(value) if isinstance(value, list) else [value]


def expanded(nav: list[Any], pages: Path) -> list[Any]:
    """Return a navigation in which a name that ends in / is the list of that folder's pages."""
    found: list[Any] = []
    for entry in nav:
        if isinstance(entry, str):
            found += folder_pages(entry, pages) if entry.endswith("/") else [entry]
            continue
        ((title, value),) = entry.items()
        if isinstance(value, str) and value.endswith("/"):
            value = folder_pages(value, pages, index=True)
        elif isinstance(value, list):
            value = expanded(value, pages)
        found.append({title: value})
    return found


def folder_pages(folder: str, pages: Path, *, index: bool = False) -> list[Any]:
    """Return the pages of a folder by name, its index first or left out."""
    files = sorted(
        (pages / folder).glob("*.md"), key=lambda file: (file.name != "index.md", file.name)
    )
    named = [file for file in files if index or file.name != "index.md"]
    return [
        str(file.relative_to(pages))
        if file.name == "index.md"
        else {title_of(file).replace("`", ""): str(file.relative_to(pages))}
        for file in named
    ]


def copy_packages(target: Path) -> None:
    """Lay out the sources as a wheel would install them, for the reader of docstrings."""
    package = target / "rolecast"
    shutil.copytree(ROOT / "rolecast", package, ignore=shutil.ignore_patterns("__pycache__"))
    for room in ROOMS:
        shutil.copytree(ROOT / room, package / room, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in {file.parent for file in package.rglob("*.py")} | {package / "platform"}:
        (folder / "__init__.py").touch()


def write_versions() -> None:
    """Write what the theme reads to offer several versions, and a first page that leads to ours.

    The folder has mike's layout: versions that were published before stay beside this one.
    """
    version = rolecast.__version__
    listed = [{"version": version, "title": version, "aliases": ["latest"]}]
    (SITE_FOLDER / "versions.json").write_text(json.dumps(listed))
    leads = f'<!doctype html><meta http-equiv="refresh" content="0; url={version}/index.html">\n'
    (SITE_FOLDER / "index.html").write_text(leads)


if __name__ == "__main__":
    sys.exit(main())
