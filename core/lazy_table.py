"""Registry whose entries are imported when they are asked for, and described without an import."""

import ast
import inspect
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic, TypeVar

T = TypeVar("T")


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
