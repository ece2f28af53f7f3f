"""The house as the design has it: import arrows between rooms, no circles, no corridors, no ruins.

Read from the sources, so that an arrow the wrong way fails even where nothing runs it. A rule is
one test, which names all files that break it: three thousand tests would take longer than reading.
"""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

import networkx as nx
import pytest
from vulture import Vulture

from rolecast.rooms import ROOMS

ROOT: Final = Path(__file__).resolve().parent.parent
MAX_LINES: Final = 332
"""The longest file there is; falls when that one does."""

PLATFORM_ARROWS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "cli": frozenset(
            {
                "reports",
                "tuning",
                "search",
                "rollout",
                "optimizers",
                "deployment",
                "serving",
                "play",
            }
        ),
        "serving": frozenset({"rollout", "actors"}),
        "deployment": frozenset({"rollout", "tuning"}),
        "play": frozenset({"deployment", "reports", "rollout"}),
        "reports": frozenset({"tuning", "search", "rollout"}),
        "tuning": frozenset({"search", "rollout", "optimizers", "actors"}),
        "actors": frozenset({"search", "rollout", "optimizers"}),
        "search": frozenset({"rollout", "optimizers"}),
        "rollout": frozenset(),
        "optimizers": frozenset({"surrogate"}),
        "surrogate": frozenset(),
    }
)
"""Room of `platform` to the rooms beside it that it may import; actors are chosen by name."""

ONE_WORD_CONSTANTS: Final = frozenset(
    {
        # Registries: name to what it names
        "ALGORITHMS", "BASELINES", "CONFIGURATIONS", "ENCODERS", "FAMILIES", "METHODS",
        "OPTIMIZERS", "PARAMETERISATIONS", "POLICIES", "SCRIPTED",
        # What loaders look for in a module
        "EXPERIMENT", "EXPERIMENTS", "ROOMS", "TABLE", "TABLES",
        # Contents of a benchmark's table
        "CONTESTANTS", "PROBLEMS",
        # Colours
        "BLUE", "GREEN", "GREY", "INK", "ORANGE", "PURPLE", "SKY", "VERMILION",
    }
)  # fmt: skip
"""Module constants that one word names."""

CALLED_BY_LIBRARIES: Final = frozenset(
    {
        # RLlib
        "_forward", "_forward_exploration", "_forward_inference", "_forward_train",
        "_get_env_id_and_creator", "agent_steps", "assert_healthy", "build_learner_connector",
        "compute_loss_for_module", "get_checkpointable_components", "get_ctor_args_and_kwargs",
        "get_default_config", "get_default_learner_class", "get_default_rl_module_spec",
        "get_metrics", "training_step",
        # Tune
        "add_evaluated_point", "checkpoint", "cleanup", "default_resource_request",
        "evaluated_params", "init_local_path", "load_checkpoint", "on_trial_complete",
        "on_trial_error", "save_checkpoint", "set_search_properties",
        # linear_operator
        "_diagonal", "_getitem", "_matmul", "_transpose_nonbatch",
        # Optuna
        "infer_relative_search_space", "sample_relative",
        # Gymnasium, Numba, the import system
        "close_extras", "implementation", "VectorModel", "exec_module", "find_spec",
    }
)  # fmt: skip
"""Methods that a library looks for by name."""

CALLED_BY_USERS: Final = frozenset(
    {
        "RolecastSampler",
        "RolecastSearcher",
        "TorchRLParallelEnv",
        "acting_layers",
        "candidate",
        "for_env",
        "graph_from_networkx",
        "read_graph",
        "read_incumbents",
        "ridge",
        "venture",
    }
)
"""What task ids name, and readers of a run or a learner; registries list all else for users."""

FILES: Final = sorted(
    file for room in (*ROOMS, "rolecast", "tests") for file in (ROOT / room).rglob("*.py")
)
ROOM_FILES: Final = [file for file in FILES if file.relative_to(ROOT).parts[0] in ROOMS]
FOLDERS: Final = sorted({file.parent for file in ROOM_FILES} - {ROOT / "tune_configs"})
"""But for the experiments, which are named after the figures and tables of the paper."""


