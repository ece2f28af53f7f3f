"""Robots that compute alone and exchange messages do what one device does, bit by bit."""

import re
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from rolecast.envs.spec import TaskSpec
from rolecast.platform.deployment.compiler import run_check, run_program
from rolecast.policies.export.c99 import (
    COMPILER_FLAGS,
    check_program,
    code_files,
    message_phases,
)
from rolecast.policies.export.reference import reference
from rolecast.policies.export.vectors import drawn_observations
from rolecast.policies.hom.policy import HomPolicy
from rolecast.policies.registry import make_policy

WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror")
SANITIZERS = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
TEAMS: list[tuple[int, dict[str, Any]]] = [
    (3, {"role_assignment": False}),
    (3, {"role_assignment": True}),
    (1, {"role_assignment": True}),
    (3, {"role_interaction": False, "size": "sm"}),
    (4, {"role_interaction": False, "role_assignment": True}),
    (3, {"rounds": 1, "self_edges": True}),
    (5, {"rounds": 4, "self_edges": True, "interaction": "coupled", "message_width": 3}),
    (12, {"message_reads": "observation", "edges": "soft", "rounds": 3, "message_width": 5}),
]


def made(agents: int, options: dict[str, Any]) -> tuple[HomPolicy, Any]:
    spec = TaskSpec(id="team", agents=agents, observation_size=6, action_size=2, horizon=25)
    policy = make_policy("hom", spec, **options)
    assert isinstance(policy, HomPolicy)
    return policy, policy.space.weights(np.random.default_rng(9).random(policy.space.dimension))


CALL: Final = "(void)rolecast_agent_outgoing(&team[i], phase, messages[i]);"


@pytest.mark.parametrize("again", [False, True], ids=["once", "again"])
@pytest.mark.parametrize(("agents", "options"), TEAMS, ids=str)
def test_a_team_of_devices_acts_as_one_device_does(
    agents: int, options: dict[str, Any], again: bool, tmp_path: Path
) -> None:
    """Also where each device asks for its message a second time, as to send it again."""
    policy, weights = made(agents, options)
    observations = drawn_observations(240, agents, 6, 10.0, np.random.default_rng(4))
    expected = reference(policy, weights)(observations)
    phases = len(message_phases(policy.model))
    program = check_program(observations, expected, remarks="a test", phases=phases)
    program = program.replace(CALL, CALL * 2) if again else program
    files = code_files(policy, weights, remarks="a test", one_agent=True)
    for name, text in {**files, "main_test.c": program}.items():
        (tmp_path / name).write_text(text)
    for flags in (("-Os", *WARNINGS), SANITIZERS):
        run_check(tmp_path, "cc", [*COMPILER_FLAGS, *flags])


STRANGERS: Final = """
#include <stdlib.h>
#include <string.h>
#include "rolecast_policy.h"
int main(void)
{
    static const int senders[] = {-1, 0, ROLECAST_AGENTS, 200, 255, 100000};
    static unsigned char message[ROLECAST_MOST_BYTES];
    static float observation[ROLECAST_OBSERVATION_SIZE];
    rolecast_agent *a = malloc(sizeof *a), before;
    int phase, i, changed = 0;
    rolecast_agent_init(a, 0);
    rolecast_agent_observe(a, observation);
    for (phase = 0; phase < ROLECAST_PHASES; phase++) {
        (void)rolecast_agent_outgoing(a, phase, message);
        memcpy(&before, a, sizeof before);
        memset(message, 1, sizeof message);
        for (i = 0; i < 6; i++) {
            rolecast_agent_incoming(a, phase, senders[i], message);
        }
        changed += memcmp(&before, a, sizeof before) != 0;
    }
    free(a);
    return changed;
}
"""


@pytest.mark.parametrize(
    "options", [{"role_assignment": True}, {"role_assignment": False}], ids=str
)
def test_a_sender_that_is_no_other_agent_changes_nothing(
    options: dict[str, Any], tmp_path: Path
) -> None:
    policy, weights = made(3, options)
    files = code_files(policy, weights, remarks="a test", one_agent=True)
    for name, text in {**files, "main_test.c": STRANGERS}.items():
        (tmp_path / name).write_text(text)
    run_check(tmp_path, "cc", [*COMPILER_FLAGS, *SANITIZERS])


@pytest.mark.parametrize("one_agent", [False, True], ids=["team", "agent"])
def test_a_program_in_cpp_calls_the_c(one_agent: bool, tmp_path: Path) -> None:
    policy, weights = made(3, {})
    files = code_files(policy, weights, remarks="a test", one_agent=one_agent)
    call = (
        "rolecast_agent a; rolecast_agent_init(&a, 0);"
        if one_agent
        else "float o[3 * 6] = {}, a[3 * 2]; rolecast_policy_step(o, a);"
    )
    main = f'#include "rolecast_policy.h"\nint main() {{ {call} return 0; }}\n'
    for name, text in {**files, "main.cpp": main}.items():
        (tmp_path / name).write_text(text)
    run_program(["cc", *COMPILER_FLAGS, "-c", "rolecast_policy.c"], tmp_path)
    run_program(["c++", *WARNINGS, "main.cpp", "rolecast_policy.o", "-o", "main"], tmp_path)
    run_program(["./main"], tmp_path)


def test_the_header_states_the_bytes_of_every_message() -> None:
    """Roles: 3 affinities; edges: 4 sums; one further round: a state of 2 numbers."""
    policy, weights = made(3, {"role_assignment": True})
    header = code_files(policy, weights, remarks="a test", one_agent=True)["rolecast_policy.h"]
    assert re.findall(r"Phase (\d): .*; (\d+) bytes", header) == [
        ("0", "12"),
        ("1", "16"),
        ("2", "8"),
    ]
    assert "#define ROLECAST_PHASES 3" in header
    assert "#define ROLECAST_MOST_BYTES 16" in header


def test_a_team_without_roles_and_messages_exchanges_nothing() -> None:
    policy, weights = made(3, {"role_interaction": False, "role_assignment": False})
    assert message_phases(policy.model) == []
    header = code_files(policy, weights, remarks="a test", one_agent=True)["rolecast_policy.h"]
    assert "outgoing" not in header
