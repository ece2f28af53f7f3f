"""Registries whose entries are loaded when asked for, and described from their source."""

import inspect
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from rolecast.core.errors import RequestError
from rolecast.core.lazy_table import LazyTable
from rolecast.envs.rewards.settings import RewardSettings
from rolecast.platform.cli.documented import field_texts
from rolecast.platform.deployment.config import ExportConfig
from rolecast.platform.optimizers.registry import (
    BASELINES,
    CAUSAL_SEARCHES,
    OPTIMIZERS,
    optimizer_config_class,
    optimizer_names,
    optimizer_summary,
)
from rolecast.platform.search.planning.config import SearchConfig
from rolecast.policies.registry import policy_config, policy_names, policy_summary
from tests.settings_files import SETTINGS_FILES, text_of


def test_an_entry_is_loaded_when_it_is_asked_for() -> None:
    table: LazyTable[Any] = LazyTable(
        {"fractions": "fractions:Fraction", "absent": "no_such_module:Thing"}
    )
    assert list(table) == ["fractions", "absent"]
    assert len(table) == 2
    assert table["fractions"](1, 2).numerator == 1
    with pytest.raises(ModuleNotFoundError):
        table["absent"]
    with pytest.raises(KeyError):
        table["other"]


@pytest.mark.parametrize("name", optimizer_names())
def test_the_summary_of_an_optimiser_is_that_of_its_class(name: str) -> None:
    assert (
        optimizer_summary(name)
        == (inspect.getdoc(optimizer_config_class(name)) or "").split("\n")[0]
    )


@pytest.mark.parametrize("name", policy_names())
def test_the_summary_of_a_policy_is_that_of_its_class(name: str) -> None:
    assert policy_summary(name) == (inspect.getdoc(policy_config(name)) or "").split("\n")[0]


def test_unknown_names_are_refused_without_loading_any() -> None:
    with pytest.raises(RequestError, match="did you mean 'snes'"):
        optimizer_summary("sness")
    with pytest.raises(RequestError, match="did you mean 'linear'"):
        policy_summary("linea")


@pytest.mark.parametrize("file", SETTINGS_FILES, ids=lambda file: file.parent.name)
def test_settings_that_are_told_without_their_classes_are_those_of_the_classes(file: Path) -> None:
    """Written anew by: python -m tests.settings_files."""
    assert file.read_text(encoding="utf-8") == text_of(SETTINGS_FILES[file]())


@pytest.mark.parametrize("file", SETTINGS_FILES, ids=lambda file: file.parent.name)
def test_a_sentence_about_a_setting_has_at_most_20_words(file: Path) -> None:
    """Settings' texts are the user's manual; a list of names counts as a sentence too."""
    assert (
        long_sentences(each.text for told in SETTINGS_FILES[file]().values() for each in told) == []
    )


@pytest.mark.parametrize("config", [SearchConfig, RewardSettings, ExportConfig])
def test_a_sentence_about_an_option_has_at_most_20_words(config: type) -> None:
    assert long_sentences(field_texts(config).values()) == []


def long_sentences(texts: Iterable[str]) -> list[str]:
    """Return the sentences of more than 20 words."""
    sentences = (sentence for text in texts for sentence in re.split(r"(?<=[.!?])\s+", text))
    return [sentence for sentence in sentences if len(sentence.split()) > 20]


HEAVY = ("ray", "torch", "botorch", "gpytorch", "numba", "pandas", "pyarrow", "scipy")


QUICK_COMMANDS = (
    ["--help"],
    ["optimizers"],
    *(["optimizers", name] for name in (*OPTIMIZERS, *BASELINES, *CAUSAL_SEARCHES)),
    ["optimizers", "turbo", "--json"],
    ["optimizers", "turbbo"],
    ["policies"],
    ["policies", "hom"],
    ["learners"],
    ["learners", "mappo"],
    ["learners", "mapo"],
    ["search", "--help"],
    ["search", "pred_prey_33x"],
    ["search", "pred_prey_3", "--optimizer", "sness"],
    ["search", "pred_prey_3", "--policy", "hmo"],
    ["search", "pred_prey_3", "--out", "."],
)


def test_no_quick_command_loads_anything_heavy() -> None:
    """Seconds depend on the machine; what they are spent on does not.

    All run in one process, one after the other; the first that loads something is named.
    """
    code = f"""
import sys
from rolecast.platform.cli.app import main
for words in {QUICK_COMMANDS!r}:
    main(words)
    loaded = [name for name in {HEAVY!r} if name in sys.modules]
    if loaded:
        raise SystemExit(f"{{words}} loads {{loaded}}")
"""
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr.splitlines()[-1]
