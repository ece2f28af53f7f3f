"""The folder of an export: whole or absent, checked, and honest about its files."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from rolecast.core.errors import ConfigError, RequestError
from rolecast.core.seeds import Purpose, episode_seeds
from rolecast.envs.registry import make_task
from rolecast.envs.spec import TaskSpec
from rolecast.platform.deployment.compiler import build_library
from rolecast.platform.deployment.config import ExportConfig
from rolecast.platform.deployment.export import export_policy
from rolecast.platform.deployment.loop import ExportedPolicy
from rolecast.platform.deployment.manifest import check_export
from rolecast.platform.deployment.quantise import ReturnLoss
from rolecast.platform.rollout.rollout import rollout
from rolecast.policies.artefact import load_policy, save_policy
from rolecast.policies.certificate import weights_digest
from rolecast.policies.export.c99 import COMPILER_FLAGS
from rolecast.policies.export.reference import reference
from rolecast.policies.registry import make_policy


@pytest.fixture(scope="module")
def firmware(small_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of an exported HOM policy of a search."""
    out = tmp_path_factory.mktemp("export") / "firmware"
    export_policy(small_run, out)
    return out


@pytest.fixture(scope="module")
def shared_mlp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the artefact of an MLP that three agents share."""
    folder = tmp_path_factory.mktemp("policy") / "mlp"
    task = make_task("pred_prey_3")
    policy = make_policy("mlp", task)
    weights = policy.space.weights(np.random.default_rng(4).random(policy.space.dimension))
    save_policy(folder, policy, weights, task.spec)
    return folder


def test_a_user_compiles_the_folder_and_all_vectors_are_equal(firmware: Path) -> None:
    files = sorted(path.name for path in firmware.iterdir())
    assert files == ["main_test.c", "manifest.json", "rolecast_policy.c", "rolecast_policy.h"]
    subprocess.run(
        "cc -std=c99 -ffp-contract=off *.c && ./a.out", cwd=firmware, shell=True, check=True
    )
    (firmware / "a.out").unlink()


def test_a_folder_may_be_named_from_where_the_user_is(
    small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    export_policy(small_run, "firmware")
    assert check_export("firmware")["target"] == "c99"


def test_the_manifest_says_what_was_checked(firmware: Path, small_run: Path) -> None:
    manifest = check_export(firmware)
    assert manifest["check"]["vectors_equal_bit_by_bit"] == 10_000
    assert manifest["check"]["flags"] == list(COMPILER_FLAGS)
    assert 0 < manifest["check"]["stack_bytes_at_most"] <= 512
    assert 353 * 4 < manifest["check"]["code_bytes"] < 8000
    assert 0 < manifest["check"]["static_memory_bytes"] <= 256
    told = manifest["policy"]
    assert (told["agents"], told["observation_size"], told["action_size"]) == (3, 16, 2)
    assert told["weights_sha256"] == weights_digest(load_policy(small_run).weights)
    assert told["task"] == load_policy(small_run).task_id
    assert manifest["step"] == {"multiply_adds": 1_716, "tanhs": 198, "comparisons": 0}


def test_a_changed_file_is_noticed(firmware: Path) -> None:
    source = firmware / "rolecast_policy.c"
    text = source.read_text()
    source.write_text(text.replace("round++", "round += 2"))
    try:
        with pytest.raises(RequestError, match=r"rolecast_policy\.c is not the file that"):
            check_export(firmware)
    finally:
        source.write_text(text)


@pytest.mark.parametrize(
    "name",
    [
        *("more.cc", "more.cpp", "more.C", "more.S", "more.ino", "more.inc", "more.hpp"),
        *("rolecast_policy.so", "__pycache__/rolecast_policy.cpython-311.pyc", "more.mpy"),
    ],
)
def test_whatever_a_build_takes_up_by_itself_is_source(
    small_run: Path, tmp_path: Path, name: str
) -> None:
    firmware = tmp_path / "firmware"
    export_policy(small_run, firmware)
    (firmware / name).parent.mkdir(exist_ok=True)
    (firmware / name).write_bytes(b"another")
    with pytest.raises(RequestError, match=r"is source that manifest\.json does not name"):
        check_export(firmware)


def test_one_agent_of_a_shared_mlp_does_what_the_team_does(
    shared_mlp: Path, tmp_path: Path
) -> None:
    out = tmp_path / "one"
    manifest = export_policy(shared_mlp, out, ExportConfig(one_agent=True))
    assert manifest["deployment"] == "one agent"
    assert manifest["step"] == {"multiply_adds": 448, "tanhs": 30, "comparisons": 0}
    assert "rolecast_policy_step" not in (out / "rolecast_policy.h").read_text()
    subprocess.run("cc -std=c99 -ffp-contract=off *.c && ./a.out", cwd=out, shell=True, check=True)


def test_one_agent_of_a_team_that_talks_is_checked_as_a_team(
    small_run: Path, tmp_path: Path
) -> None:
    out = tmp_path / "one"
    manifest = export_policy(small_run, out, ExportConfig(one_agent=True))
    assert manifest["check"]["vectors_equal_bit_by_bit"] == 1000
    (tmp_path / "size.c").write_text(
        f'#include "one/rolecast_policy.h"\nchar same[sizeof(rolecast_agent) == '
        f"{manifest['check']['agent_bytes']} ? 1 : -1];\n"
    )
    subprocess.run(["cc", "-c", "size.c"], cwd=tmp_path, check=True)
    assert 300 < manifest["step"]["multiply_adds"] < 1_716
    subprocess.run("cc -std=c99 -ffp-contract=off *.c && ./a.out", cwd=out, shell=True, check=True)


def test_integers_are_exported_with_their_loss(shared_mlp: Path, tmp_path: Path) -> None:
    """The policy is a random one, whose return is near 0: any loss is granted."""
    out = tmp_path / "int8"
    manifest = export_policy(shared_mlp, out, ExportConfig(weights="int8", max_loss=1e9))
    loss = manifest["loss_of_return"]
    assert loss["episodes"] == 1000
    assert f"{loss['float32_return']:.2f} to " in (out / "rolecast_policy.h").read_text()
    subprocess.run("cc -std=c99 *.c && ./a.out", cwd=out, shell=True, check=True)


def test_a_loss_above_the_most_is_refused(
    small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = ReturnLoss(float32_return=100.0, integer_return=90.0, episodes=1000)
    monkeypatch.setattr(
        "rolecast.platform.deployment.device_code.return_loss", lambda *_, **__: lost
    )
    with pytest.raises(RequestError, match=r"int8 weights lose 10\.00% of the mean return"):
        export_policy(small_run, tmp_path / "out", ExportConfig(weights="int8"))
    assert list(tmp_path.iterdir()) == []


def test_episodes_with_c_in_the_loop_return_what_the_reference_does(
    firmware: Path, small_run: Path, tmp_path: Path
) -> None:
    """1,000 held-out episodes, to the last digit; the search's kernels differ by rounding."""
    trained = load_policy(small_run)
    for name in ("rolecast_policy.c", "rolecast_policy.h"):
        (tmp_path / name).write_text((firmware / name).read_text())
    function = "rolecast_policy_step"
    built = build_library(tmp_path, "cc", [*COMPILER_FLAGS, "-O2"], function=function, outputs=6)
    task, seeds = make_task("pred_prey_3"), episode_seeds(0, Purpose.HELD_OUT, 1, 1000)
    weights = trained.weights[None]
    plain = reference(trained.policy, trained.weights)
    in_c = rollout(task, ExportedPolicy(trained.policy, built.act), weights, seeds).returns
    in_python = rollout(task, ExportedPolicy(trained.policy, plain), weights, seeds).returns
    np.testing.assert_array_equal(in_c, in_python)
    kernels = rollout(task, trained.policy, weights, seeds).returns
    error = np.sqrt((in_c.var() + kernels.var()) / 1000)
    assert abs(in_c.mean() - kernels.mean()) < 4.89 * error


