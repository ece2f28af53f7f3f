"""Makes the files of settings that `told_settings` reads from config classes, which loads all.

`python -m tests.settings_files` writes them.
"""

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from rolecast.baselines.methods import LEARNER_SETTINGS
from rolecast.baselines.registry import ALGORITHMS, algorithm_config
from rolecast.core.lazy_table import Setting
from rolecast.platform.cli.documented import field_texts, settings_of
from rolecast.platform.optimizers.registry import (
    BASELINES,
    CAUSAL_SEARCHES,
    CONFIGURATIONS,
    OPTIMIZER_SETTINGS,
    OPTIMIZERS,
    optimizer_config_class,
)
from rolecast.policies.registry import POLICIES, POLICY_SETTINGS


def learner_settings() -> dict[str, list[Setting]]:
    """Return the settings of each algorithm, RLlib's own ones last."""
    told = {}
    for name in ALGORITHMS:
        config = algorithm_config(name)()
        texts = field_texts(type(config))
        told[name] = [
            Setting(
                setting,
                getattr(config, setting),
                texts.get(setting, "RLlib's own setting."),
                rule.expected,
            )
            for setting, rule in {**config.RULES, **config.RLLIB_RULES}.items()
        ]
    return told


def optimizer_settings() -> dict[str, list[Setting]]:
    """Return the settings of each optimiser: all that one of its configurations has."""
    told = {}
    for name in (*OPTIMIZERS, *BASELINES, *CAUSAL_SEARCHES):
        named: dict[str, Setting] = {}
        for config in (optimizer_config_class(name), *CONFIGURATIONS.get(name, {}).values()):
            named = {each.name: each for each in settings_of(config)} | named
        told[name] = list(named.values())
    return told


def policy_settings() -> dict[str, list[Setting]]:
    """Return the settings of each policy."""
    return {name: settings_of(config) for name, config in POLICIES.items()}


def text_of(told: Mapping[str, Iterable[Setting]]) -> str:
    """Return what a file should hold."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("name", "setting", "default", "values", "text"))
    for name, settings in told.items():
        for each in settings:
            default = json.dumps(each.default, default=str)
            writer.writerow((name, each.name, default, each.values, each.text))
    return text.getvalue()


SETTINGS_FILES: Final[Mapping[Path, Callable[[], dict[str, list[Setting]]]]] = {
    LEARNER_SETTINGS: learner_settings,
    OPTIMIZER_SETTINGS: optimizer_settings,
    POLICY_SETTINGS: policy_settings,
}
"""Each file, and what it should tell."""


if __name__ == "__main__":
    for file, settings_now in SETTINGS_FILES.items():
        file.write_text(text_of(settings_now()), encoding="utf-8")
