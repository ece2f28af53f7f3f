"""Table 1 of the paper: the part of table 4 that is dense or sparse."""

from dataclasses import replace
from typing import Final

from rolecast.tune_configs import table4
from rolecast.tune_configs.parts import ONE_NET, SINGLE_AGENT, learners

EXPERIMENT: Final = replace(
    table4.EXPERIMENT,
    name="table1",
    summary="Single agents under sparse reward",
    rewards=("dense", *(f"sparse={steps}" for steps in (2, 5, 20, 50, 100, 200))),
    methods=(ONE_NET, *learners(SINGLE_AGENT)),
    paper="table1",
)
"""The same runs as those of table 4."""
