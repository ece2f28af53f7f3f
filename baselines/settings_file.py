"""Settings of every algorithm, told from a file: the config classes would load RLlib.

The file is made from the config classes, and a test compares it with them.
"""

import csv
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

SETTINGS_FILE: Final = Path(__file__).with_name("settings.csv")
"""Columns: learner, setting, default (JSON), values (in words), text."""


@cache
def settings_of_learners() -> Mapping[str, Mapping[str, tuple[Any, str, str]]]:
    """Return default, allowed values and meaning of each setting, by learner.

    >>> settings_of_learners()["td3"]["tau"][:2]
    (0.005, 'a number in (0, 1]')
    """
    told: dict[str, dict[str, tuple[Any, str, str]]] = {}
    with SETTINGS_FILE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            settings = told.setdefault(row["learner"], {})
            settings[row["setting"]] = json.loads(row["default"]), row["values"], row["text"]
    return told
