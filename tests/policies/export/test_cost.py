"""The operations of a step are those that its C carries out."""

from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from rolecast.envs.spec import TaskSpec
from rolecast.platform.deployment.compiler import run_program
from rolecast.policies.export.c99 import code_files
from rolecast.policies.export.cost import step_cost
from rolecast.policies.hom.policy import HomPolicy
from rolecast.policies.mlp import MlpPolicy
from rolecast.policies.registry import make_policy

STEPS: Final = 2000
"""Random observations, so that some step hears all messages."""

MAIN: Final = f"""
#include <stdio.h>
#include <stdlib.h>
#include "rolecast_policy.h"
extern long products, tanhs;
int main(void)
{{
    static float o[ROLECAST_AGENTS * ROLECAST_OBSERVATION_SIZE];
    static float a[ROLECAST_AGENTS * ROLECAST_ACTION_SIZE];
    long most = 0, most_tanhs = 0;
    srand(3);
    for (int step = 0; step < {STEPS}; step++) {{
        products = tanhs = 0;
        for (unsigned i = 0; i < sizeof o / sizeof *o; i++) {{
            o[i] = 4.0f * (float) rand() / (float) RAND_MAX - 2.0f;
        }}
        rolecast_policy_step(o, a);
        most = products > most ? products : most;
        most_tanhs = tanhs > most_tanhs ? tanhs : most_tanhs;
    }}
    printf("%ld %ld", most, most_tanhs);
    return 0;
}}
"""


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("mlp", {"hidden": [7, 5]}),
        ("linear", {}),
        ("hom", {}),
        ("hom", {"role_assignment": False}),
        ("hom", {"edges": "soft", "interaction": "coupled"}),
        ("hom", {"edges": "soft", "interaction": "coupled", "role_assignment": False}),
        ("hom", {"message_reads": "observation", "rounds": 1, "edges": "soft"}),
        ("hom", {"message_reads": "observation", "role_assignment": False, "edges": "soft"}),
        ("hom", {"self_edges": True, "size": "sm", "rounds": 3, "edges": "soft"}),
        ("hom", {"role_interaction": False}),
    ],
    ids=str,
)
def test_products_and_tanhs_are_counted_as_they_are_computed(
    name: str, options: dict[str, Any], tmp_path: Path
) -> None:
    spec = TaskSpec(id="team", agents=3, observation_size=5, action_size=2, horizon=25)
    policy = make_policy(name, spec, **options)
    assert isinstance(policy, HomPolicy | MlpPolicy)
    weights = policy.space.weights(np.random.default_rng(0).random(policy.space.dimension))
    files = code_files(policy, weights, remarks="a test")
    code = files["rolecast_policy.c"].replace(
        '#include "rolecast_policy.h"', '#include "rolecast_policy.h"\nlong products, tanhs;', 1
    )
    for line, count in (
        ("sum = sum + *w++ * x[i];", "products++;"),
        ("s = x * x;", "tanhs++;"),
        ("receiver->state[u] = receiver->state[u] + *pair *", "products++;"),
    ):
        code = code.replace(line, f"{count} {line}")
    (tmp_path / "rolecast_policy.h").write_text(files["rolecast_policy.h"])
    (tmp_path / "rolecast_policy.c").write_text(code)
    (tmp_path / "main.c").write_text(MAIN)
    run_program(
        ["cc", "-std=gnu99", "-w", "-O1", "-o", "main", "main.c", "rolecast_policy.c"], tmp_path
    )
    counted = tuple(map(int, run_program(["./main"], tmp_path).split()))
    cost = step_cost(policy)
    assert counted == (cost.multiply_adds, cost.tanhs)
