"""What the documentation shows runs: Python examples, command lines, docstring examples.

Budgets on command lines are cut, so that a page takes seconds; Python examples run as printed.
Lines that need a cluster or install things have tests of their own.
"""

import doctest
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from rolecast.platform.cli.app import main
from rolecast.rooms import ROOMS

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "howto").glob("*.md")),
    *sorted((ROOT / "docs" / "notebook").glob("*.md")),
    *sorted((ROOT / "docs" / "tasks").glob("*.md")),
]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PAST_WORDS = re.compile(
    r"\b(?:formerly|no longer|used to be|since then|until now|until \d|previously)\b", re.IGNORECASE
)
SMALL = {
    "--env-steps": "3000",
    "--evaluations": "12",
    "--episodes": "40",
    "--max-loss": "100",
}
"""Values that replace the printed ones."""

ENTRY_POINT_GROUPS = {f"rolecast.{kind}" for kind in ("methods", "optimizers", "policies", "tasks")}
"""Dotted names that are no modules."""

ELSEWHERE = (
    "--address",
    "rolecast compare ",
    "my_package.",
    "ray job submit",
    "make ",
    "source ",
    "tensorboard",
)
"""Lines with these words need a cluster, the reader's own package, or an installation."""


def blocks(page: Path, language: str) -> list[str]:
    return [text for name, text in BLOCK.findall(page.read_text()) if name == language]


def commands(page: Path) -> list[str]:
    """Return the lines of all shell blocks that begin with rolecast."""
    lines = [line for block in blocks(page, "sh") for line in block.splitlines()]
    return [line for line in lines if line.startswith("rolecast ")]


def small(line: str) -> list[str]:
    """Return the words of a command after the program's name, budgets cut."""
    words = shlex.split(line, comments=True)[1:]
    for index, word in enumerate(words[:-1]):
        if word in SMALL and words[0] != "resume":
            words[index + 1] = SMALL[word]
        if word == "--env-steps" and words[0] == "resume":
            words[index + 1] = "+2000"
    return words


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    """Return a function that runs the Python examples of a page once, and returns their folder."""

    @cache
    def run(page: Path) -> Path:
        folder = tmp_path_factory.mktemp(page.stem)
        for code in blocks(page, "python"):
            command = [sys.executable, "-c", code]
            result = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, check=False
            )
            assert result.returncode == 0, result.stderr
        return folder

    return run


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_python_examples_run_as_printed(page: Path, ran: Callable[[Path], Path]) -> None:
    ran(page)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_command_lines_run_in_their_order(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for line in commands(page):
        if not any(word in line for word in ELSEWHERE):
            code = main(small(line))
            assert code == 0, f"{line}\n{capsys.readouterr().err}"


def test_the_graph_that_an_example_writes_is_read_by_the_command_beside_it(
    ran: Callable[[Path], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = ROOT / "docs" / "causal.md"
    (line,) = re.findall(r"`(rolecast causal [^`]* --graph drone\.json [^`]*)`", page.read_text())
    monkeypatch.chdir(ran(page))
    assert main([*small(line), "--rounds", "2", "--workers", "0"]) == 0


@pytest.mark.parametrize(
    ("pages", "most_words"), [("*.md", 1600), ("howto/*.md", 400), ("tips.md", 700)]
)
def test_guides_are_short(pages: str, most_words: int) -> None:
    found = {page.name: len(page.read_text().split()) for page in (ROOT / "docs").glob(pages)}
    assert found
    assert {name: words for name, words in found.items() if words > most_words} == {}


def test_guides_tell_no_history() -> None:
    """What was otherwise once stands in the changelog and in the notebook."""
    folder = ROOT / "docs"
    guides = [ROOT / "README.md", *folder.glob("*.md"), *folder.glob("howto/*.md")]
    found = {page.name: PAST_WORDS.findall(page.read_text()) for page in guides}
    assert {name: words for name, words in found.items() if words} == {}


def test_the_readme_is_one_screen() -> None:
    page = ROOT / "README.md"
    assert len(page.read_text().split()) <= 700
    (example,) = blocks(page, "python")
    assert len(example.splitlines()) <= 10


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_to_files_of_the_repository_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!http)([^)#]+)", page.read_text())
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.stem)
def test_files_that_pages_name_exist(page: Path) -> None:
    named = re.findall(rf"`((?:{'|'.join(ROOMS)}|docs|tests)/[\w./-]+\.\w+)`", page.read_text())
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.stem)
def test_dotted_names_that_pages_print_can_be_imported(page: Path) -> None:
    """Pages of the notebook tell of their own day, and may name what has gone since."""
    if page.parent.name != "notebook":
        named = set(re.findall(r"\brolecast(?:\.\w+)+", page.read_text()))
        assert {name for name in named - ENTRY_POINT_GROUPS if not importable(name)} == set()


def importable(dotted: str) -> bool:
    """Tell whether a name is a module, or an attribute of one."""
    parts, found = dotted.split("."), None
    for count in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(parts[:count]))
        except ModuleNotFoundError as error:
            if not str(error.name).startswith("rolecast"):
                return True  # it is there, and what it is for is not installed
            continue
        break
    for name in parts[count:]:
        if not hasattr(found, name):
            return False
        found = getattr(found, name)
    return found is not None


def modules_with_examples() -> list[str]:
    return [
        "rolecast." + ".".join(file.relative_to(ROOT).with_suffix("").parts)
        for room in ROOMS
        for file in sorted((ROOT / room).rglob("*.py"))
        if ">>> " in file.read_text()
    ]


@pytest.mark.parametrize("name", modules_with_examples())
def test_docstring_examples_run(name: str) -> None:
    result = doctest.testmod(import_module(name))
    assert result.attempted > 0
    assert result.failed == 0
