"""Makes the file of the learners' settings from their config classes, which loads RLlib.

`python -m tests.baselines.settings_rows` writes it.
"""

import csv
import io
import json

from rolecast.baselines.registry import ALGORITHMS, algorithm_config
from rolecast.baselines.settings_file import SETTINGS_FILE
from rolecast.platform.cli.documented import field_texts


def settings_text() -> str:
    """Return what the file should hold."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("learner", "setting", "default", "values", "text"))
    for name in ALGORITHMS:
        config = algorithm_config(name)()
        texts = field_texts(type(config))
        for setting, rule in {**config.RULES, **config.RLLIB_RULES}.items():
            default = json.dumps(getattr(config, setting))
            meaning = texts.get(setting, "RLlib's own setting.")
            writer.writerow((name, setting, default, rule.expected, meaning))
    return text.getvalue()


if __name__ == "__main__":
    SETTINGS_FILE.write_text(settings_text(), encoding="utf-8")
