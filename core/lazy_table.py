"""Registry whose entries are imported when they are asked for, and described without an import."""

import ast
import csv
import inspect
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic, TypeVar

from rolecast.core.errors import RequestError, first_line, unknown_name

T = TypeVar("T")


@dataclass(frozen=True)
class Setting:
    """One field of a config class, as it is told to users."""

    name: str
    default: Any
    """The default as a value; None where a value must be given."""

    text: str
    """What stands under the field."""

    values: str = ""
    """Those it may have, in words; empty where they stand in `text`."""


class LazyTable(Mapping[str, T], Generic[T]):
    """Read-only table from name to what stands at a place, as in "package.module:Class"."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = dict(places)

    def __getitem__(self, name: str) -> T:
        module, _, attribute = self._places[name].partition(":")
        found: T = getattr(import_module(module), attribute)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def summary(self, name: str) -> str:
        """Return the first line of a class's docstring, read from its source.

        Raises:
            KeyError: there is no such name.
        """
        return class_summary(self._places[name])


class Registry(Generic[T]):
    """Classes by name: those of this project, and entry points of other packages."""

    def __init__(self, kind: str, group: str, *tables: LazyTable[T]) -> None:
        """Load nothing.

        Args:
            kind: what a name is called in an error.
            group: of the entry points.
            tables: of this project.
        """
        self._kind, self._group, self._tables = kind, group, tables

    def names(self) -> list[str]:
        """Return all names, sorted."""
        others = (entry.name for entry in entry_points(group=self._group))
        return sorted({*(name for table in self._tables for name in table), *others})

    def load(self, name: str) -> T:
        """Return the class of a name.

        Raises:
            RequestError: nothing has this name, and offers the nearest; or the package that offers
                it fails to load, or offers no dataclass.
        """
        for table in self._tables:
            if name in table:
                return table[name]
        for entry in entry_points(group=self._group, name=name):
            loaded: T = _dataclass(entry, f"{self._kind} {name!r}")
            return loaded
        raise unknown_name(self._kind, name, self.names())

    def summary(self, name: str) -> str:
        """Return the first line of a class's docstring; one of this project is not loaded.

        One that cannot be loaded does not end a list of all: the line then says why.

        Raises:
            RequestError: nothing has this name; offers the nearest.
        """
        for table in self._tables:
            if name in table:
                return table.summary(name)
        for entry in entry_points(group=self._group, name=name):
            try:
                return (inspect.getdoc(_dataclass(entry, "")) or "").split("\n")[0]
            except RequestError as error:
                return str(error)
        raise unknown_name(self._kind, name, self.names())


def load_entry(entry: EntryPoint, what: str) -> Any:
    """Return what an entry point of another package names.

    Raises:
        RequestError: says of `what`, such as "task 'maze'", why it cannot be loaded; empty: of
            whatever the reader sees beside it.
    """
    try:
        return entry.load()
    except Exception as error:
        raise _unloaded(entry, what, f"{type(error).__name__} ({first_line(error)})") from error


def _dataclass(entry: EntryPoint, what: str) -> Any:
    """Return the dataclass of an entry point; errors as of `load_entry`."""
    loaded = load_entry(entry, what)
    if not (isinstance(loaded, type) and is_dataclass(loaded)):
        raise _unloaded(entry, what, "it is no dataclass")
    return loaded


def _unloaded(entry: EntryPoint, what: str, reason: str) -> RequestError:
    return RequestError(f"{what} cannot be loaded from {entry.value}: {reason}".lstrip())


def class_summary(place: str) -> str:
    """Return the first line of a class's docstring; its module is read, not imported.

    Args:
        place: of a class that its module defines or imports, as in "package.module:Class".

    >>> class_summary("rolecast.core.lazy_table:LazyTable")
    'Read-only table from name to what stands at a place, as in "package.module:Class".'
    """
    module, _, attribute = place.partition(":")
    found = find_spec(module)
    assert found is not None, f"a registry names {module}"
    assert found.origin is not None, f"{module} is a file"
    tree = ast.parse(Path(found.origin).read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == attribute:
            return inspect.cleandoc(ast.get_docstring(node) or "").split("\n")[0]
    loaded: Any = getattr(import_module(module), attribute)
    return (inspect.getdoc(loaded) or "").split("\n")[0]


@cache
def told_settings(file: Path) -> Mapping[str, tuple[Setting, ...]]:
    """Return the settings of each name, in their order; their classes are not imported.

    Args:
        file: made by `python -m tests.settings_files` of the config classes, with which a test
            compares it. Columns: name, setting, default (JSON), values, text.
    """
    told: dict[str, tuple[Setting, ...]] = {}
    with file.open(encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows):
            default = json.loads(row["default"])
            setting = Setting(row["setting"], default, row["text"], row["values"])
            told[row["name"]] = (*told.get(row["name"], ()), setting)
    return told
