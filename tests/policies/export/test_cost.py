"""The operations of a step are those that its C carries out."""

from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from rolecast.envs.spec import TaskSpec
from rolecast.platform.deployment.compiler import run_program
from rolecast.policies.export.c99 import code_files, fixed_code_files
from rolecast.policies.export.cost import agent_step_cost, step_cost
from rolecast.policies.export.fixed import fixed_policies
from rolecast.policies.hom.policy import HomPolicy
from rolecast.policies.mlp import MlpPolicy
from rolecast.policies.registry import make_policy

STEPS: Final = 2000
"""Random observations, so that some step hears all messages."""

MAIN: Final = f"""
#ifdef INTEGERS
#define NUMBER short
#define DRAWN (short) (rand() % 16384 - 8192)
#else
#define NUMBER float
#define DRAWN 4.0f * (float) rand() / (float) RAND_MAX - 2.0f
#endif
#include <stdio.h>
#include <stdlib.h>
#include "rolecast_policy.h"
extern long products, tanhs;
int main(void)
{{
    static NUMBER o[ROLECAST_AGENTS * ROLECAST_OBSERVATION_SIZE];
    static NUMBER a[ROLECAST_AGENTS * ROLECAST_ACTION_SIZE];
    long most = 0, most_tanhs = 0;
    srand(3);
    for (int step = 0; step < {STEPS}; step++) {{
        products = tanhs = 0;
        for (unsigned i = 0; i < sizeof o / sizeof *o; i++) {{
            o[i] = DRAWN;
        }}
        rolecast_policy_step(o, a);
        most = products > most ? products : most;
        most_tanhs = tanhs > most_tanhs ? tanhs : most_tanhs;
    }}
    printf("%ld %ld", most, most_tanhs);
    return 0;
}}
"""


AGENT_MAIN: Final = """
#include <stdio.h>
#include "rolecast_policy.h"
extern long products, tanhs;
int main(void)
{
    static rolecast_agent team[ROLECAST_AGENTS];
    static unsigned char sent[ROLECAST_AGENTS][ROLECAST_MOST_BYTES];
    static float o[ROLECAST_OBSERVATION_SIZE], a[ROLECAST_ACTION_SIZE];
    for (int i = 0; i < ROLECAST_AGENTS; i++) {
        rolecast_agent_init(&team[i], i);
        o[0] = (float) i;
        rolecast_agent_observe(&team[i], o);
    }
    for (int phase = 0; phase < ROLECAST_PHASES; phase++) {
        for (int i = 0; i < ROLECAST_AGENTS; i++) {
            rolecast_agent_outgoing(&team[i], phase, sent[i]);
        }
        for (int i = 0; i < ROLECAST_AGENTS * ROLECAST_AGENTS; i++) {
            const int sender = i % ROLECAST_AGENTS;
            rolecast_agent_incoming(&team[i / ROLECAST_AGENTS], phase, sender, sent[sender]);
        }
    }
    for (int i = 0; i < ROLECAST_AGENTS; i++) {
        rolecast_agent_act(&team[i], a);
    }
    printf("%ld %ld", products, tanhs);
    return 0;
}
"""


@pytest.mark.parametrize("integers", [False, True], ids=["float32", "integers"])
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
    name: str, options: dict[str, Any], integers: bool, tmp_path: Path
) -> None:
    policy, files = _exported(name, options, one_agent=False, integers=integers)
    cost = step_cost(policy, integers=integers)
    assert _counted(files, MAIN, tmp_path) == (cost.multiply_adds, cost.tanhs)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"role_assignment": False},
        {"edges": "soft", "interaction": "coupled"},
        {"message_reads": "observation", "rounds": 1, "edges": "soft"},
        {"message_reads": "observation", "role_assignment": False},
        {"self_edges": True, "size": "sm", "rounds": 3, "edges": "soft"},
        {"self_edges": True, "rounds": 1},
    ],
    ids=str,
)
def test_an_agent_that_computes_alone_is_counted_by_itself(
    options: dict[str, Any], tmp_path: Path
) -> None:
    policy, files = _exported("hom", options, one_agent=True)
    products, tanhs = _counted(files, AGENT_MAIN, tmp_path)
    cost = agent_step_cost(policy)
    assert (products / 3, tanhs / 3) == (cost.multiply_adds, cost.tanhs)


def test_an_agent_of_a_shared_net_has_its_share_and_chooses_the_roles_of_all() -> None:
    policy, _ = _exported("mlp", {"hidden": [7, 5]}, one_agent=True)
    assert agent_step_cost(policy).multiply_adds == 5 * 7 + 7 * 5 + 5 * 2
    team, _ = _exported("hom", {"role_assignment": True}, one_agent=True)
    assert agent_step_cost(team).comparisons == step_cost(team).comparisons > 0


def _exported(
    name: str, options: dict[str, Any], *, one_agent: bool, integers: bool = False
) -> tuple[HomPolicy | MlpPolicy, dict[str, str]]:
    """Return a policy of random weights for three agents, and its code."""
    spec = TaskSpec(id="team", agents=3, observation_size=5, action_size=2, horizon=25)
    policy = make_policy(name, spec, **options)
    assert isinstance(policy, HomPolicy | MlpPolicy)
    weights = policy.space.weights(np.random.default_rng(0).random(policy.space.dimension))
    if integers:
        return policy, fixed_code_files(fixed_policies(policy, weights, 16)[0], remarks="a test")
    return policy, code_files(policy, weights, remarks="a test", one_agent=one_agent)


def _counted(files: dict[str, str], main: str, folder: Path) -> tuple[int, ...]:
    """Return the products and the values of tanh that a program has code compute."""
    code = files["rolecast_policy.c"].replace(
        '#include "rolecast_policy.h"', '#include "rolecast_policy.h"\nlong products, tanhs;', 1
    )
    for line, count in (
        ("sum = sum + *w++ * x[i];", "products++;"),
        ("s = x * x;", "tanhs++;"),
        ("receiver->state[u] = receiver->state[u] + *pair *", "products++;"),
        ("y[u] = y[u] + *w++ * x[i];", "products++;"),
        ("a->state[u] = a->state[u] + edge *", "products++;"),
        ("y[u] += *w++ * x[i];", "products++;"),
        ("sum += *w++ * x[i];", "products++;"),
        ("state[u] = (short)clip(state[u] + shifted(edge * heard", "products++;"),
        ("if (size < 64 * 256) {", "tanhs++;"),
    ):
        code = code.replace(line, f"{count} {line}")
    (folder / "rolecast_policy.h").write_text(files["rolecast_policy.h"])
    (folder / "rolecast_policy.c").write_text(code)
    (folder / "main.c").write_text(main)
    numbers = ["-DINTEGERS"] if "const short" in files["rolecast_policy.h"] else []
    flags = ["-std=gnu99", "-w", "-O1", *numbers]
    run_program(["cc", *flags, "-o", "main", "main.c", "rolecast_policy.c"], folder)
    return tuple(map(int, run_program(["./main"], folder).split()))
