"""The files of deploy/ agree with schemas, with each other, and with the pinned versions."""

import importlib.util
import inspect
import json
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

import rolecast
from rolecast.platform.cli import app
from rolecast.rooms import ROOMS
from tests.test_docs import blocks

ROOT = Path(__file__).resolve().parent.parent
DEPLOY = ROOT / "deploy"
PACKAGE_FILES = ("LICENSE", "README.md", "constraints.txt", "pyproject.toml", "setup.py")
INSTRUCTIONS = {"FROM", "COPY", "RUN", "ENV", "USER", "WORKDIR", "EXPOSE", "HEALTHCHECK", "CMD"}
FETCHES = blocks(ROOT / "docs" / "howto" / "fetch.md", "sh")
"""Commands that bring a report, and a whole folder, through the log of a job."""

RAY_VERSION = re.findall(r"^ray==(\S+)", (ROOT / "constraints.txt").read_text(), re.MULTILINE)[0]


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
    claim = yaml.safe_load((DEPLOY / "rayjob_claim.yaml").read_text())
    job = ray_job()
    cluster = job["spec"]["rayClusterSpec"]
    assert cluster["rayVersion"] == RAY_VERSION
    head = cluster["headGroupSpec"]["template"]["spec"]
    (volume,) = head["volumes"]
    assert volume["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
    (mount,) = head["containers"][0]["volumeMounts"]
    assert f"--out {mount['mountPath']}/" in job["spec"]["entrypoint"]
    assert mount["name"] == volume["name"]
    pod = yaml.safe_load((DEPLOY / "fetch_pod.yaml").read_text())["spec"]
    assert (pod["volumes"], pod["containers"][0]["volumeMounts"]) == ([volume], [mount])
    for told in ("securityContext", "image"):
        ours, theirs = ({**each, **each["containers"][0]}[told] for each in (pod, head))
        assert ours == theirs


def test_a_job_that_is_deleted_for_the_next_leaves_the_volume_and_its_runs() -> None:
    """What `kubectl delete -f` deletes is all that is in the file."""
    assert ray_job()["kind"] == "RayJob"
    name = ray_job()["metadata"]["name"]
    for file in (DEPLOY / "rayjob.yaml", ROOT / "docs" / "howto" / "cluster_kit.md"):
        assert f"kubectl delete rayjob {name}" in file.read_text()


def ray_job() -> Any:
    """Return the one object of the job's file."""
    (job,) = yaml.safe_load_all((DEPLOY / "rayjob.yaml").read_text())
    return job


def test_the_job_is_one_of_kuberay() -> None:
    schema = json.loads((ROOT / "tests" / "schemas" / "rayjob.json").read_text())
    job = ray_job()
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
    assert {image.rpartition(":")[2] for image in images} == {rolecast.__version__}


def test_every_container_says_what_it_needs_and_is_not_root() -> None:
    job = ray_job()
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


def test_the_script_is_a_search_that_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """A word that is given comes after the script's own, and the last of two counts."""
    told: list[list[str]] = []

    def record(words: list[str]) -> int:
        told.append(words)
        return 3

    monkeypatch.setattr(app, "main", record)
    monkeypatch.setattr(sys, "argv", ["search.py", "hopper", "--address", "head:6379"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(DEPLOY / "search.py"), run_name="__main__")
    assert ended.value.code == 3
    own = ["search", "--resume", "--address", "auto"]
    assert told == [[*own, "hopper", "--address", "head:6379"]]


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
