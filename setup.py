"""Maps the repository's folders under `rolecast`: every folder that holds Python is a package.

`platform/` has the name of a standard-library module, so it must never be importable by that
name: it carries no `__init__.py`, and only this mapping makes it `rolecast.platform`.
"""

import runpy
from pathlib import Path

from setuptools import setup

ROOMS: tuple[str, ...] = runpy.run_path(str(Path("rolecast", "rooms.py")))["ROOMS"]


def subpackages(room: str) -> list[str]:
    """Return the dotted paths, below `rolecast`, of a room and of its folders with Python in."""
    folders = {file.parent for file in Path(room).rglob("*.py")} | {Path(room)}
    return sorted(".".join(folder.parts) for folder in folders)


packages = [f"rolecast.{name}" for room in ROOMS for name in subpackages(room)]
setup(
    packages=["rolecast", "rolecast.testing", *packages],
    package_dir={"rolecast": "rolecast", **{f"rolecast.{room}": room for room in ROOMS}},
    package_data={
        "rolecast": ["py.typed"],
        **{name: ["*.csv", "templates/*.*"] for name in packages},
    },
)
