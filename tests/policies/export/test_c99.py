"""The C of a policy gives the bits of the reference: all shapes, compilers, levels; bounded."""

import re
import shutil
import sys
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rolecast.core.errors import RunError
from rolecast.core.types import Float32
from rolecast.envs.spec import TaskSpec
from rolecast.platform.deployment.compiler import build_library, run_check, run_program
from rolecast.policies.export.c99 import (
    COMPILER_FLAGS,
    check_program,
    code_files,
    comment,
    float_literal,
)
from rolecast.policies.export.reference import reference
from rolecast.policies.export.vectors import drawn_observations
from rolecast.policies.hom.policy import HomPolicy
from rolecast.policies.mlp import MlpPolicy
from rolecast.policies.registry import make_policy

WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror")
needs_clang = pytest.mark.skipif(
    shutil.which("clang") is None, reason="needs the Debian package clang"
)
COMPILERS = ["cc", pytest.param("clang", marks=[needs_clang, pytest.mark.slow])]
SHAPES: list[tuple[str, int, dict[str, Any]]] = [
    ("hom", 3, {}),
    ("hom", 1, {"role_assignment": True}),
    ("hom", 4, {"role_assignment": True, "size": "sm", "self_edges": True, "rounds": 3}),
    ("hom", 3, {"interaction": "coupled", "edges": "soft", "message_width": 5}),
    ("hom", 12, {"role_assignment": True, "message_reads": "observation", "message_width": 3}),
    ("hom", 5, {"role_interaction": False, "role_assignment": True}),
    ("mlp", 1, {"hidden": [16, 16]}),
    ("mlp", 3, {"hidden": [3, 9, 4]}),
    ("linear", 2, {}),
    ("hom", 3, {"role_assignment": True, "rounds": 2, "message_width": 20}),
]


def made(name: str, agents: int, options: dict[str, Any], seed: int = 1) -> tuple[Any, Any]:
    """Return a policy for a team, and weights drawn in the cube."""
    spec = TaskSpec(id="team", agents=agents, observation_size=6, action_size=2, horizon=25)
    policy = make_policy(name, spec, **options)
    assert isinstance(policy, HomPolicy | MlpPolicy)
    cube = np.random.default_rng(seed).random(policy.space.dimension)
    return policy, policy.space.weights(cube)


def written(folder: Path, policy: Any, weights: Any, observations: Float32) -> Float32:
    """Write the files of a policy to a folder; return what the reference does."""
    expected = reference(policy, weights)(observations)
    files = code_files(policy, weights, remarks="a test")
    program = check_program(observations, expected, remarks="a test")
    for name, text in {**files, "main_test.c": program}.items():
        (folder / name).write_text(text)
    return expected


def vectors(agents: int, count: int, seed: int = 3) -> Float32:
    return drawn_observations(count, agents, 6, 10.0, np.random.default_rng(seed))


@pytest.mark.parametrize("level", ["-O0", "-O2", "-Os"])
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize(("name", "agents", "options"), SHAPES, ids=str)
def test_c_gives_the_bits_of_the_reference_without_a_warning(
    name: str, agents: int, options: dict[str, Any], compiler: str, level: str, tmp_path: Path
) -> None:
    policy, weights = made(name, agents, options)
    written(tmp_path, policy, weights, vectors(agents, 400))
    run_check(tmp_path, compiler, [*COMPILER_FLAGS, *WARNINGS, level])


@pytest.mark.parametrize(("name", "agents", "options"), SHAPES, ids=str)
def test_no_step_reads_or_writes_outside_its_arrays(
    name: str, agents: int, options: dict[str, Any], tmp_path: Path
) -> None:
    policy, weights = made(name, agents, options)
    written(tmp_path, policy, weights, vectors(agents, 400))
    checks = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    run_check(tmp_path, "cc", [*COMPILER_FLAGS, *checks])


@st.composite
def policies(draw: st.DrawFn) -> tuple[str, int, dict[str, Any], int]:
    """Draw a policy of any shape, and the seed of its weights."""
    agents, seed = draw(st.integers(1, 15)), draw(st.integers(0, 2**16))
    if draw(st.booleans()):
        hidden = draw(st.lists(st.integers(1, 12), max_size=3))
        return "mlp", agents, {"hidden": hidden}, seed
    options = {
        "size": draw(st.sampled_from(["med", "sm"])),
        "role_assignment": draw(st.booleans()),
        "role_interaction": draw(st.booleans()),
        "rounds": draw(st.integers(1, 3)),
        "self_edges": draw(st.booleans()),
        "interaction": draw(st.sampled_from(["saddle", "coupled"])),
        "edges": draw(st.sampled_from(["hard", "soft"])),
        "message_width": draw(st.sampled_from([2, 3, 5, 20])),
        "message_reads": draw(st.sampled_from(["hidden", "observation"])),
    }
    return "hom", agents, options, seed


@given(drawn=policies())
@settings(max_examples=25)
def test_every_shape_gives_the_bits_of_the_reference(
    tmp_path_factory: pytest.TempPathFactory, drawn: tuple[str, int, dict[str, Any], int]
) -> None:
    name, agents, options, seed = drawn
    policy, weights = made(name, agents, options, seed)
    folder = tmp_path_factory.mktemp("c")
    observations = vectors(agents, 64, seed)
    expected = written(folder, policy, weights, observations)
    built = build_library(
        folder, "cc", [*COMPILER_FLAGS, "-Os"], function="rolecast_policy_step", outputs=2 * agents
    )
    found = built.act(observations).reshape(expected.shape)
    np.testing.assert_array_equal(found.view(np.uint32), expected.view(np.uint32))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "agents", "options"), [SHAPES[0], SHAPES[6]], ids=str)
