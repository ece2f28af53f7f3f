"""The files of deploy/ agree with schemas, with each other, and with the pinned versions."""

import importlib.util
import inspect
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import pytest
import yaml

from rolecast.core.errors import RequestError
from rolecast.core.files import write_json
from rolecast.platform.search.planning.config import SearchConfig
from rolecast.rooms import ROOMS
from tests.test_docs import blocks

ROOT = Path(__file__).resolve().parent.parent
DEPLOY = ROOT / "deploy"
PACKAGE_FILES = ("LICENSE", "README.md", "constraints.txt", "pyproject.toml", "setup.py")
INSTRUCTIONS = {"FROM", "COPY", "RUN", "ENV", "USER", "WORKDIR", "EXPOSE", "HEALTHCHECK", "CMD"}
FETCHES = blocks(ROOT / "docs" / "howto" / "fetch.md", "sh")
"""Commands that bring a report, and a whole folder, through the log of a job."""

RAY_VERSION = re.findall(r"^ray==(\S+)", (ROOT / "constraints.txt").read_text(), re.MULTILINE)[0]


@pytest.fixture
def script() -> ModuleType:
    """Return deploy/search.py as a module."""
    spec = importlib.util.spec_from_file_location("deploy_search", DEPLOY / "search.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_cluster_is_what_ray_up_takes() -> None:
    autoscaler = importlib.util.find_spec("ray.autoscaler")
    assert autoscaler is not None
    assert autoscaler.origin is not None
    schema = json.loads(Path(autoscaler.origin).with_name("ray-schema.json").read_text())
    cluster = yaml.safe_load((DEPLOY / "cluster.yaml").read_text())
    jsonschema.validate(cluster, schema)
    assert cluster["head_node_type"] in cluster["available_node_types"]
    assert f":{RAY_VERSION}-py311" in cluster["docker"]["image"]


def test_the_job_has_its_volume_where_it_writes() -> None:
    claim, job = yaml.safe_load_all((DEPLOY / "rayjob.yaml").read_text())
    cluster = job["spec"]["rayClusterSpec"]
    assert cluster["rayVersion"] == RAY_VERSION
    head = cluster["headGroupSpec"]["template"]["spec"]
    (volume,) = head["volumes"]
    assert volume["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
    (mount,) = head["containers"][0]["volumeMounts"]
    assert f"--out {mount['mountPath']}/" in job["spec"]["entrypoint"]
    assert mount["name"] == volume["name"]


def test_the_job_is_one_of_kuberay() -> None:
    schema = json.loads((ROOT / "tests" / "schemas" / "rayjob.json").read_text())
    _, job = yaml.safe_load_all((DEPLOY / "rayjob.yaml").read_text())
    assert (job["apiVersion"], job["kind"]) == ("ray.io/v1", "RayJob")
    jsonschema.validate(job["spec"], schema)
    wrong = job["spec"] | {"shutDownAfterJobFinishes": True}
    with pytest.raises(jsonschema.ValidationError, match="shutDownAfterJobFinishes"):
        jsonschema.validate(wrong, schema)


def test_the_job_runs_the_image_that_is_built_for_it() -> None:
    text = (DEPLOY / "rayjob.yaml").read_text()
    (named,) = re.findall(r"built from deploy/(\S+) ", text)
    images = set(re.findall(r"image: (\S+)", text))
    assert images == set(re.findall(r"-t (\S+) \.", (DEPLOY / named).read_text()))


def test_every_container_says_what_it_needs_and_is_not_root() -> None:
    _, job = yaml.safe_load_all((DEPLOY / "rayjob.yaml").read_text())
    cluster = job["spec"]["rayClusterSpec"]
    groups: list[dict[str, Any]] = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    for group in groups:
        pod = group["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"]
        for container in pod["containers"]:
            needs = container["resources"]
            assert needs["requests"] == needs["limits"]


def test_the_runtime_environment_is_one_of_ray() -> None:
    from ray.runtime_env import RuntimeEnv

    told = yaml.safe_load((DEPLOY / "runtime_env.yaml").read_text())
    assert RuntimeEnv(**told)["pip"]["packages"] == told["pip"]["packages"]


def test_the_batch_script_is_shell() -> None:
    subprocess.run(["bash", "-n", str(DEPLOY / "slurm.sbatch")], check=True)


def test_the_batch_script_gives_options_that_ray_has() -> None:
    """Those of `ray symmetric-run` itself, and further ones of `ray start`."""
    from ray.scripts.scripts import start
    from ray.scripts.symmetric_run import symmetric_run

    text = (DEPLOY / "slurm.sbatch").read_text().replace("\\\n", " ")
    (given,) = re.findall(r"ray symmetric-run (.*?) -- ", text)
    own, further = ({name for each in command.params for name in each.opts} for command in (
        symmetric_run, start
    ))  # fmt: skip
    named = set(re.findall(r"--[a-z-]+", given))
    assert {"--address", "--min-nodes"} <= named & own
    assert named <= own | further - {"--head", "--node-ip-address", "--port", "--block"}


@pytest.mark.parametrize("out", [["--out", "DIR"], ["--out=DIR"]], ids=["word", "equals"])
def test_the_script_searches_first_and_resumes_then(
    script: ModuleType, tmp_path: Path, out: list[str]
) -> None:
    out = [each.replace("DIR", str(tmp_path)) for each in out]
    words = ["pred_prey_3", *out, "--seed", "3", "--env-steps", "4000", "--log-json", "-q"]
    assert script.command(words) == ["search", *words, "--address", "auto"]
    _begin(tmp_path)
    again = ["resume", str(tmp_path), "--task", "pred_prey_3", "-q", "--address", "auto"]
    assert script.command(words) == again


def test_the_script_passes_on_what_a_resumption_takes(script: ModuleType, tmp_path: Path) -> None:
    _begin(tmp_path)
    words = ["pred_prey_3", "--out", str(tmp_path), "--env-steps=9000", "--workers", "8"]
    told = script.command([*words, "--address=head:6379", "--trust", "--set", "window=600"])
    assert told == [
        *("resume", str(tmp_path), "--task", "pred_prey_3", "--env-steps", "9000"),
        *("--workers", "8", "--trust", "--address", "head:6379"),
    ]


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["pred_prey_6"], "task is 'pred_prey_6'; expected 'pred_prey_3'"),
        (["pred_prey_3", "--sparse", "5"], "task is 'pred_prey_3.sparse=5'"),
        (["pred_prey_3", "--seed", "4"], "seed is 4; expected 3"),
        (["pred_prey_3", "--set", "window=10"], "window is 10; expected 600"),
        (["pred_prey_3", "-m"], "--multirun"),
    ],
)
def test_the_script_resumes_no_other_search(
    script: ModuleType, tmp_path: Path, words: list[str], named: str
) -> None:
    _begin(tmp_path)
    with pytest.raises(RequestError, match=named):
        script.command([*words, "--out", str(tmp_path)])


