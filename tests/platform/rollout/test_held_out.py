"""Two held-out sets that share no seed, and the sealed one in the hands of table writers alone."""

import ast
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from rolecast.core.seeds import Purpose, episode_seeds
from rolecast.platform.rollout.held_out import DEVELOPMENT_SET, HELD_OUT_SETS, held_out_seeds
from rolecast.rooms import ROOMS

ROOT = Path(__file__).resolve().parents[3]
TABLE_WRITERS = {
    "benchmarks/main_table.py",
    "benchmarks/tasks.py",
    "tune_configs/broken_drones.py",
    "tune_configs/broken_swimmer.py",
    "tune_configs/ledger.py",
    "tune_configs/main_table.py",
    "tune_configs/policy_table.py",
}
"""What may name the sealed set."""

OWNERS = {"core/seeds.py", "platform/rollout/held_out.py"}


@cache
def sources() -> dict[str, set[str]]:
    """Return the names of every module, by its path."""
    return {
        file.relative_to(ROOT).as_posix(): names_of(ast.parse(file.read_text()))
        for part in (*ROOMS, "rolecast")
        for file in sorted((ROOT / part).rglob("*.py"))
    }


def users_of(name: str) -> set[str]:
    return {path for path, names in sources().items() if name in names}


def names_of(tree: ast.AST) -> set[str]:
    """Return names, attributes and imported names of a module, and its texts of one word."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.alias):
            found.add(node.name)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(f"text {node.value}")
    return found


def test_the_sets_share_no_seed_with_each_other_or_with_a_search() -> None:
    count = 10_000
    parts = [held_out_seeds(name, seed, count) for name in HELD_OUT_SETS for seed in (0, 1)]
    parts += [episode_seeds(root, Purpose.SEARCH, index, 500) for root in (0, 1, 800)
              for index in range(20)]  # fmt: skip
    others = set(Purpose) - {Purpose.SEARCH, Purpose.HELD_OUT, Purpose.SEALED}  # are there already
    parts += [episode_seeds(0, purpose, 0, count) for purpose in sorted(others)]
    together = np.concatenate(parts)
    assert len(np.unique(together)) == len(together)


def test_more_episodes_begin_with_the_same_ones() -> None:
    for name in HELD_OUT_SETS:
        np.testing.assert_array_equal(held_out_seeds(name, 1, 30)[:9], held_out_seeds(name, 1, 9))


def test_the_development_set_is_what_it_was() -> None:
    expected = episode_seeds(0, Purpose.HELD_OUT, 1, 12)
    np.testing.assert_array_equal(held_out_seeds(DEVELOPMENT_SET, 1, 12), expected)


def test_only_table_writers_name_the_sealed_set() -> None:
    users = users_of("SEALED_SET")
    assert users <= TABLE_WRITERS | OWNERS
    assert users_of("TABLE_HELD_OUT_SET") <= TABLE_WRITERS
    assert users >= {"tune_configs/main_table.py", "platform/rollout/held_out.py"}


@pytest.mark.parametrize("name", ["SEALED", "text sealed"])
def test_nobody_reaches_the_sealed_set_by_another_name(name: str) -> None:
    assert users_of(name) <= OWNERS
