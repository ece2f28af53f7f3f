"""`serve deploy` of deploy/serve.yaml answers, on a cluster that outlives the command."""

import json
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import yaml

from rolecast.platform.serving.served_policy import policy_version
from tests.platform.ray_head import Head, free_ports, ray_head

ROOT = Path(__file__).resolve().parents[3]
DEPLOYED_WITHIN_S = 120.0
"""Seconds after which the service must answer."""


def status_of(head: Head) -> str:
    """Return what `serve status` says."""
    told = subprocess.run(
        ["serve", "status", "--address", head.url],
        env=head.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return told.stdout + told.stderr


def answer(head: Head, url: str) -> Any:
    """Return the JSON of an answer; wait until it is there."""
    deadline = time.monotonic() + DEPLOYED_WITHIN_S
    while True:
        try:
            with urllib.request.urlopen(url, timeout=10) as response:
                return json.load(response)
        except (urllib.error.URLError, ConnectionError):
            assert time.monotonic() < deadline, status_of(head) + head.fate()
            time.sleep(0.3)


def test_the_config_file_serves_the_policy_of_its_folder(small_run: Path, tmp_path: Path) -> None:
    """Only folder, port and replicas are changed: the machine of a test is small."""
    config = yaml.safe_load((ROOT / "deploy" / "serve.yaml").read_text())
    (port,) = free_ports(1)
    config["http_options"]["port"] = port
    (application,) = config["applications"]
    application["args"]["folder"] = str(small_run)
    application["deployments"][0]["num_replicas"] = 1
    file = tmp_path / "serve.yaml"
    file.write_text(yaml.safe_dump(config))
    with ray_head(cpus=1) as head:
        subprocess.run(
            ["serve", "deploy", str(file), "--address", head.url],
            env=head.environment,
            check=True,
            capture_output=True,
            timeout=120,
        )
        url = f"http://127.0.0.1:{port}"
        assert answer(head, f"{url}/health")["version"] == policy_version(small_run)
        body = json.dumps({"observations": [[0.1] * 16] * 3}).encode()
        with urllib.request.urlopen(f"{url}/act", data=body, timeout=30) as response:
            assert len(json.load(response)["actions"]) == 3
