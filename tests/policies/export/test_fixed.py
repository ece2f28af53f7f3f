"""Policies in integers: near float32, exact in C, without a float and without overflow."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rolecast.core.errors import ConfigError, RequestError
from rolecast.core.types import Float32
from rolecast.envs.spec import TaskSpec
from rolecast.platform.deployment.compiler import build_library, run_check, run_program
from rolecast.policies.export.c99 import check_program, fixed_code_files
from rolecast.policies.export.fixed import FixedPolicy, Integers, fixed_policies, shifted, tanh
from rolecast.policies.export.reference import reference
from rolecast.policies.hom.policy import HomPolicy
from rolecast.policies.mlp import MlpPolicy
from rolecast.policies.registry import make_policy

WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror")
SHAPES: list[tuple[str, int, dict[str, Any]]] = [
    ("hom", 3, {}),
    ("hom", 4, {"role_assignment": True, "size": "sm", "self_edges": True, "rounds": 3}),
    ("hom", 3, {"interaction": "coupled", "edges": "soft", "message_width": 5}),
    ("hom", 6, {"message_reads": "observation", "message_width": 3, "edges": "soft"}),
    ("hom", 1, {"role_interaction": False, "role_assignment": True}),
    ("mlp", 3, {"hidden": [3, 9, 4]}),
    ("linear", 2, {}),
]


def made(
    name: str, agents: int, options: dict[str, Any], bits: int, *, seed: int = 1
) -> FixedPolicy:
    spec = TaskSpec(id="team", agents=agents, observation_size=6, action_size=2, horizon=25)
    policy = make_policy(name, spec, **options)
    assert isinstance(policy, HomPolicy | MlpPolicy)
    cube = np.random.default_rng(seed).random(policy.space.dimension)
    return fixed_policies(policy, policy.space.weights(cube), bits)[0]


def integers(agents: int, count: int, seed: int = 0) -> Integers:
    """Draw observations of 16 bits: small ones, extremes, and equal ones for all agents."""
    rng = np.random.default_rng(seed)
    drawn = rng.integers(-32768, 32768, (count, agents, 6))
    drawn[::2] //= 8
    drawn[::5] = drawn[::5, :1]
    drawn[::7] = rng.choice([-32768, 32767], drawn[::7].shape)
    return drawn.astype(np.int64)


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize(("name", "agents", "options"), SHAPES, ids=str)
def test_c_gives_the_integers_of_the_reference_with_sanitizers(
    name: str, agents: int, options: dict[str, Any], bits: int, tmp_path: Path
) -> None:
    fixed = made(name, agents, options, bits)
    observations = integers(agents, 400)
    files = fixed_code_files(fixed, remarks="a test")
    assert "float" not in files["rolecast_policy.c"]
    assert "#include <" not in files["rolecast_policy.c"]
    program = check_program(observations, fixed.act(observations), remarks="a test")
    for file, text in {**files, "main_test.c": program}.items():
        (tmp_path / file).write_text(text)
    for flags in (
        ("-Os", *WARNINGS),
        ("-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
    ):
        run_check(tmp_path, "cc", ["-std=c99", *flags])


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("optimised", ["-Os", "-O2"])
def test_the_header_gives_every_observation_as_the_integer_of_the_reference(
    compiler: str, optimised: str, tmp_path: Path
) -> None:
    """Halves and their neighbours, sizes of all exponents, and far beyond the bound."""
    if shutil.which(compiler) is None:
        pytest.skip(f"needs {compiler}")
    fixed = made("mlp", 1, {}, 16)
    halves = (np.arange(-40_000, 40_000) / 2 / 2.0**fixed.input_bits).astype(np.float32)
    rng = np.random.default_rng(0)
    sizes = (10.0 ** rng.uniform(-45, 38, 50_000) * rng.choice([-1, 1], 50_000)).astype(np.float32)
    near = [np.nextafter(halves, np.float32(way)) for way in (-np.inf, np.inf)]
    drawn = rng.uniform(-12, 12, 200_000).astype(np.float32)
    ends = np.array([np.inf, -np.inf, -0.0], dtype=np.float32)
    values = np.concatenate([halves, *near, sizes, drawn, ends])
    found = _observed(fixed, values, tmp_path, compiler, optimised)
    clipped = np.clip(found, -fixed.clip, fixed.clip)
    np.testing.assert_array_equal(clipped, fixed.rounded_observations(values))
    unknown = np.full(1, np.nan, dtype=np.float32)
    assert _observed(fixed, unknown, tmp_path, compiler, optimised).tolist() == [-32767]


def test_a_sensor_is_read_once_for_an_observation(tmp_path: Path) -> None:
    """Bounds that are tested on another reading let the result wrap."""
    main = """
