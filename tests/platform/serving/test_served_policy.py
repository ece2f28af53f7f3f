"""What a request asks for is computed, and what does not fit is refused in one sentence."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import rolecast
from rolecast.core.errors import RequestError
from rolecast.core.files import read_json
from rolecast.platform.serving.served_policy import (
    MOST_OBSERVATION_SETS,
    ServedPolicy,
    policy_version,
)
from rolecast.policies.artefact import LoadedPolicy, load_policy


@pytest.fixture(scope="module")
def served(small_run: Path) -> ServedPolicy:
    return ServedPolicy.load(small_run)


def test_one_set_and_a_batch_are_acted_on_as_by_the_policy(
    served: ServedPolicy, small_run: Path
) -> None:
    observations = np.random.default_rng(0).normal(size=(5, 3, 16))
    policy = rolecast.load_policy(small_run)
    for given in (observations, observations[0]):
        body = json.dumps({"observations": given.tolist()}).encode()
        np.testing.assert_array_equal(served.act(body), policy.act(given))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("{", "the body is not JSON; expected"),
        ("[1]", "the body has other fields; expected"),
        ('{"observation": []}', "the body has other fields; expected"),
        ('{"observations": "text"}', "observations are no array of numbers"),
        ('{"observations": [[1, 2], [3]]}', "observations are no array of numbers"),
        ('{"observations": [[1, 2]]}', r"have shape \[1, 2\]; expected numbers \[3, 16\]"),
        ('{"observations": []}', r"have shape \[0\]"),
        (json.dumps({"observations": [[[0.0] * 16] * 2]}), r"have shape \[1, 2, 16\]"),
        (json.dumps({"observations": [[float("nan")] * 16] * 3}), "is not finite"),
        (json.dumps({"observations": [[1e308] * 16] * 3}), "is not finite as a float32"),
        (json.dumps({"observations": [[-(10**39)] * 16] * 3}), "observations are no array"),
        (json.dumps({"observations": [["0.5"] * 16] * 3}), "observations are no array"),
        (json.dumps({"observations": [[True] * 16] * 3}), "observations are no array"),
        (json.dumps({"observations": [[0.5] * 15 + [True]] * 3}), "observations are no array"),
        (
            json.dumps({"observations": [[[0] * 16] * 3] * (MOST_OBSERVATION_SETS + 1)}),
            "are a batch of 4097; expected at most 4096",
        ),
        ('{"observations": ' + "[" * 100_000 + "]" * 100_000 + "}", "the body is not JSON"),
    ],
)
def test_what_does_not_fit_is_one_sentence(served: ServedPolicy, body: str, expected: str) -> None:
    with pytest.raises(RequestError, match=expected) as refused:
        served.act(body.encode())
    assert len(str(refused.value).splitlines()) == 1


def test_a_policy_describes_its_sizes(served: ServedPolicy, small_run: Path) -> None:
    described = served.describe()
    assert (described["agents"], described["observation_size"]) == (3, 16)
    assert described["task"] == "pred_prey_3"
    assert described["version"] == policy_version(small_run)
    json.dumps(described, allow_nan=False)


def test_the_version_is_that_of_the_policy_that_was_loaded(
    small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is replaced just before the policy is loaded."""
    folder = Path(shutil.copytree(small_run / "policy", tmp_path / "policy"))

    def replace_then_load(path: Path, verify: Path | None) -> LoadedPolicy:
        (path / "policy.json").write_text(json.dumps(read_json(path / "policy.json")))
        return load_policy(path, verify=verify)

    monkeypatch.setattr("rolecast.platform.serving.served_policy.load_policy", replace_then_load)
    served = ServedPolicy.load(folder)
    assert served.version == policy_version(folder) != policy_version(small_run)


def test_a_folder_without_a_policy_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="holds no policy"):
        ServedPolicy.load(tmp_path)
