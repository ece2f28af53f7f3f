"""A page in headless Chromium moves, scores as Python does, and obeys the hand of a person."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rolecast
from rolecast.core.errors import RequestError
from rolecast.envs.registry import make_task
from rolecast.platform.cli.app import main
from rolecast.platform.deployment.wasm import WASM_COMPILERS
from rolecast.platform.play.page import write_page
from rolecast.platform.reports.folder import Run
from rolecast.policies.artefact import load_policy, save_policy
from rolecast.policies.certificate import weights_digest
from rolecast.policies.registry import make_policy

needs_compiler = pytest.mark.skipif(
    any(shutil.which(name) is None for name in WASM_COMPILERS),
    reason="needs the Debian packages clang and lld",
)


def saved_policy(folder: Path, task_id: str) -> Path:
    """Save a random linear policy of a task."""
    task = make_task(task_id)
    policy = make_policy("linear", task)
    weights = policy.space.weights(np.random.default_rng(4).random(policy.space.dimension))
    save_policy(folder, policy, weights, task.spec)
    return folder


def place(browser: Any, mover: int) -> tuple[float, float]:
    """Return where a mover is."""
    x, y = browser.value(f"painter.place(state, {mover})")
    return x, y


def on_screen(browser: Any, x: float, y: float) -> tuple[float, float]:
    """Return the pixel of a place of the world."""
    left, top, width = browser.value(
        "(() => { const b = picture.getBoundingClientRect(); return [b.left, b.top, b.width]; })()"
    )
    half = browser.value("painter.halfWidth(state)")
    return left + (x / half + 1.0) / 2.0 * width, top + (1.0 - y / half) / 2.0 * width


@needs_compiler
def test_the_page_plays_as_python_does(small_run: Path, tmp_path: Path, browser: Any) -> None:
    """False alarm of the return: 1e-6, were the 200 episodes of both drawn apart."""
    page = write_page(small_run, tmp_path / "hunt.html")
    game = page.game
    assert game is not None
    digest = weights_digest(load_policy(small_run / "policy").weights)
    assert f'<meta name="policy" content="{digest}">' in game.text
    browser.open(page.path)
    browser.wait_for("byId('here').textContent !== '-'")
    assert browser.value("byId('vectors').textContent") == "all equal bit by bit"
    mean, error = map(float, browser.value("byId('here').textContent").split(" ± "))
    assert abs(mean - game.return_mean) < 0.005 + 4.89 * np.hypot(error, game.return_stderr)
    assert browser.value("byId('python').textContent") == (
        f"{game.return_mean:.2f} ± {game.return_stderr:.2f}"
    )
    before = browser.value("picture.toDataURL()")
    browser.value("byId('speed').value = 6; byId('speed').max = 6")
    browser.wait_for("step > 2")
    assert browser.value("picture.toDataURL()") != before
    browser.wait_for("total > 0")
    assert browser.value("byId('score').textContent.endsWith(`return ${total.toFixed(0)}`)")


@needs_compiler
def test_a_person_steers_the_prey_and_pushes_a_predator(tmp_path: Path, browser: Any) -> None:
    page = write_page(saved_policy(tmp_path / "policy", "pred_prey_3"), tmp_path / "hunt.html")
    browser.open(page.path)
    browser.wait_for("byId('here').textContent !== '-'")
    browser.value("pause()")
    browser.value("byId('steered').value = '3'; byId('steered').onchange()")
    assert browser.value("byId('endless').checked")
    target = (0.9, 0.9)
    browser.mouse("mouseMoved", *on_screen(browser, *target))
    browser.value("for (let i = 0; i < 60; i++) advance()")
    assert np.hypot(*np.subtract(place(browser, 3), target)) < 0.3
    assert "step 60 of 25" in browser.value("byId('score').textContent")
    assert "with your hand in it" in browser.value("byId('score').textContent")

    browser.value("byId('steered').value = '-1'; byId('steered').onchange()")
    browser.value("begin(1)")
    browser.mouse("mousePressed", *on_screen(browser, *place(browser, 0)))
    browser.mouse("mouseMoved", *on_screen(browser, -0.8, 0.7))
    np.testing.assert_allclose(place(browser, 0), (-0.8, 0.7), atol=0.02)
    browser.mouse("mouseReleased", *on_screen(browser, -0.8, 0.7))
    assert browser.value("dragged") == -1
    browser.value("advance()")
    assert "with your hand in it" in browser.value("byId('score').textContent")


@pytest.fixture
def hunt(tmp_path: Path, browser: Any) -> Any:
    """Return the browser with a paused hunt in it."""
    page = write_page(saved_policy(tmp_path / "policy", "pred_prey_3"), tmp_path / "hunt.html")
    browser.open(page.path)
    browser.wait_for("byId('here').textContent !== '-'")
    browser.value("pause()")
    return browser


@needs_compiler
def test_a_mover_dragged_past_the_edge_stops_there(hunt: Any) -> None:
    half = hunt.value("painter.halfWidth(state)")
    left, top = on_screen(hunt, -half, half)
    hunt.mouse("mousePressed", *on_screen(hunt, *place(hunt, 0)))
    for _ in range(20):
        hunt.mouse("mouseMoved", max(left - 90, 0), max(top - 90, 0))
        hunt.value("advance()")
    hunt.mouse("mouseReleased", 0, 0)
    np.testing.assert_allclose(place(hunt, 0), (-half, half), atol=0.02)


@needs_compiler
def test_only_the_main_button_and_the_first_finger_drag(hunt: Any) -> None:
    first, other = (on_screen(hunt, *place(hunt, mover)) for mover in (0, 1))
    hunt.mouse("mousePressed", *first, "right")
    assert hunt.value("dragged") == -1
    hunt.mouse("mouseReleased", *first, "right")
    hunt.touch("touchStart", first)
    hunt.touch("touchStart", first, other)
    assert hunt.value("dragged") == 0
    hunt.touch("touchEnd")
    assert hunt.value("dragged") == -1


@needs_compiler
def test_a_touch_that_is_lost_lets_go(hunt: Any) -> None:
    hunt.touch("touchStart", on_screen(hunt, *place(hunt, 0)))
    assert hunt.value("dragged") == 0
    hunt.touch("touchCancel")
    hunt.wait_for("dragged === -1 && pointer === null")


@needs_compiler
def test_going_on_after_the_last_step_stays_a_moment(hunt: Any) -> None:
    hunt.value("for (let i = 0; i < 25; i++) byId('one-step').onclick()")
    frames = (
        "[1e6, 1e6 + 1, 1e6 + 2 + PAUSE_AT_END_MS].map((now) => { frame(now); return episode; })"
    )
    assert hunt.value(f"byId('pause').onclick(); {frames}") == [0, 0, 1]


@needs_compiler
def test_a_browser_without_webassembly_says_so(hunt: Any, tmp_path: Path) -> None:
    page = tmp_path / "old.html"
    text = (tmp_path / "hunt.html").read_text()
    page.write_text(text.replace("<script>", "<script>delete globalThis.WebAssembly;", 1))
    hunt.open(page)
    hunt.wait_for("byId('score').textContent.includes('needs a browser with WebAssembly')")


@needs_compiler
def test_drones_play_and_a_person_flies_one(tmp_path: Path, browser: Any) -> None:
    """False alarm of the return: as above; the page prints two decimals."""
    page = write_page(saved_policy(tmp_path / "policy", "drone_delivery_3"), tmp_path / "d.html")
    game = page.game
    assert game is not None
    browser.open(page.path)
    browser.wait_for("byId('here').textContent !== '-'")
    assert browser.value("byId('vectors').textContent") == "all equal bit by bit"
    mean, error = map(float, browser.value("byId('here').textContent").split(" ± "))
    assert abs(mean - game.return_mean) < 0.005 + 4.89 * np.hypot(error, game.return_stderr)
    browser.value("pause(); byId('steered').value = '1'; byId('steered').onchange(); begin(0)")
    point = browser.value("Array.from(state.subarray(11 + POINT_X, 11 + POINT_Y + 1))")
    browser.mouse("mouseMoved", *on_screen(browser, *point))
    browser.value("const start = total; for (let i = 0; i < 60; i++) advance()")
    assert browser.value("state[11 + 9]") >= 1, "drone 2 has delivered"
    assert browser.value("total") > 0


def test_another_task_shows_a_recorded_episode(tmp_path: Path, browser: Any) -> None:
    out = tmp_path / "run"
    rolecast.search(
        "gym:Pendulum-v1", policy="linear", evaluations=12, workers=0, test_episodes=2, out=str(out)
    )
    page = write_page(out, tmp_path / "pendulum.html")
    assert page.game is None
    browser.open(page.path)
    browser.wait_for("byId('picture').naturalWidth > 0 && frames.length > 9")
    assert browser.value("getComputedStyle(byId('picture')).touchAction") == "auto"
    first = browser.value("byId('picture').src")
    browser.wait_for("byId('moment').textContent.startsWith('frame 3 ')")
    assert browser.value("byId('picture').src") != first
    browser.value("byId('place').value = 7; byId('place').oninput()")
    assert browser.value("byId('moment').textContent").startswith("frame 8 of ")
    assert not browser.value("running")


def test_a_policy_without_an_exporter_shows_a_recorded_episode(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    rolecast.search(
        "pred_prey_3", policy="constant", evaluations=12, workers=0, test_episodes=2, out=str(out)
    )
    (out / "report.html").touch()
    assert main(["play", str(out)]) == 0
    assert "policy &#39;constant&#39; has no exporter" in (out / "play.html").read_text()
    assert f"rolecast report {out} links it" in capsys.readouterr().out
    assert Run.read(out).playable
    with pytest.raises(RequestError, match=r"no run.*has no exporter.*the folder of the run"):
        write_page(out / "policy", tmp_path / "policy.html")


def test_another_ending_than_html_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"hunt\.gif has ending '\.gif'; expected \.html"):
        write_page(tmp_path, tmp_path / "hunt.gif")


@needs_compiler
def test_a_page_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    policy = saved_policy(tmp_path / "policy", "pred_prey_3")
    (tmp_path / "file").write_text("mine")
    with pytest.raises(RequestError, match="cannot be written: "):
        write_page(policy, tmp_path / "file" / "play.html")


def test_without_a_compiler_the_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = saved_policy(tmp_path / "policy", "pred_prey_3")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RequestError, match=r"'clang' is not installed.*apt-get install clang"):
        write_page(policy)
    assert not (policy / "play.html").exists()
