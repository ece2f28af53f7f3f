"""`rolecast export`: one JSON object, one sentence for what is refused, exit code 2."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import rolecast
from rolecast.platform.cli.app import main
from tests.platform.cli.conftest import heavy_modules

Command = Callable[..., CompletedProcess[str]]


def test_the_command_prints_its_manifest_and_refuses_with_code_2(
    rolecast_command: Command, small_run: Path, tmp_path: Path
) -> None:
    words = ("export", small_run, "--target", "c99", "--out", tmp_path / "out", "--json")
    ended = rolecast_command(*words)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["target"] == "c99"
    again = rolecast_command(*words)
    assert (again.returncode, again.stdout) == (2, "")
    assert len(again.stderr.splitlines()) == 1
    wrong = rolecast_command(
        "export", small_run, "--one-agent", "--weights", "int8", "--out", tmp_path / "two"
    )
    assert wrong.returncode == 2
    assert not (tmp_path / "two").exists()


def test_a_folder_is_checked_against_its_manifest(
    rolecast_command: Command, small_run: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert rolecast_command("export", small_run, "--out", out).returncode == 0
    ended = rolecast_command("export", out, "--check")
    assert (ended.returncode, ended.stderr) == (0, "")
    (out / "main_test.c").unlink()
    ended = rolecast_command("export", out, "--check")
    assert (ended.returncode, len(ended.stderr.splitlines())) == (2, 1)


@pytest.mark.parametrize("command", ["export", "certify"])
def test_the_former_policy_of_a_run_that_goes_on_is_told_of(
    extended_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    words = {"export": ["--out", str(tmp_path / "out")], "certify": ["--episodes", "100"]}
    assert main([command, str(extended_run), *words[command]]) == 0
    (said,) = (line for line in capsys.readouterr().err.splitlines() if "goes on" in line)
    assert said.startswith(f"{extended_run} goes on: this is the policy of the smaller budget")
    assert f"rolecast resume {extended_run}" in said


def test_a_check_loads_nothing_heavy(
    rolecast_command: Command, small_run: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert rolecast_command("export", small_run, "--out", out).returncode == 0
    assert heavy_modules(["export", str(out), "--check"]) == set()


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs the package openssl")
def test_a_signed_export_is_verified(
    rolecast_command: Command, small_run: Path, tmp_path: Path
) -> None:
    run, out, key = tmp_path / "run", tmp_path / "out", tmp_path / "key.pem"
    shutil.copytree(small_run, run)
    generate: list[str | Path] = ["openssl", "genpkey", "-algorithm", "ed25519", "-out", key]
    subprocess.run(generate, check=True)
    ended = rolecast_command("export", run, "--sign", key, "--out", out)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert rolecast_command("export", out, "--check", "--verify", key).returncode == 0
    rolecast.load_policy(run, verify=key)
    manifest = out / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"c99"', '"C99"'))
    ended = rolecast_command("export", out, "--check", "--verify", key)
    assert (ended.returncode, len(ended.stderr.splitlines())) == (2, 1)
    ended = rolecast_command("export", run, "--sign", tmp_path / "none", "--out", tmp_path / "two")
    assert ended.returncode == 2
    assert not (tmp_path / "two").exists()


def test_a_folder_to_make_must_be_named(rolecast_command: Command, small_run: Path) -> None:
    ended = rolecast_command("export", small_run)
    assert ended.returncode == 2
    assert "expected --out" in ended.stderr


def test_an_onnx_model_that_was_not_compared_is_told_of(
    rolecast_command: Command, small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rolecast.platform.deployment.onnx.find_spec", lambda name: None)
    ended = rolecast_command("export", small_run, "--target", "onnx", "--out", tmp_path / "out")
    assert ended.returncode == 0, ended.stderr
    assert "; the ONNX model was not compared, for onnxruntime is not installed" in ended.stdout


@pytest.mark.parametrize(
    "words",
    [
        ["--out", "there"],
        ["--target", "c99"],
        ["--core", "Cortex-M0"],
        ["--sign", "key.pem"],
        ["--weights", "int8"],
        ["--task", "pred_prey_3"],
        ["--one-agent"],
        ["--max-loss", "0.1"],
        ["--compiler", "gcc"],
        ["--trust"],
    ],
    ids=lambda words: words[0],
)
def test_an_option_that_a_check_does_not_read_is_refused(
    rolecast_command: Command, tmp_path: Path, words: list[str]
) -> None:
    ended = rolecast_command("export", tmp_path, "--check", *words)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == (
        f"rolecast: {words[0]} has no effect with --check; expected DIR, --verify or --json beside "
        "it\n"
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--max-loss", "0.5"], "--max-loss has no effect with float32 weights"),
        (["--target", "micropython", "--compiler", "gcc"], "--compiler has no effect with micro"),
    ],
)
def test_an_option_that_an_export_does_not_read_is_refused(
    words: list[str], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(tmp_path), "--out", str(tmp_path / "out"), *words]) == 2
    assert capsys.readouterr().err.startswith(f"rolecast: {sentence}")
