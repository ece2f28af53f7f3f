"""A policy gives the bits of the reference on emulated cores, soft and hard floats, and as wasm."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rolecast.core.errors import RunError
from rolecast.envs.spec import TaskSpec
from rolecast.platform.deployment.boards import (
    BOARDS_BY_NAME,
    run_as_wasm,
    run_on_board,
    stream_digest,
    streamed_observations,
)
from rolecast.platform.deployment.compiler import DEBIAN_PACKAGES
from rolecast.platform.deployment.config import ExportConfig
from rolecast.platform.deployment.export import export_policy
from rolecast.platform.deployment.manifest import check_export
from rolecast.platform.deployment.wasm import WASM_TOOLS
from rolecast.policies.export.c99 import code_files
from rolecast.policies.export.reference import reference
from rolecast.policies.hom.policy import HomPolicy
from rolecast.policies.mlp import MlpPolicy
from rolecast.policies.registry import make_policy

VECTORS = 800
POLICIES: list[tuple[str, int, dict[str, Any]]] = [
    ("hom", 3, {}),
    ("hom", 3, {"role_assignment": True, "edges": "soft", "interaction": "coupled"}),
    ("mlp", 1, {"hidden": [16, 16]}),
]


def programs_or_skip(names: tuple[str, ...]) -> None:
    """Skip where a program is missing, and name its package."""
    for name in names:
        if shutil.which(name) is None:
            pytest.skip(f"needs the Debian package {DEBIAN_PACKAGES.get(name, 'gcc')}")


@pytest.mark.parametrize(
    ("core", "weights"), [("Cortex-M0", "int8"), ("Cortex-M4F", "float32"), ("RV32IMC", "float32")]
)
def test_an_export_says_what_a_step_takes_on_a_core(
    core: str, weights: Any, small_run: Path, tmp_path: Path
) -> None:
    programs_or_skip(BOARDS_BY_NAME[core].programs)
    out = tmp_path / "firmware"
    config = ExportConfig(weights=weights, max_loss=1e9, cores=(core,))
    export_policy(small_run, out, config)
    found = check_export(out)["check"]["cores"][core]
    assert found["vectors_equal_bit_by_bit"] == 1000
    assert 1000 < found["instructions_of_a_step"] < 1_000_000
    assert 353 * (1 if weights == "int8" else 4) < found["flash_bytes"] < 12_000
    assert 0 < found["stack_bytes"] <= 512


def test_a_core_that_gives_other_bits_is_told_of(
    small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    core = "Cortex-M4F"
    programs_or_skip(BOARDS_BY_NAME[core].programs)
    monkeypatch.setattr(
        "rolecast.platform.deployment.device_code.streamed_observations",
        lambda *sizes: -streamed_observations(*sizes),
    )
    with pytest.raises(RunError, match="actions on Cortex-M4F in emulation are not equal"):
        export_policy(small_run, tmp_path / "out", ExportConfig(cores=(core,)))
    assert list(tmp_path.iterdir()) == []


def written(folder: Path, name: str, agents: int, options: dict[str, Any]) -> int:
    """Write the C of a policy; return the digest of the reference."""
    spec = TaskSpec(id="team", agents=agents, observation_size=16, action_size=2, horizon=25)
    policy = make_policy(name, spec, **options)
    assert isinstance(policy, HomPolicy | MlpPolicy)
    weights = policy.space.weights(np.random.default_rng(8).random(policy.space.dimension))
    for file, text in code_files(policy, weights, remarks="a test").items():
        (folder / file).write_text(text)
    return stream_digest(
        reference(policy, weights)(streamed_observations(VECTORS, agents, 16, 10.0))
    )


@pytest.mark.parametrize("board", sorted(BOARDS_BY_NAME))
@pytest.mark.parametrize(("name", "agents", "options"), POLICIES, ids=str)
def test_a_core_in_emulation_gives_the_bits_of_the_reference(
    name: str, agents: int, options: dict[str, Any], board: str, tmp_path: Path
) -> None:
    programs_or_skip(BOARDS_BY_NAME[board].programs)
    digest = written(tmp_path, name, agents, options)
    found = run_on_board(tmp_path, BOARDS_BY_NAME[board], vectors=VECTORS, bound=10.0)
    assert found.digest == digest
    assert 0 < found.ram <= 512
    assert 0 < found.stack <= 512
    assert found.instructions > 1000


def test_steps_that_outlast_the_counter_are_counted_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its 24 bits began anew within 20 steps, and the count was a seventh of one."""
    board = BOARDS_BY_NAME["Cortex-M3"]
    programs_or_skip(board.programs)
    written(tmp_path, "hom", 20, {})
    found = run_on_board(tmp_path, board, vectors=1, bound=10.0)
    monkeypatch.setattr("rolecast.platform.deployment.boards.TIMED_STEPS", 1)
    alone = run_on_board(tmp_path, board, vectors=1, bound=10.0)
    assert found.instructions == pytest.approx(alone.instructions, rel=0.02)
    assert found.instructions > 5_000_000


@pytest.mark.parametrize(("name", "agents", "options"), POLICIES, ids=str)
def test_webassembly_gives_the_bits_of_the_reference(
    name: str, agents: int, options: dict[str, Any], tmp_path: Path
) -> None:
    programs_or_skip(WASM_TOOLS)
    digest = written(tmp_path, name, agents, options)
    assert run_as_wasm(tmp_path, vectors=VECTORS, bound=10.0) == digest


def test_streamed_observations_have_ties_bounds_and_subnormal_numbers() -> None:
    drawn = streamed_observations(80, 3, 5, 10.0)
    assert np.isfinite(drawn).all()
    assert (drawn[4::8] == drawn[4::8, :1]).all()
    assert set(np.abs(drawn[5::8]).ravel()) == {0.0, 10.0}
    assert np.abs(drawn[6::8]).max() < np.finfo(np.float32).tiny