def test_the_script_needs_a_folder() -> None:
    ended = subprocess.run(
        [sys.executable, str(DEPLOY / "search.py"), "pred_prey_3"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("deploy/search.py: --out is missing")


def _begin(folder: Path) -> None:
    """Write what a search notes of itself when it begins."""
    config = SearchConfig(
        task="pred_prey_3", seed=3, env_steps=4000, optimizer_settings={"window": 600}
    )
    write_json(folder / "run.json", {"search": config.to_json()})


@pytest.mark.parametrize("line", FETCHES, ids=["report", "folder"])
def test_what_a_job_prints_is_found_again_in_its_log(line: str, tmp_path: Path) -> None:
    """The two halves of the guide's commands, without the job between them."""
    found = re.fullmatch(
        r"ray job submit --address \S+ -- bash -c '(.*)' \| (sed|grep)(.*)", line.strip()
    )
    assert found is not None
    shutil.copytree(ROOT / "docs" / "gallery" / "hunt", tmp_path / "runs" / "big")
    remote = found[1].replace("/shared/runs", str(tmp_path / "runs"))
    remote = remote.replace("rolecast report", "echo open")
    printed = subprocess.run(["bash", "-c", remote], capture_output=True, check=True).stdout
    log = b"INFO Runtime env is setting up.\nrolecast: loading\n" + printed + b"\nJob succeeded\n"
    here = tmp_path / "here"
    here.mkdir()
    subprocess.run(["bash", "-c", found[2] + found[3]], input=log, cwd=here, check=True)
    fetched = here / "report.html" if found[2] == "sed" else here / "big" / "report.html"
    original = (tmp_path / "runs" / "big" / "report.html").read_bytes()
    assert fetched.read_bytes().rstrip() == original.rstrip()


def test_the_service_is_a_config_of_ray_serve() -> None:
    from ray.serve.schema import ServeDeploySchema

    told = yaml.safe_load((DEPLOY / "serve.yaml").read_text())
    (application,) = ServeDeploySchema(**told).applications
    module, _, name = application.import_path.partition(":")
    builder = getattr(importlib.import_module(module), name)
    assert len(inspect.signature(builder).parameters) == 1  # Ray Serve refuses any other
    built = builder(application.args)
    (deployment,) = application.deployments
    assert built._bound_deployment.name == deployment.name
    assert told["http_options"]["host"] == "127.0.0.1"


@pytest.mark.parametrize(
    ("file", "base"),
    [
        ("serve.Dockerfile", r"python:3\.11\.\d+-slim-\w+"),
        ("cluster.Dockerfile", rf"rayproject/ray:{re.escape(RAY_VERSION)}-py311-cpu"),
    ],
)
def test_an_image_is_pinned_without_rights_and_gets_no_more_than_the_package(
    file: str, base: str
) -> None:
    lines = (DEPLOY / file).read_text().splitlines()
    (found,) = (line for line in lines if line.startswith("FROM "))
    assert re.fullmatch(f"FROM {base}", found)
    assert any("/source/constraints.txt" in line and "--constraint" in line for line in lines)
    assert {line.split()[0] for line in lines if line and line[0] not in "# "} <= INSTRUCTIONS
    (user,) = (line for line in lines if line.startswith("USER "))
    assert int(user.split()[1]) > 0
    assert lines.index(user) < next(i for i, line in enumerate(lines) if line.startswith("CMD "))
    copied = (DEPLOY / f"{file}.dockerignore").read_text().splitlines()
    named = {line[1:] for line in copied if line.startswith("!")}
    assert "*" in copied
    assert named == {*ROOMS, "rolecast", *PACKAGE_FILES}
    assert all((ROOT / name).exists() for name in named)
