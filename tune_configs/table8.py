"""Table 8 of the paper: the runs of table 5, each learner by the best policy that it ever had."""

from dataclasses import replace
from typing import Final

from rolecast.tune_configs import table5

EXPERIMENT: Final = replace(
    table5.EXPERIMENT,
    name="table8",
    summary=f"{table5.EXPERIMENT.summary}, best policy so far",
    paper="table8",
)
"""The same runs as those of table 5."""
