"""What the service computes, without Ray and without HTTP: actions, and what it tells of itself."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

from rolecast.core.errors import RequestError
from rolecast.core.types import Float
from rolecast.platform.rollout.artefact_folder import artefact_folder
from rolecast.policies.artefact import LoadedPolicy, load_policy, read_description
from rolecast.policies.certificate import CERTIFICATE_KEY, weights_digest

WARMED_BATCHES: Final = (1, 64)
"""Batches that act once before the first request: kernels are compiled when they are first used."""

MOST_OBSERVATION_SETS: Final = 4096
"""Largest batch of a request: others wait meanwhile."""

LARGEST_OBSERVATION: Final = float(np.finfo(np.float32).max)
"""Searches and exports act in float32, which holds no larger number."""


@dataclass(frozen=True)
class ServedPolicy:
    """A policy that answers requests."""

    trained: LoadedPolicy
    """Policy and weights."""

    @cached_property
    def version(self) -> str:
        """Digest of its `policy.json`; another file is another version."""
        return _version(self.trained.description)

    @classmethod
    def load(cls, folder: str | Path, verify: str | Path | None = None) -> "ServedPolicy":
        """Load a policy, and act once with it.

        Args:
            folder: of a run, or of an artefact.
            verify: file of an Ed25519 public key, which must have signed the policy.
        Raises:
            RequestError: there is no policy, it is damaged, or not signed by that key.
        """
        trained = load_policy(artefact_folder(Path(folder)), verify=verify)
        for batch in WARMED_BATCHES:
            trained.act(np.zeros((batch, trained.task.agents, trained.task.observation_size)))
        return cls(trained)

    def act(self, body: bytes) -> Float:
        """Return the actions [n, da] or [B, n, da] that a request asks for.

        Args:
            body: JSON, `{"observations": ...}` of numbers [n, do], or [B, n, do] for a batch.
        Raises:
            RequestError: the body is something else; in one sentence.
        """
        return self.trained.act(self._observations(body))

    def describe(self) -> dict[str, Any]:
        """Return what `GET /policy` tells."""
        trained, task = self.trained, self.trained.task
        certificate = trained.certificate
        return {
            "name": trained.policy.name,
            "task": task.id,
            "agents": task.agents,
            "observation_size": task.observation_size,
            "action_size": task.action_size,
            "parameters": trained.policy.space.size,
            "options": dict(trained.policy.options),
            "weights_sha256": weights_digest(trained.weights),
            "version": self.version,
            CERTIFICATE_KEY: None if certificate is None else dict(certificate),
        }

    def _observations(self, body: bytes) -> Float:
        """Return the observations of a request; RequestError where they do not fit."""
        task = self.trained.task
        sizes = task.agents, task.observation_size
        expected = (
            f"numbers [{sizes[0]}, {sizes[1]}], of agents and their observations, or a batch "
            f"[B, {sizes[0]}, {sizes[1]}]"
        )
        try:
            request = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise RequestError(
                'the body is not JSON; expected {"observations": ' + expected + "}"
            ) from error
        if not isinstance(request, Mapping) or request.keys() != {"observations"}:
            raise RequestError(
                'the body has other fields; expected {"observations": ' + expected + "}"
            )
        try:
            observations = np.array(request["observations"])
        except ValueError as error:
            raise RequestError(
                f"observations are no array of numbers; expected {expected}"
            ) from error
        truths = b"true" in body or b"false" in body  # beside numbers, NumPy makes them 1 and 0
        if truths or observations.dtype.kind not in "iuf":
            raise RequestError(f"observations are no array of numbers; expected {expected}")
        if (
            observations.ndim not in {2, 3}
            or observations.shape[-2:] != sizes
            or not len(observations)
        ):
            raise RequestError(
                f"observations have shape {list(observations.shape)}; expected {expected}"
            )
        if observations.ndim == 3 and len(observations) > MOST_OBSERVATION_SETS:
            raise RequestError(
                f"observations are a batch of {len(observations)}; expected at most "
                f"{MOST_OBSERVATION_SETS}"
            )
        # A NaN compares as False.
        if not (np.abs(observations) <= LARGEST_OBSERVATION).all():
            raise RequestError(
                "observations have a number that is not finite as a float32; expected finite ones"
            )
        return observations


def policy_version(folder: str | Path) -> str:
    """Return the digest of the `policy.json` of a run, or of an artefact.

    Raises:
        RequestError: there is none.
    """
    return _version(read_description(artefact_folder(Path(folder))))


def _version(description: bytes) -> str:
    return hashlib.sha256(description).hexdigest()[:16]
