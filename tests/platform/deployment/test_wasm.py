"""Target wasm: one file that a browser loads, of the bits of the reference."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from rolecast.core.errors import ConfigError, RunError
from rolecast.envs.spec import TaskSpec
from rolecast.platform.deployment.config import ExportConfig
from rolecast.platform.deployment.export import export_policy
from rolecast.platform.deployment.manifest import check_export
from rolecast.platform.deployment.wasm import WASM_FILE, WASM_TOOLS, build_wasm
from rolecast.policies.export.c99 import code_files
from rolecast.policies.export.reference import reference
from rolecast.policies.mlp import MlpPolicy
from rolecast.policies.registry import make_policy

needs_wasm = pytest.mark.skipif(
    any(shutil.which(name) is None for name in WASM_TOOLS),
    reason="needs the Debian packages clang, lld and nodejs",
)


@needs_wasm
def test_an_export_to_wasm_is_checked_and_whole(small_run: Path, tmp_path: Path) -> None:
    out = tmp_path / "web"
    manifest = export_policy(small_run, out, ExportConfig(target="wasm"))
    assert check_export(out)["target"] == "wasm"
    assert (out / WASM_FILE).read_bytes()[:4] == b"\0asm"
    assert manifest["bytes"][WASM_FILE] < 8000


@needs_wasm
def test_a_wrong_bit_in_wasm_is_found(tmp_path: Path) -> None:
    spec = TaskSpec(id="team", agents=2, observation_size=5, action_size=2, horizon=25)
    policy = make_policy("linear", spec)
    assert isinstance(policy, MlpPolicy)
    weights = policy.space.weights(np.random.default_rng(0).random(policy.space.dimension))
    for name, text in code_files(policy, weights, remarks="a test").items():
        (tmp_path / name).write_text(text)
    observations = np.random.default_rng(1).normal(size=(50, 2, 5)).astype(np.float32)
    expected = reference(policy, weights)(observations)
    build_wasm(tmp_path, observations, expected)
    expected[3, 1, 0] = np.nextafter(expected[3, 1, 0], np.float32(2.0))
    with pytest.raises(RunError, match="1 of 200 actions of WebAssembly are not equal"):
        build_wasm(tmp_path, observations, expected)


def test_wasm_is_of_a_whole_team_in_float32() -> None:
    with pytest.raises(ConfigError, match="expected a whole team in float32 for target wasm"):
        ExportConfig(target="wasm", weights="int8")
