"""The import arrows of the design, between the rooms and inside `platform`.

Read from the sources, so that an arrow the wrong way fails even where nothing runs it.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from rolecast.rooms import ROOMS

ROOT = Path(__file__).resolve().parent.parent
MAX_LINES = 400
FILES = sorted(
    file for room in (*ROOMS, "rolecast", "tests") for file in (ROOT / room).rglob("*.py")
)
ROOM_FILES = [file for file in FILES if file.relative_to(ROOT).parts[0] in ROOMS]


def name(file: Path) -> str:
    return str(file.relative_to(ROOT))


def imported(file: Path) -> Iterator[str]:
    """Yield the dotted name of every import in a file, wherever in the file it stands."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name(file)} imports relatively; expected absolute imports"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("file", ROOM_FILES, ids=name)
def test_imports_follow_the_arrows(file: Path) -> None:
    room = file.relative_to(ROOT).parts[0]
    allowed = ROOMS[ROOMS.index(room) :]
    parts = [full.split(".") for full in imported(file)]
    rooms = {part[1] for part in parts if part[0] == "rolecast" and len(part) > 1}
    assert {other for other in rooms if other in ROOMS and other not in allowed} == set()


@pytest.mark.parametrize(
    "file", [file for file in ROOM_FILES if file.is_relative_to(ROOT / "envs")], ids=name
)
def test_tasks_know_neither_ray_nor_torch(file: Path) -> None:
    """Files named torch_*.py know torch, and are imported by each other alone."""
    names = {part for full in imported(file) for part in full.split(".")}
    assert "ray" not in names
    if not file.name.startswith("torch_"):
        assert {name for name in names if name == "torch" or name.startswith("torch_")} == set()


@pytest.mark.parametrize(
    "file", [file for file in ROOM_FILES if file.is_relative_to(ROOT / "policies")], ids=name
)
def test_policies_do_not_know_ray(file: Path) -> None:
    assert "ray" not in {full.split(".")[0] for full in imported(file)}


@pytest.mark.parametrize("file", FILES, ids=name)
def test_a_file_is_one_idea(file: Path) -> None:
    assert len(file.read_text().splitlines()) <= MAX_LINES


@pytest.mark.parametrize("file", ROOM_FILES, ids=name)
def test_a_file_says_why_it_exists(file: Path) -> None:
    assert ast.get_docstring(ast.parse(file.read_text()))


def test_no_folder_of_the_path_hides_a_module() -> None:
    assert [
        file for file in FILES if file.name == "__init__.py" and file.parent.name == "platform"
    ] == []
    assert list((ROOT / "tests").rglob("__init__.py")) == []
