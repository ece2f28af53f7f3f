"""The reference page of a task shows its own pictures and tells its own reward."""

import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PICTURE = re.compile(r"!\[([^\]]+)\]\(\.\./\.\./results/([^)]+)\)\n\n\*\1\.\* \[")


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """Texts of the reference of tasks by file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / ".ci" / "site")
        found: dict[str, str] = import_module("reference_pages").tasks()
    return found


@pytest.mark.parametrize(
    ("task", "files"),
    [
        (
            "hopper",
            {"baselines_hopper_small_nets.png", "baselines_hopper_authors_nets.png"},
        ),
        (
            "pred_prey_3",
            {"baselines_pred_prey_3.png", "baselines_pred_prey_3_2m.png"}
            | {"dial.png", "dial_long.png"}
            | {
                f"fig9/pred_prey_3_{axis}.png" for axis in ("env_steps", "evaluations", "wall_time")
            },
        ),
        ("pred_prey_6", set()),
        ("pred_prey_3_capture=2", set()),
    ],
)
def test_a_task_has_all_its_pictures_with_captions(
    pages: dict[str, str], task: str, files: set[str]
) -> None:
    assert {file for _, file in PICTURE.findall(pages[f"{task}.md"])} == files
    assert pages[f"{task}.md"].count("](../../results/") == 2 * len(files)


def test_no_picture_is_on_the_pages_of_two_tasks(pages: dict[str, str]) -> None:
    shown = [file for text in pages.values() for _, file in PICTURE.findall(text)]
    assert len(shown) == len(set(shown)) > 10
    assert all((ROOT / "docs" / "results" / file).exists() for file in shown)


@pytest.mark.parametrize(
    ("task", "reward"),
    [
        ("hopper", "forward speed in m/s, plus 1 if healthy, less 0.001 x squared actions"),
        ("swimmer", "forward speed in m/s, less 0.0001 x squared actions"),
        (
            "pred_prey_3_capture=2",
            "10 for each predator that touches a prey, if 2 touch it at once",
        ),
        (
            "drone_delivery_3",
            "10 d^2 for a delivery over a distance d, -1 for a collision, -0.02 for an empty tank",
        ),
        ("causal_toy", "the last node of the graph, Y"),
    ],
)
def test_the_reward_is_that_of_the_task(pages: dict[str, str], task: str, reward: str) -> None:
    assert f"| reward | {reward} |" in pages[f"{task}.md"]


@pytest.mark.parametrize(
    ("task", "when", "taken"),
    [
        ("hopper", "each", "sparse delay noise flip drop survival flush_on_end"),
        ("pred_prey_3", "each", "sparse delay noise flip drop flush_on_end"),
        ("causal_dropwave", "the only", "flip drop"),
    ],
)
def test_only_settings_that_the_task_takes_are_named(
    pages: dict[str, str], task: str, when: str, taken: str
) -> None:
    (line,) = re.findall(r"\| paid \| in (.*) step; changed by (.*) \(", pages[f"{task}.md"])
    assert line == (when, ", ".join(f"`{each}`" for each in taken.split()))
