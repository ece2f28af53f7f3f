"""Table 7 of the paper: the runs of table 4, each learner by the best policy that it ever had."""

from dataclasses import replace
from typing import Final

from rolecast.tune_configs import table4

EXPERIMENT: Final = replace(
    table4.EXPERIMENT,
    name="table7",
    summary=f"{table4.EXPERIMENT.summary}, best policy so far",
    paper="table7",
)
"""The same runs as those of table 4."""
