"""Artefacts and exports of every schema load for ever, and act as they did.

`schema1` was made at commit 28c6848 by NumPy 2.4: random policies, a certificate of 200 episodes,
its signature, and an export of the `mlp`. Never remake a folder; a new schema gets a new one.
"""

import json
from pathlib import Path
from typing import Final

import numpy as np
import pytest

import rolecast
from rolecast.platform.deployment.manifest import check_export

ARTEFACTS: Final = Path(__file__).parent / "fixtures" / "artefacts"
KEPT_POLICIES: Final = sorted(path.parent for path in ARTEFACTS.rglob("vectors.json"))


def test_policies_of_every_kind_are_kept() -> None:
    names = {folder.name for folder in KEPT_POLICIES if folder.parent.name == "schema1"}
    assert names == {"certified", "hom", "hom_roles", "linear", "mlp"}


@pytest.mark.parametrize("folder", KEPT_POLICIES, ids=lambda folder: folder.name)
def test_a_kept_policy_acts_as_it_did(folder: Path) -> None:
    vectors = json.loads((folder / "vectors.json").read_text())
    found = rolecast.load_policy(folder).act(np.array(vectors["observations"]))
    np.testing.assert_allclose(found, vectors["actions"], atol=1e-6)


def test_a_kept_certificate_and_its_signature_are_valid() -> None:
    folder = ARTEFACTS / "schema1"
    loaded = rolecast.load_policy(folder / "certified", verify=folder / "signer.pub")
    certificate = loaded.certificate
    assert certificate is not None
    assert certificate["episodes"] == 200


def test_a_kept_export_is_what_its_manifest_says() -> None:
    assert check_export(ARTEFACTS / "schema1" / "firmware")["target"] == "c99"
