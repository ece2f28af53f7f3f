"""Compiled kernels: kept on disk, and made anew when anything that went into them changes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rolecast.core import compiled
from rolecast.core.compiled import KernelFiles, fingerprint
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
    names: list[str] = []

    def noted(file: str) -> bytes:
        names.append(Path(file).name)
        return b""

    monkeypatch.setattr(compiled, "_source", noted)
    fingerprint(vars(mlp_actions)["py_func"])
    assert "lane_arrays.py" in names


BELOW = """
from rolecast.core.compiled import compiled, inlined
import constants

@compiled
def kernel(x: float) -> float:
    return late(x)

SHIFT = constants.SHIFT

@inlined
def late(x: float) -> float:
    return 2.0 * x + SHIFT

print(kernel(1.0), sum(kernel.stats.cache_hits.values()))
"""


def test_a_kernel_is_made_of_what_stands_below_it_too(kernel: Path) -> None:
    """It was stamped when it was decorated, before its file was read to the end."""
    (kernel / "kernel.py").write_text(BELOW)
    assert result(kernel) == (3.0, 0)
    (kernel / "constants.py").write_text("SHIFT = 4.0\n")
    assert result(kernel) == (6.0, 0)
    assert result(kernel) == (6.0, 1)


def shifted(x: float) -> float:
    """Stand for a kernel."""
    return x + 1.0


def files_in(folder: Path) -> KernelFiles:
    function: Any = shifted
    return KernelFiles(function, "shifted", folder, beside=str(folder))


def test_two_processes_never_keep_two_signatures_in_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each has read the index before the other has written it."""
    first, second = files_in(tmp_path), files_in(tmp_path)
    monkeypatch.setattr(KernelFiles, "_load_index", lambda _: {})
    first.save("float32", "code of float32")
    second.save("float64", "code of float64")
    monkeypatch.undo()
    kept = files_in(tmp_path)
    assert kept.load("float64") == "code of float64"
    assert kept.load("float32") is None  # forgotten, and compiled again
    assert len(list(tmp_path.glob("*.nbc"))) == 2


def test_a_full_disk_costs_compiling_and_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    files = files_in(tmp_path)
    monkeypatch.setattr(KernelFiles, "_save_data", full)
    files.save("float32", "code")
    files.save("float64", "code")
    assert files.load("float32") is None
    assert caplog.text.count("No space left on device") == 1
    assert str(tmp_path) in caplog.text


def test_a_file_that_changes_before_a_kernel_is_used_is_another_one(kernel: Path) -> None:
    """As by an upgrade while a process waits: its code was kept as that of the new file."""
    later = KERNEL.replace("print(", "import change\nprint(")
    (kernel / "kernel.py").write_text(later)
    change = "import pathlib\nfile = pathlib.Path('parts.py')\n"
    change += "file.write_text(file.read_text().replace('2.0 * x', '5.0 * x'))\n"
    (kernel / "change.py").write_text(change)
    assert result(kernel) == (3.0, 0)
    assert result(kernel) == (6.0, 0)