def name(file: Path) -> str:
    return str(file.relative_to(ROOT))


def module_name(file: Path) -> str:
    """Return the dotted name under which a file of a room is imported."""
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(("rolecast", *parts)).removesuffix(".__init__")


MODULES: Final = frozenset(map(module_name, ROOM_FILES))


@cache
def syntax(file: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(file.read_text())


@cache
def imported(file: Path) -> tuple[str, ...]:
    """Return the dotted name of every import in a file, wherever in the file it stands."""
    return tuple(_imported(file))


def _imported(file: Path) -> Iterator[str]:
    for node in ast.walk(syntax(file)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name(file)} imports relatively; expected absolute imports"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imported_modules(file: Path) -> set[str]:
    """Return the modules of the rooms that a file imports, lazy imports and those for types too."""
    names = imported(file)
    return {full if full in MODULES else full.rpartition(".")[0] for full in names} & MODULES


def broken(found: Iterable[tuple[Path, set[str]]]) -> dict[str, set[str]]:
    """Return what breaks a rule, by the name of the file or folder that holds it."""
    return {name(path): wrong for path, wrong in found if wrong}


def test_imports_follow_the_arrows_between_rooms() -> None:
    def beyond(file: Path) -> set[str]:
        allowed = ROOMS[ROOMS.index(file.relative_to(ROOT).parts[0]) :]
        return {module.split(".")[1] for module in imported_modules(file)} - set(allowed)

    assert broken((file, beyond(file)) for file in ROOM_FILES) == {}


def test_imports_follow_the_arrows_inside_the_platform() -> None:
    def beyond(file: Path) -> set[str]:
        room = file.relative_to(ROOT).parts[1]
        parts = [module.split(".") for module in imported_modules(file)]
        rooms = {part[2] for part in parts if part[1] == "platform"}
        return rooms - {room} - PLATFORM_ARROWS[room]

    files = [file for file in ROOM_FILES if file.is_relative_to(ROOT / "platform")]
    assert broken((file, beyond(file)) for file in files) == {}


def test_the_platform_knows_no_simulator() -> None:
    """A task offers what a page or a film needs, by a Protocol of `envs/spec.py`."""
    simulators = {"predator_prey", "drone_delivery", "mujoco"}

    def known(file: Path) -> set[str]:
        parts = [module.split(".") for module in imported_modules(file)]
        return {part[2] for part in parts if part[1] == "envs"} & simulators

    files = [file for file in ROOM_FILES if file.is_relative_to(ROOT / "platform")]
    assert broken((file, known(file)) for file in files) == {}


@pytest.mark.parametrize(
    ("folder", "allowed"),
    [("planning", {"planning"}), ("records", {"planning", "records"})],
)
def test_plans_know_no_records_and_neither_knows_the_loop(folder: str, allowed: set[str]) -> None:
    files = (ROOT / "platform/search" / folder).glob("*.py")
    parts = [module.split(".") for file in files for module in imported_modules(file)]
    known = {part[3] for part in parts if part[1:3] == ["platform", "search"] and part[3:]}
    assert known == allowed


def test_reports_evaluate_no_policy() -> None:
    """What they draw was measured when the run ended; a film plays the episode that it shows."""
    files = [file for file in ROOM_FILES if file.is_relative_to(ROOT / "platform/reports")]
    evaluating = {
        name(file)
        for file in files
        for module in imported_modules(file)
        if module.startswith("rolecast.platform.rollout") and file.parent.name != "film"
    }
    assert evaluating == set()


def test_no_files_import_each_other_in_a_circle() -> None:
    graph = nx.DiGraph(
        (module_name(file), other) for file in ROOM_FILES for other in imported_modules(file)
    )
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    circles = [sorted(part) for part in nx.strongly_connected_components(graph) if len(part) > 1]
    assert circles == []


def test_only_the_platform_and_what_stands_on_it_knows_ray_and_tasks_know_no_torch() -> None:
    unknown = {"core": {"ray", "torch"}, "envs": {"ray", "torch"}, "policies": {"ray"}}

    def known(file: Path) -> set[str]:
        packages = {full.split(".")[0] for full in imported(file)}
        return packages & unknown.get(file.relative_to(ROOT).parts[0], set())

    assert broken((file, known(file)) for file in ROOM_FILES) == {}


def test_a_constant_says_what_it_is_in_two_words() -> None:
    """`FALSE_DISCOVERY_RATE`, not `FALSE`; registries and colours are named for what they are."""
    found = ((file, one_word_constants(file) - ONE_WORD_CONSTANTS) for file in ROOM_FILES)
    assert broken(found) == {}


def one_word_constants(file: Path) -> set[str]:
    """Return the module constants of a file that one word names."""
    targets = [
        target
        for node in syntax(file).body
        for target in (
            node.targets
            if isinstance(node, ast.Assign)
            else [node.target]
            if isinstance(node, ast.AnnAssign)
            else []
        )
    ]
    names = {target.id for target in targets if isinstance(target, ast.Name)}
    return {each for each in names if re.fullmatch(r"_?[A-Z][A-Z0-9]+", each)}


def test_a_file_is_no_longer_than_one_idea_takes() -> None:
    lines = {name(file): len(file.read_text().splitlines()) for file in FILES}
    assert {file: count for file, count in lines.items() if count > MAX_LINES} == {}


def test_a_file_says_why_it_exists() -> None:
    assert [name(file) for file in ROOM_FILES if not ast.get_docstring(syntax(file))] == []


def test_three_files_of_one_prefix_are_a_folder() -> None:
    def crowded(folder: Path) -> set[str]:
        stems = [file.stem for file in folder.glob("*.py") if not file.stem.startswith("_")]
        prefixes = Counter(stem.split("_")[0] for stem in stems)
        return {prefix for prefix, count in prefixes.items() if count > 2}

    assert broken((folder, crowded(folder)) for folder in FOLDERS) == {}


def test_no_two_modules_differ_by_a_plural() -> None:
    def confused(folder: Path) -> set[str]:
        stems = {entry.stem for entry in folder.iterdir() if entry.name != "__pycache__"}
        return {stem for stem in stems if f"{stem}s" in stems}

    assert broken((folder, confused(folder)) for folder in FOLDERS) == {}


def test_every_function_and_class_is_used_by_the_product(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By vulture, without the tests: what they alone call is dead."""
    monkeypatch.setattr(sys, "argv", ["vulture"])
    finder = Vulture(ignore_decorators=["@app.*", "@overload", "@extending.*", "@intrinsic"])
    finder.scavenge([str(ROOT / room) for room in (*ROOMS, "rolecast")])
    unused = {
        f"{Path(item.filename).relative_to(ROOT)}: {item.name}"
        for item in finder.get_unused_code()
        if item.typ in {"class", "function", "method", "property"}
        and item.name not in CALLED_BY_LIBRARIES | CALLED_BY_USERS | registered_names()
        and not item.name.startswith("__")
    }
    assert unused == set()


@cache
def registered_names() -> frozenset[str]:
    """Return the names in string constants that registries look up, as in `"module:Name"`."""
    texts = (
        node.value
        for file in (*ROOM_FILES, ROOT / "rolecast" / "__init__.py")
        for node in ast.walk(syntax(file))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    words = (text for text in texts if text.isidentifier() or text.startswith("rolecast."))
    return frozenset(word.rpartition(":")[2] for word in words)


def test_no_folder_of_the_path_hides_a_module() -> None:
    assert [
        file for file in FILES if file.name == "__init__.py" and file.parent.name == "platform"
    ] == []
    assert list((ROOT / "tests").rglob("__init__.py")) == []
