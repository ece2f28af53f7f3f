"""The table of costs on a device: all cells, and what a page shows of their rows."""

import shutil

import pytest

from rolecast.benchmarks.device.cost_table import RIVAL_ROW, device_runs, markdown, run_device
from rolecast.platform.deployment.boards import BOARDS_BY_NAME

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


def test_every_policy_is_measured_on_every_core() -> None:
    runs = [run for run in device_runs(quick=True) if run.policy != RIVAL_ROW]
    assert len({run.key for run in runs}) == len(runs) == 5 * (len(BOARDS_BY_NAME) + 1)


@pytest.mark.parametrize(("installed", "rows"), [(False, 0), (True, 4)])
def test_the_rival_is_measured_where_it_is_installed(
    installed: bool, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rolecast.benchmarks.device.cost_table.has_emlearn", lambda: installed)
    rivals = [run for run in device_runs(quick=True) if run.policy == RIVAL_ROW]
    assert len(rivals) == rows


def test_a_page_shows_the_row_of_most_vectors_and_says_where_bits_differ() -> None:
    more = {**ROW, "vectors": 2000, "equal": False}
    page = markdown([more, ROW])
    assert page.count("Cortex-M33") == 1
    assert "| NO |" in page
    assert "| 2,528 |" in page


@pytest.mark.skipif(
    shutil.which("arm-none-eabi-gcc") is None or shutil.which("qemu-system-arm") is None,
    reason="needs the Debian packages gcc-arm-none-eabi and qemu-system-arm",
)
def test_the_goals_of_size_hold_on_a_cortex_m33() -> None:
    """mlp 16x16 in 2,000 B of flash and 128 B of RAM; hom in 3,000 and 256."""
    runs = {run.policy: run for run in device_runs(quick=True) if run.core == "Cortex-M33"}
    mlp, hom = run_device(runs["mlp 16x16"]), run_device(runs["hom"])
    assert (mlp["equal"], hom["equal"]) == (True, True)
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
