"""Figures 3 and 7 of the paper: the policy without role assignment, interaction, and small.

`Differs:` its budget is not printed; here a search has 2,000,000 env steps, as learners elsewhere.
"""

from itertools import product
from typing import Final

from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.methods import SearchMethod


def _label(size: str, *, assignment: bool, interaction: bool) -> str:
    """Return a name as the paper's legend has it: size, then what is switched on."""
    parts = [size, *(["ra"] if assignment else []), *(["ri"] if interaction else [])]
    return "_".join(parts)


EXPERIMENT: Final = Experiment(
    name="fig3_ablation",
    summary="What role assignment, role interaction and size do to the searched policy",
    tasks=(
        "manyagent_ant_6?obs=own",
        "manyagent_swimmer_6?obs=own",
        "pred_prey_3",
        "het_pred_prey_3",
    ),
    methods=tuple(
        SearchMethod(
            optimizer="dss_gp_ucb",
            policy="hom",
            policy_options={
                "size": size,
                "role_assignment": assignment,
                "role_interaction": interaction,
            },
            label=_label(size, assignment=assignment, interaction=interaction),
        )
        for size, assignment, interaction in product(("med", "sm"), (True, False), (True, False))
    ),
    env_steps=2_000_000,
    final_test_episodes=100,
)
"""Searches only, in the paper as here."""
