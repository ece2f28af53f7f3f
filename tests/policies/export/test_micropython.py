"""The Python file of a policy computes its actions, without an import, here and in MicroPython."""

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from rolecast.core.types import Float
from rolecast.policies.export.micropython import (
    clearly_decided,
    decided_in_float32,
    python_check,
    python_source,
)
from rolecast.policies.export.reference import reference
from tests.policies.export.test_c99 import SHAPES, made, vectors

NODE_PACKAGE: Final = "@micropython/micropython-webassembly-pyscript"

NODE_RUNNER: Final = """
const [, folder, file] = process.argv;
const fs = require('fs');
import(file).then(async ({loadMicroPython}) => {
    const python = await loadMicroPython({stdout: console.log});
    for (const name of fs.readdirSync(folder)) {
        if (name.endsWith('.py')) python.FS.writeFile(name, fs.readFileSync(`${folder}/${name}`));
    }
    python.runPython(fs.readFileSync(`${folder}/main_test.py`, 'utf8'));
}).catch((error) => { console.error(String(error)); process.exit(1); });
"""


def micropython_command(folder: Path) -> list[str] | None:
    """Return the command that runs main_test.py of a folder in MicroPython; None without one."""
    if shutil.which("micropython"):
        return ["micropython", "main_test.py"]
    if shutil.which("npm") is None or shutil.which("node") is None:
        return None
    root = subprocess.run(["npm", "root", "-g"], capture_output=True, text=True, check=True)
    package = Path(root.stdout.strip()) / NODE_PACKAGE / "micropython.mjs"
    return ["node", "-e", NODE_RUNNER, str(folder), str(package)] if package.is_file() else None


def written(folder: Path, policy: Any, weights: Float, count: int) -> tuple[Float, Float]:
    """Write both files; return observations and the policy's actions in float64."""
    drawn = vectors(policy_agents(policy), 240).astype(np.float64)
    observations = drawn[clearly_decided(policy, weights, drawn)]
    assert len(observations) > 100
    expected = policy.act(weights[None], observations[None])[0]
    (folder / "rolecast_policy.py").write_text(python_source(policy, weights, remarks="a test"))
    check = python_check(observations[:count], expected[:count], remarks="a test")
    (folder / "main_test.py").write_text(check)
    return observations, expected


def policy_agents(policy: Any) -> int:
    return int(policy.model.agents if policy.name == "hom" else policy.agents)


@pytest.mark.parametrize(("name", "agents", "options"), SHAPES, ids=str)
def test_actions_are_those_of_float64(
    name: str, agents: int, options: dict[str, Any], tmp_path: Path
) -> None:
    policy, weights = made(name, agents, options)
    observations, expected = written(tmp_path, policy, weights, 20)
    source = (tmp_path / "rolecast_policy.py").read_text()
    tree = ast.parse(source)
    assert not any(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(tree))
    module: dict[str, Any] = {}
    exec(compile(source, "rolecast_policy.py", "exec"), module)  # the file of the test
    found = np.array([module["step"](each) for each in observations.tolist()])
    np.testing.assert_allclose(found, expected, atol=1e-6, rtol=0.0)


@pytest.mark.parametrize(("name", "agents", "options"), SHAPES, ids=str)
def test_micropython_computes_the_same(
    name: str, agents: int, options: dict[str, Any], tmp_path: Path
) -> None:
    command = micropython_command(tmp_path)
    if command is None:
        pytest.skip(f"needs the Debian package micropython, or the npm package {NODE_PACKAGE}")
    policy, weights = made(name, agents, options)
    _, expected = written(tmp_path, policy, weights, 100)
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "allowed: 1e-06" in ended.stdout
    text = (tmp_path / "main_test.py").read_text()
    wrong = json.dumps(expected[0].tolist()) in text
    assert wrong
    (tmp_path / "main_test.py").write_text(
        text.replace(json.dumps(expected[0].tolist()), json.dumps((expected[0] + 1e-5).tolist()))
    )
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 1


def test_a_test_program_without_vectors_fails(tmp_path: Path) -> None:
    """It would tell a board that it acts as the policy does, and has compared nothing."""
    written(tmp_path, *made("linear", 2, {}), 0)
    command = [sys.executable, "main_test.py"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "nothing is compared" in ended.stderr


class _RoundedNumbers(ast.NodeTransformer):
    """Makes each decimal number of a source one of float32, so that all arithmetic is."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if not isinstance(node.value, float):
            return node
        return ast.copy_location(ast.Call(ast.Name("f32", ast.Load()), [node], []), node)


@pytest.mark.parametrize("agents", [3, 6])
@pytest.mark.parametrize("roles", [True, False], ids=["roles", "agents"])
def test_a_board_with_float32_passes_its_own_test(agents: int, roles: bool) -> None:
    """The file computes in float32 here, as boards do whose MicroPython has 24 bits."""
    for seed in range(3):
        policy, _ = made("hom", agents, {"role_assignment": roles})
        drawn_weights = np.random.default_rng(seed).random(policy.space.dimension)
        weights = policy.space.weights(drawn_weights)
        drawn = vectors(agents, 240).astype(np.float64)
        observations = drawn[clearly_decided(policy, weights, drawn)]
        stored = observations[decided_in_float32(policy, weights, observations)]
        assert len(stored) > 20
        tree = ast.parse(python_source(policy, weights, remarks="a test"))
        tree = ast.fix_missing_locations(_RoundedNumbers().visit(tree))
        module: dict[str, Any] = {"f32": np.float32, "float": np.float32}
        exec(compile(tree, "rolecast_policy.py", "exec"), module)  # the file of the test
        with np.errstate(over="ignore", under="ignore"):
            found = [module["step"](each) for each in stored.astype(np.float32)]
        assert isinstance(found[0][0][0], np.float32)
        expected = policy.act(weights[None], stored[None])[0]
        np.testing.assert_allclose(np.array(found), expected, atol=1e-3, rtol=0.0)


def test_equal_agents_have_the_roles_of_their_numbers() -> None:
    """As of the float32 reference, whose ties are exact; actions differ by its rounding."""
    policy, weights = made("hom", 4, {"role_assignment": True})
    observations = np.repeat(np.random.default_rng(0).normal(size=(50, 1, 6)), 4, axis=1)
    module: dict[str, Any] = {}
    exec(python_source(policy, weights, remarks="a test"), module)  # the file of the test
    found = np.array([module["step"](each) for each in observations.tolist()])
    expected = reference(policy, weights)(observations.astype(np.float32))
    np.testing.assert_allclose(found, expected, atol=1e-3)