def test_an_existing_folder_is_left_alone(small_run: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(RequestError, match="exists; expected a folder to make"):
        export_policy(small_run, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_missing_compiler_is_one_sentence_with_its_package(
    small_run: Path, tmp_path: Path
) -> None:
    with pytest.raises(RequestError, match=r"'arm-cc' is not installed.*apt-get install gcc"):
        export_policy(small_run, tmp_path / "out", ExportConfig(compiler="arm-cc"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["team", "shared"])
def test_an_onnx_model_has_the_bits_of_the_c_beside_it(
    kind: str, small_run: Path, shared_mlp: Path, tmp_path: Path
) -> None:
    folder = small_run if kind == "team" else shared_mlp
    manifest = export_policy(folder, tmp_path / "model", ExportConfig(target="onnx"))
    assert manifest["files"].keys() >= {"rolecast_policy.onnx", "rolecast_policy.c"}
    assert manifest["check"]["onnx"] == {"opset": 13, "vectors_equal_bit_by_bit": 10_000}


def test_without_onnx_runtime_a_model_says_that_it_is_not_checked(
    shared_mlp: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rolecast.platform.deployment.onnx.RUNTIME_MODULE", "no_such_runtime")
    manifest = export_policy(shared_mlp, tmp_path / "model", ExportConfig(target="onnx"))
    assert manifest["check"]["onnx"] == {"opset": 13, "vectors_equal_bit_by_bit": None}


def test_micropython_is_one_file_with_its_test(small_run: Path, tmp_path: Path) -> None:
    out = tmp_path / "board"
    manifest = export_policy(small_run, out, ExportConfig(target="micropython"))
    assert sorted(manifest["files"]) == ["main_test.py", "rolecast_policy.py"]
    assert manifest["check"]["vectors_equal_to_float64"] == 800
    assert check_export(out)["target"] == "micropython"
    subprocess.run(["python3", "main_test.py"], cwd=out, check=True)
    assert check_export(out) == manifest
    # A board holds the vectors beside the policy; 100 of them took 220 kB.
    assert (out / "main_test.py").stat().st_size < 18_000
    assert manifest["check"]["vectors_stored"] >= 8


def test_a_large_team_is_checked_on_fewer_vectors_and_says_how_many(tmp_path: Path) -> None:
    spec = TaskSpec(id="crowd", agents=30, observation_size=3, action_size=1, horizon=5)
    policy = make_policy("hom", spec, role_assignment=True)
    save_policy(tmp_path / "policy", policy, policy.space.centre, spec)
    check = export_policy(tmp_path / "policy", tmp_path / "out")["check"]
    assert check["vectors_equal_bit_by_bit"] == 1111


def test_a_team_beyond_one_byte_is_refused(tmp_path: Path) -> None:
    spec = TaskSpec(id="crowd", agents=128, observation_size=3, action_size=1, horizon=5)
    policy = make_policy("linear", spec)
    save_policy(tmp_path / "policy", policy, np.zeros(policy.space.size), spec)
    with pytest.raises(ConfigError, match="agents is 128; expected at most 127"):
        export_policy(tmp_path / "policy", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_unknown_target_is_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"export\.target is 'rust'; expected one of c99, onnx, micropython, wasm"
    ):
        ExportConfig(target="rust")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"export\.weights is 'int4'; expected one of float32"):
        ExportConfig(weights="int4")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"export\.max_loss is -1\.0"):
        ExportConfig(max_loss=-1.0)