#include "rolecast_policy.h"
static int reads;
static float sensor(void) { return reads++ ? 20.0f : 0.5f; }
int main(void) {
    return ROLECAST_OBSERVATION(sensor()) != ROLECAST_OBSERVATION_ONE / 2 || reads != 1;
}
"""
    _built(made("mlp", 1, {}, 8), main, tmp_path, "cc", "-Os")
    run_program(["./main"], tmp_path)


@pytest.mark.parametrize("compiler", ["gcc", "clang", "g++", "clang++"])
def test_a_header_whose_cast_is_not_used_has_no_warning(compiler: str, tmp_path: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"needs {compiler}")
    for file, text in fixed_code_files(made("mlp", 1, {}, 8), remarks="a test").items():
        (tmp_path / file).write_text(text)
    (tmp_path / "main.c").write_text('#include "rolecast_policy.h"\nint main(void) { return 0; }\n')
    kind = ["-x", "c++"] if compiler.endswith("++") else ["-std=c99"]
    run_program([compiler, *kind, *WARNINGS, "-c", "main.c"], tmp_path)


def _built(fixed: FixedPolicy, main: str, folder: Path, compiler: str, optimised: str) -> None:
    """Compile a program with the header of a policy."""
    (folder / "rolecast_policy.h").write_text(
        fixed_code_files(fixed, remarks="a test")["rolecast_policy.h"]
    )
    (folder / "main.c").write_text(main)
    run_program([compiler, "-std=c99", *WARNINGS, optimised, "main.c", "-o", "main"], folder)


def _observed(
    fixed: FixedPolicy, values: Float32, folder: Path, compiler: str, optimised: str
) -> Integers:
    """Return observations [V] as the header of a policy casts them."""
    values.tofile(folder / "values")
    main = """
#include <stdio.h>
#include "rolecast_policy.h"
int main(void) {
    float o;
    while (fread(&o, sizeof o, 1, stdin) == 1) printf("%d\\n", ROLECAST_OBSERVATION(o));
    return 0;
}
"""
    _built(fixed, main, folder, compiler, optimised)
    told = run_program(["sh", "-c", "./main < values"], folder)
    return np.array(told.split(), dtype=np.int64)


@given(shape=st.sampled_from(SHAPES), bits=st.sampled_from([8, 16]), seed=st.integers(0, 2**16))
@settings(max_examples=15)
def test_any_weights_give_the_integers_of_the_reference(
    tmp_path_factory: pytest.TempPathFactory,
    shape: tuple[str, int, dict[str, Any]],
    bits: int,
    seed: int,
) -> None:
    fixed = made(*shape, bits, seed=seed)
    folder = tmp_path_factory.mktemp("c")
    for file, text in fixed_code_files(fixed, remarks="a test").items():
        (folder / file).write_text(text)
    function, outputs = "rolecast_policy_step", 2 * shape[1]
    built = build_library(
        folder, "cc", ["-std=c99", "-Os"], function=function, outputs=outputs, fixed=True
    )
    observations = integers(shape[1], 200, seed)
    expected = fixed.act(observations)
    np.testing.assert_array_equal(built.act(observations).reshape(expected.shape), expected)


@pytest.mark.parametrize(("bits", "near"), [(8, 0.2), (16, 0.01)])
def test_integers_are_near_float32_where_nothing_is_decided(bits: int, near: float) -> None:
    """An MLP has no roles and no edges, which rounding might decide otherwise."""
    fixed = made("mlp", 3, {}, bits)
    cube = np.random.default_rng(1).random(fixed.policy.space.dimension)
    weights = fixed.policy.space.weights(cube)
    observations = np.random.default_rng(2).normal(size=(1000, 3, 6)).astype(np.float32)
    wanted = reference(fixed.policy, weights)(observations)
    whole = fixed.rounded_observations(observations.astype(np.float64))
    assert np.quantile(np.abs(fixed.act(whole) / 32767 - wanted), 0.95) < near


def test_tanh_in_integers_is_within_a_thousandth_odd_and_monotone() -> None:
    sums = np.arange(-40_000, 40_001)
    found = tanh(sums)
    assert np.abs(found / 32767 - np.tanh(sums / 4096)).max() < 1.6e-3
    np.testing.assert_array_equal(found, -found[::-1])
    assert (np.diff(found) >= 0).all()


def test_a_shift_rounds_to_the_nearest_and_halves_upwards() -> None:
    numbers = np.array([-6, -5, -2, -1, 0, 1, 2, 5, 6])
    assert shifted(numbers, 2).tolist() == [-1, -1, 0, 0, 0, 0, 1, 1, 2]
    assert shifted(numbers, 0).tolist() == numbers.tolist()


def test_more_agents_than_subsets_can_hold_are_refused() -> None:
    with pytest.raises(RequestError, match="assigns roles to 12 agents; expected at most 10"):
        made("hom", 12, {"role_assignment": True}, 8)


def test_weights_that_fit_no_unit_are_refused() -> None:
    spec = TaskSpec(id="team", agents=1, observation_size=6, action_size=2, horizon=25)
    policy = make_policy("linear", spec)
    assert isinstance(policy, MlpPolicy)
    with pytest.raises(ConfigError, match="expected weights that fit 8 bits"):
        fixed_policies(policy, np.full(policy.space.size, 1e6), 8)
