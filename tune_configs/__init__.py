"""Experiments as data: one module each, with an `EXPERIMENT`; `rolecast compare NAME` runs it."""

from typing import Final

EXPERIMENTS: Final = (
    "quickstart",
    "dial",
    "dial_long",
    "broken_drones",
    "broken_swimmer",
    "hopper",
    "single_agent",
    "table1",
    "table4",
    "table5",
    "table7",
    "table8",
    "fig3_ablation",
    "fig4_drone",
    "fig5_scaling",
    "mcbo_fig2",
    "fig9_hdbo",
    "fig9_teams",
    "fig9_ant",
    "duets_policies",
)
"""Names of the experiments that come with this project."""

TABLES: Final = ("main_table", "ledger", "policy_table")
"""Modules with a `TABLE`: heading to experiments, run by `rolecast bench`."""

BANDIT_GRIDS: Final = ("duets_fig1",)
"""Modules with the grid of a bandit's figure, run by `rolecast bench duets`."""
