"""Compiled kernels: kept on disk, and made anew when anything that went into them changes."""

import subprocess
import sys
from pathlib import Path

import pytest

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


def result(folder: Path) -> tuple[float, int]:
    """Run the kernel in a new process; return its value and how often the cache served."""
    program = "import kernel"
    run = subprocess.run(
        [sys.executable, "-B", "-c", program],
        cwd=folder,
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
