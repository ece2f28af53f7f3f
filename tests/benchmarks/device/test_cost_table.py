"""The table of costs on a device: all cells, and what a page shows of their rows."""

import shutil
import sys
from itertools import product
from typing import Never

import pytest

from rolecast.benchmarks.device import measured
from rolecast.benchmarks.device.cost_table import (
    DEVICE_TARGETS,
    DeviceRun,
    device_runs,
    run_device,
)
from rolecast.benchmarks.device.measured import MEASURED_POLICIES
from rolecast.benchmarks.device.page import cost_page
from rolecast.benchmarks.device.returns import NUMBER_BITS, SHIPPED_POLICIES
from rolecast.benchmarks.device.rivals import RIVALS_BY_NAME, Rival
from rolecast.core.types import Float
from rolecast.platform.deployment.boards import BOARDS_BY_NAME
from rolecast.platform.deployment.compiler import compiler_version
from rolecast.platform.deployment.wasm import WASM_TOOLS
from tests.platform.deployment.test_boards import programs_or_skip

ROW = {
    "key": "hom / Cortex-M33 / 64",
    "policy": "hom",
    "core": "Cortex-M33",
    "vectors": 64,
    "parameters": 353,
    "equal": True,
    "flash": 2528,
    "ram": 224,
    "stack": 124,
    "instructions": 20_000,
}


def test_every_policy_of_ours_is_measured_on_every_target() -> None:
    runs = [run for run in device_runs(quick=True) if run.vectors]
    ours = [name for name, policy in MEASURED_POLICIES.items() if policy.rival is None]
    costs, returns = product(ours, DEVICE_TARGETS), product(SHIPPED_POLICIES, NUMBER_BITS)
    assert {(run.policy, run.core) for run in runs} == {*costs, *returns}
    assert len({run.key for run in runs}) == len(runs)