def test_a_hundred_thousand_vectors_give_the_bits_of_the_reference(
    name: str, agents: int, options: dict[str, Any], tmp_path: Path
) -> None:
    policy, weights = made(name, agents, options)
    observations = vectors(agents, 100_000)
    expected = written(tmp_path, policy, weights, observations[:1])
    expected = reference(policy, weights)(observations)
    built = build_library(
        tmp_path, "cc", [*COMPILER_FLAGS, "-O2"], function="rolecast_policy_step",
        outputs=2 * agents,
    )  # fmt: skip
    found = built.act(observations).reshape(expected.shape)
    np.testing.assert_array_equal(found.view(np.uint32), expected.view(np.uint32))


@pytest.mark.parametrize(("name", "agents", "options"), SHAPES, ids=str)
def test_no_library_is_called_and_no_loop_is_without_a_bound(
    name: str, agents: int, options: dict[str, Any], tmp_path: Path
) -> None:
    policy, weights = made(name, agents, options)
    source = code_files(policy, weights, remarks="a test")["rolecast_policy.c"]
    assert re.findall(r"#include [<\"](.*)[>\"]", source) == ["float.h", "rolecast_policy.h"]
    assert "while" not in source
    assert "malloc" not in source
    (tmp_path / "rolecast_policy.h").write_text(
        code_files(policy, weights, remarks="a test")["rolecast_policy.h"]
    )
    (tmp_path / "rolecast_policy.c").write_text(source)
    for level in ("-O2", "-Os"):
        run_program(["cc", *COMPILER_FLAGS, level, "-c", "rolecast_policy.c"], tmp_path)
        listed = run_program(["nm", "-u", "rolecast_policy.o"], tmp_path).split()
        undefined = {name.strip("_") for name in listed}  # macOS puts one more before each
        protector = {"stack_chk_fail", "stack_chk_guard"}
        assert undefined - {"U", "w", "GLOBAL_OFFSET_TABLE", *protector} == set()


@pytest.mark.skipif(sys.platform == "darwin", reason="gcc is clang, which tells no graph of calls")
@pytest.mark.parametrize("one_agent", [False, True])
@pytest.mark.parametrize(("name", "agents", "options"), SHAPES, ids=str)
def test_no_function_calls_itself_and_the_deepest_calls_use_little_stack(
    name: str, agents: int, options: dict[str, Any], one_agent: bool, tmp_path: Path
) -> None:
    """The graph of calls, and the stack of each function, are those that gcc tells of."""
    policy, weights = made(name, agents, options)
    files = code_files(policy, weights, remarks="a test", one_agent=one_agent)
    for file, text in files.items():
        (tmp_path / file).write_text(text)
    flags = [*COMPILER_FLAGS, "-O0", "-fcallgraph-info=su", "-c"]
    run_program(["gcc", *flags, "rolecast_policy.c"], tmp_path)
    told = (tmp_path / "rolecast_policy.ci").read_text()
    edges = re.findall(r'sourcename: "([^"]+)" targetname: "([^"]+)"', told)
    frames = {
        found[0]: int(found[1])
        for found in re.findall(r'node: { title: "([^"]+)" label: "[^"]*?(\d+) bytes', told)
    }
    assert edges
    assert frames
    calls = {name: {to for of, to in edges if of == name} for name in {each[0] for each in edges}}
    deepest: dict[str, int] = {}
    for function in TopologicalSorter(calls).static_order():  # CycleError for a recursion
        below = max((deepest[each] for each in calls.get(function, ())), default=0)
        deepest[function] = frames.get(function, 0) + below
    assert 0 < max(deepest.values()) <= 1024


def test_a_wrong_bit_is_found_by_the_program_that_travels_along(tmp_path: Path) -> None:
    policy, weights = made(*SHAPES[0])
    written(tmp_path, policy, weights, vectors(3, 20))
    other = code_files(policy, weights + 1e-6, remarks="a test")["rolecast_policy.c"]
    (tmp_path / "rolecast_policy.c").write_text(other)
    sources = ("rolecast_policy.c", "main_test.c")
    run_program(["cc", *COMPILER_FLAGS, "-o", "test", *sources], tmp_path)
    with pytest.raises(Exception, match="ended with 1"):
        run_program([str(tmp_path / "test")], tmp_path)


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_a_literal_has_the_bits_of_its_number(value: float) -> None:
    literal = float_literal(value)
    assert literal.endswith("f")
    assert np.float32(literal[:-1]).view(np.uint32) == np.float32(value).view(np.uint32)


def test_no_text_of_a_folder_leaves_the_comment_that_it_stands_in() -> None:
    """A task's id is in the head of the files that are compiled and run."""
    head = comment('for task mine?x=*/ int leak = system("id"); /*\nand */*/ more')
    assert head.index("*/") == len(head) - 2


def test_what_a_compiler_refuses_is_told_by_its_first_error(tmp_path: Path) -> None:
    (tmp_path / "wrong.c").write_text(
        "int f(void) { return inff; }\nint g(void) { return inff; }\n"
    )
    with pytest.raises(RunError, match=r"cc ended with 1 in .*: wrong\.c:1.* error: "):
        run_program(["cc", "-c", "wrong.c"], tmp_path)
