"""Compiled kernels: kept on disk, and made anew when anything that went into them changes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rolecast.core.compiled import fingerprint
from rolecast.policies.mlp_fused import mlp_actions

KERNEL = """
from rolecast.core.compiled import compiled
from parts import SHIFT, double

@compiled
def kernel(x: float) -> float:
    return double(x) + SHIFT

print(kernel(1.0), sum(kernel.stats.cache_hits.values()))
"""
PARTS = """
from rolecast.core.compiled import inlined
from constants import SHIFT

@inlined
def double(x: float) -> float:
    return 2.0 * x
"""


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    (tmp_path / "kernel.py").write_text(KERNEL)
    (tmp_path / "parts.py").write_text(PARTS)
    (tmp_path / "constants.py").write_text("SHIFT = 1.0\n")
    return tmp_path


def result(folder: Path, **variables: str) -> tuple[float, int]:
    """Run the kernel in a new process; return its value and how often the cache served."""
    program = "import kernel"
    home = {"XDG_CACHE_HOME": str(folder / "cache")}
    run = subprocess.run(
        [sys.executable, "-B", "-c", program],
        cwd=folder,
        env={**os.environ, **home, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    value, hits = run.stdout.split()
    return float(value), int(hits)


def test_a_kernel_is_kept_until_a_part_or_a_constant_of_it_changes(kernel: Path) -> None:
    assert result(kernel) == (3.0, 0)
    assert result(kernel) == (3.0, 1)
    (kernel / "parts.py").write_text(PARTS.replace("2.0 * x", "5.0 * x"))
    assert result(kernel) == (6.0, 0)
    (kernel / "constants.py").write_text("SHIFT = 4.0\n")
    assert result(kernel) == (9.0, 0)
    assert result(kernel) == (9.0, 1)


def test_a_kernel_is_kept_whatever_its_path(kernel: Path) -> None:
    """As that of a submitted job, whose working folder is new each time."""
    assert result(kernel) == (3.0, 0)
    moved = kernel / "moved"
    moved.mkdir()
    for file in kernel.glob("*.py"):
        shutil.copyfile(file, moved / file.name)
    assert result(moved, XDG_CACHE_HOME=str(kernel / "cache")) == (3.0, 1)


def test_a_kernel_is_kept_where_numba_is_told_or_beside_its_file(kernel: Path) -> None:
    place = kernel / "told"
    assert result(kernel, NUMBA_CACHE_DIR=str(place)) == (3.0, 0)
    assert result(kernel, NUMBA_CACHE_DIR=str(place)) == (3.0, 1)
    assert list(place.rglob("*.nbi"))
    (kernel / "a_file").touch()
    beside = {"XDG_CACHE_HOME": str(kernel / "a_file")}
    assert result(kernel, **beside) == (3.0, 0)
    assert result(kernel, **beside) == (3.0, 1)
    assert list((kernel / "__pycache__").glob("*.nbi"))


def test_what_an_overload_stands_for_is_a_part_of_a_kernel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A workspace is taken by a plain function, whose body numba gets from another."""
    read = Path.read_bytes
    names: list[str] = []

    def noted(path: Path) -> bytes:
        names.append(path.name)
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", noted)
    fingerprint(vars(mlp_actions)["py_func"])
    assert "lane_arrays.py" in names