@pytest.mark.parametrize(("installed", "rows"), [(False, 0), (True, 5)])
def test_others_are_measured_on_cores_where_they_are_installed(
    installed: bool, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_code(_policy: object, _weights: Float) -> Never:
        raise AssertionError

    monkeypatch.setattr(
        measured,
        "RIVALS_BY_NAME",
        {name: Rival(installed=lambda: installed, code=no_code) for name in RIVALS_BY_NAME},
    )
    rivals = [run for run in device_runs(quick=True) if not run.vectors]
    assert len(rivals) == rows * len(BOARDS_BY_NAME)
    assert {run.core for run in rivals} <= set(BOARDS_BY_NAME)


def test_a_page_shows_the_row_of_most_vectors_and_says_where_bits_differ() -> None:
    more = {**ROW, "vectors": 2000, "equal": False}
    page = cost_page([more, ROW])
    assert page.count("| hom (353) | Cortex-M33 |") == 1
    assert "| hom (353) | NOT all 2,000 |" in page
    assert "| 2,528 | 224 |" in page


@pytest.mark.parametrize(
    ("cost", "verdict"), [({}, "met"), ({"flash": 3001}, "missed"), ({"ram": 257}, "missed")]
)
def test_a_goal_of_bytes_is_met_or_missed(cost: dict[str, int], verdict: str) -> None:
    (line,) = (line for line in cost_page([ROW | cost]).splitlines() if "at most 3,000" in line)
    assert line.endswith(f"| {verdict} |")


@pytest.mark.parametrize(
    ("cost", "verdict"),
    [
        ({}, "on 1 and 1 of 1 cores | met"),
        ({"flash": 2528}, "on 0 and 1 of 1 cores | missed"),
        ({"instructions": 20_000}, "on 1 and 0 of 1 cores | missed"),
    ],
)
def test_a_goal_beside_others_is_met_where_ours_is_smaller_and_faster(
    cost: dict[str, int], verdict: str
) -> None:
    theirs = {
        **ROW,
        "policy": "hom, onnx2c",
        "vectors": 0,
        "equal": None,
        "flash": 2529,
        "instructions": 20_001,
        **cost,
    }
    page = cost_page([ROW, theirs])
    assert f"| hom: less flash and fewer instructions than by onnx2c | {verdict} |" in page
    assert page.count("| hom, onnx2c (353) |") == 1


@pytest.mark.parametrize("target", ["x86-64, gcc -Os", "x86-64, clang -O2", "wasm32"])
@pytest.mark.parametrize("policy", ["hom, role net", "hom, int16"])
def test_the_bits_are_compared_where_nothing_is_counted(policy: str, target: str) -> None:
    programs_or_skip(WASM_TOOLS if target == "wasm32" else (target.split()[1],))
    row = run_device(DeviceRun(policy=policy, core=target, vectors=64))
    assert row["equal"] is True
    assert "flash" not in row


def test_another_digest_is_not_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the page would say of a target whose bits differ."""
    monkeypatch.setattr(measured, "stream_digest", lambda _actions: 1)
    row = run_device(DeviceRun(policy="mlp 16x16", core="x86-64, gcc -O0", vectors=8))
    assert row["equal"] is False


@pytest.mark.skipif(
    shutil.which("arm-none-eabi-gcc") is None or shutil.which("qemu-system-arm") is None,
    reason="needs the Debian packages gcc-arm-none-eabi and qemu-system-arm",
)
def test_the_goals_of_size_hold_on_a_cortex_m33() -> None:
    """mlp 16x16 in 2,000 B of flash and 128 B of RAM; hom in 3,000 and 256."""
    runs = {run.policy: run for run in device_runs(quick=True) if run.core == "Cortex-M33"}
    mlp, hom = run_device(runs["mlp 16x16"]), run_device(runs["hom"])
    assert (mlp["equal"], hom["equal"]) == (True, True)
    assert mlp["compiler"].startswith("arm-none-eabi-gcc")
    assert mlp["flash"] <= 2000
    assert mlp["ram"] <= 128
    assert hom["flash"] <= 3000
    assert hom["ram"] <= 256


@pytest.mark.skipif(
    shutil.which("arm-none-eabi-gcc") is None or shutil.which("qemu-system-arm") is None,
    reason="needs the Debian packages gcc-arm-none-eabi and qemu-system-arm",
)
def test_a_team_in_integers_fits_a_cortex_m0() -> None:
    """hom with int8 weights in 3,000 B of flash, all told."""
    runs = {run.policy: run for run in device_runs(quick=True) if run.core == "Cortex-M0"}
    hom = run_device(runs["hom, int8"])
    assert hom["equal"] is True
    assert hom["flash"] <= 3000


@pytest.mark.parametrize("core", ["returns, float32", "returns, int8"])
def test_the_c_of_a_shipped_policy_plays_as_its_reference(core: str) -> None:
    row = run_device(DeviceRun(policy="hunt of the gallery", core=core, vectors=100))
    assert row["equal"] is True
    assert row["equal_returns"] == row["episodes"] == 20
    assert (row["device_return"] == row["float32_return"]) == (core == "returns, float32")


def test_a_page_shows_what_integers_lose() -> None:
    returns = {"episodes": 1000, "equal_returns": 999, "float32_return": 200.0}
    row = {**ROW, **returns, "core": "returns, int8", "device_return": 198.0}
    del row["flash"]
    line = "| hom (353) | int8 | all 64 | 999 of 1,000 | 200.00 | 198.00 | 1.00% |"
    page = cost_page([row, ROW])
    assert line in page
    assert "returns, int8" not in page


def test_a_rival_without_a_core_of_ours_beside_it_has_no_goal() -> None:
    (rival, *_) = RIVALS_BY_NAME
    page = cost_page([{**ROW, "policy": f"hom, {rival}", "vectors": 0, "equal": None}])
    assert "fewer instructions than by" not in page


def test_a_compiler_says_which_one_it_is() -> None:
    said = compiler_version("gcc")
    assert said.startswith("Apple clang" if sys.platform == "darwin" else "gcc")
    assert "\n" not in said
