"""A package with the entry points that the guide prints is found under each of its names."""

import inspect
import pkgutil
import re
import sys
import textwrap
import tomllib
from pathlib import Path
from typing import Any

import pytest

from rolecast import testing
from rolecast.core.errors import RequestError
from rolecast.envs.registry import ENTRY_POINTS as TASK_GROUP
from rolecast.envs.registry import make_task, tasks_of_others
from rolecast.platform.cli.app import main
from rolecast.platform.optimizers.random import RandomConfig
from rolecast.platform.optimizers.registry import ENTRY_POINTS as OPTIMIZER_GROUP
from rolecast.platform.optimizers.registry import optimizer_config, optimizer_names
from rolecast.platform.tuning.learner import ENTRY_POINTS as METHOD_GROUP
from rolecast.platform.tuning.learner import method_factory, method_names
from rolecast.policies.artefact import load_policy
from rolecast.policies.mlp import MlpConfig
from rolecast.policies.registry import ENTRY_POINTS as POLICY_GROUP
from rolecast.policies.registry import make_policy, policy_names
from tests.test_docs import blocks

PAGE = Path(__file__).resolve().parent.parent / "docs" / "howto" / "plug_in.md"

MODULES = {
    "tasks": """
from dataclasses import replace
from rolecast.envs.predator_prey.task import PredatorPreyTask
class Arena(PredatorPreyTask):
    def __init__(self, **options):
        super().__init__(6, **options)
        self._spec = replace(self._spec, id="arena")
make_arena = Arena
""",
    "policies": """
from dataclasses import dataclass
from rolecast.policies.mlp import MlpConfig
@dataclass(frozen=True, kw_only=True)
class TinyConfig(MlpConfig):
    hidden: tuple[int, ...] = (2,)
    def build(self, task, seed):
        policy = super().build(task, seed)
        policy.name = "tiny"
        return policy
""",
    "optimizers": """
from rolecast.platform.optimizers.random import RandomConfig
class AnnealingConfig(RandomConfig):
    pass
""",
    "learners": """
from rolecast.baselines.methods import METHODS
REINFORCE = METHODS["ppo"]
""",
}
"""The modules that the page names; each takes something of this project for its own."""


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, str]]:
    """The groups of the page's pyproject.toml, as an installed package has them."""
    (text,) = blocks(PAGE, "toml")
    found: dict[str, dict[str, str]] = tomllib.loads(text)["project"]["entry-points"]
    package = tmp_path / "my_package"
    package.mkdir()
    for name, code in MODULES.items():
        (package / f"{name}.py").write_text(code)
    about = tmp_path / "my_package-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    lines = [
        f"[{group}]\n" + "".join(f"{name} = {place}\n" for name, place in entries.items())
        for group, entries in found.items()
    ]
    (about / "entry_points.txt").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(tmp_path)
    return found


def test_the_page_has_all_groups_and_their_entries_are_found(
    groups: dict[str, dict[str, str]],
) -> None:
    named = {
        TASK_GROUP: tasks_of_others(),
        POLICY_GROUP: policy_names(),
        OPTIMIZER_GROUP: optimizer_names(),
        METHOD_GROUP: method_names({}),
    }
    assert groups.keys() == named.keys()
    for group, entries in groups.items():
        assert entries
        assert entries.keys() <= set(named[group])
    arena = make_task("arena")
    assert make_policy("tiny", arena).options["hidden"] == [2]
    assert type(optimizer_config("annealing")).__module__ == "my_package.optimizers"
    method_factory("reinforce", {}).check(arena.spec, {})


def test_every_protocol_that_the_page_names_can_be_imported() -> None:
    names = set(re.findall(r"`(rolecast(?:\.\w+)*\.[A-Z]\w+)`", PAGE.read_text()))
    assert {"rolecast.MethodFactory", "rolecast.LearningMethod"} <= names
    assert all(map(inspect.isclass, map(pkgutil.resolve_name, names)))


@pytest.mark.usefixtures("groups")
def test_a_learning_method_that_fails_to_load_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_package" / "learners.py").write_text("import my_lost_package\n")
    monkeypatch.delitem(sys.modules, "my_package.learners", raising=False)
    monkeypatch.delitem(sys.modules, "my_package", raising=False)
    expected = "learning method 'reinforce' cannot be loaded from my_package.learners:REINFORCE"
    with pytest.raises(RequestError, match=expected):
        method_factory("reinforce", {})


@pytest.mark.usefixtures("groups")
def test_the_commands_of_the_page_run(tmp_path: Path) -> None:
    lines = [line.split()[1:] for line in blocks(PAGE, "text")[0].splitlines()]
    assert [words[0] for words in lines] == ["check-task", "search"]
    cut = [
        "--evaluations",
        "12",
        "--episodes",
        "2",
        "--workers",
        "0",
        "--out",
        str(tmp_path / "run"),
    ]
    for words, more in zip(lines, ([], cut), strict=True):
        assert main([*words, *more]) == 0
    loaded = load_policy(tmp_path / "run")
    stored = loaded.policy
    assert loaded.task.id == "arena"
    assert (stored.name, [*stored.options["hidden"]]) == ("tiny", [4])


@pytest.mark.parametrize(
    ("contract", "of_mine", "checked"),
    [
        (
            "optimizers",
            {"MyConfig": RandomConfig},
            "test_candidates_have_their_shape_and_stay_in_the_cube",
        ),
        ("policies", {"MyConfig": MlpConfig}, "test_actions_have_their_shape_and_stay_in_bounds"),
        (
            "tasks",
            {"make_task": lambda _: make_task("pred_prey_3")},
            "test_observations_rewards_and_ends_have_their_shapes",
        ),
    ],
)
def test_the_example_of_a_contract_is_a_test_that_runs(
    contract: str, of_mine: dict[str, Any], checked: str
) -> None:
    module = getattr(testing, contract)
    example = inspect.cleandoc(module.__doc__).partition("Example:\n")[2]
    names = {**vars(module), **of_mine}
    exec(textwrap.dedent(example), names)
    getattr(names["TestMine"](), checked)()
