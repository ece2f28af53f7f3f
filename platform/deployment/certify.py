"""`rolecast certify`: lower bounds on what a policy earns, that hold with a stated confidence.

Episodes are drawn independently, and no search or choice has met them. Each bound holds with the
confidence by itself; bounds of several metrics together hold with less.
"""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import numpy as np
from scipy.stats import beta, norm

from rolecast.core.errors import ConfigError, RequestError
from rolecast.core.files import json_object, require_writable, sealed_json, write_bytes
from rolecast.core.seeds import Purpose, episode_seeds
from rolecast.core.types import Float
from rolecast.envs.trust import make_stored_task
from rolecast.platform.deployment.config import CertifyConfig
from rolecast.platform.deployment.loop import ExportedPolicy
from rolecast.platform.rollout.artefact_folder import artefact_folder, require_fit
from rolecast.platform.rollout.rollout import rollout
from rolecast.policies.artefact import POLICY_FILE, load_policy, require_unchanged
from rolecast.policies.certificate import CERTIFICATE_KEY, settings_digest, weights_digest
from rolecast.policies.export.reference import reference
from rolecast.policies.signature import SIGNATURE_SUFFIX, private_key, sign_file

BERNSTEIN_METHOD: Final = "empirical Bernstein bound; every return lies in the stated range"
NORMAL_METHOD: Final = "normal approximation; exact only as the number of episodes grows"
BINOMIAL_METHOD: Final = "Clopper-Pearson bound; exact"


@dataclass(frozen=True, kw_only=True)
class LowerBound:
    """A number that the true mean exceeds, but for the stated risk."""

    mean: float
    """Mean over the episodes."""

    at_least: float
    """Lower bound of the true mean."""

    method: str
    """Method, and what it takes for granted."""


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """What a policy earns at least, in the task that it was searched for."""

    task: str
    """Whole id of the task."""

    weights_sha256: str
    """Digest of the weights; a certificate says nothing of other ones, nor of rounded ones."""

    settings_sha256: str
    """Digest of the policy's name and options, and of the task's id."""

    episodes: int
    """E."""

    confidence: float
    """Probability, over the draw of the episodes, that a bound holds."""

    seed: int
    """Set of episodes, of which each seed has another."""

    returns_within: tuple[float, float] | None
    """Range that every return is taken to lie in; None: none was given."""

    episode_return: LowerBound
    """Bound on the mean team return of an episode, as earned."""

    rates: Mapping[str, LowerBound]
    """Bounds on the rates of the task's metrics that are 0 or 1 in every episode. A compiled task
    tells no metrics."""


def certify(
    folder: str | Path,
    config: CertifyConfig | None = None,
    *,
    sign: str | Path | None = None,
    trust: bool = False,
) -> Certificate:
    """Bound what a found policy earns, and store the certificate in its `policy.json`.

    The policy acts by the float32 reference of `rolecast export`, as on a device. Exports in
    integers, which round otherwise, have no bound from it.

    Args:
        folder: of a run, or its policy.
        config: episodes, confidence and range.
        sign: file of an Ed25519 private key, by which `policy.json` is signed anew.
        trust: make the policy's task, though its id may run any code (`envs.trust`).
    Raises:
        RequestError: no policy, one without a reference, no such key, a task that is not
            trusted, a folder that cannot be written, or another policy in it since it was loaded.
        ConfigError: a return is outside of the range.
        RunError: the task failed.
    """
    config = config or CertifyConfig()
    if sign is not None:
        private_key(sign)
    place = artefact_folder(Path(folder))
    signature = place / f"{POLICY_FILE}{SIGNATURE_SUFFIX}"
    if sign is None and signature.is_file():
        raise RequestError(
            f"{place / POLICY_FILE} is signed, and would be written anew; expected --sign KEY "
            f"(sign=), or {signature} removed"
        )
    trained = load_policy(place)
    require_writable(place)  # found only at the end, it would cost all episodes
    stored = json_object(place / POLICY_FILE, trained.description)
    acting = ExportedPolicy(trained.policy, reference(trained.policy, trained.weights))
    with closing(make_stored_task(trained.task_id, trust=trust)) as task:
        require_fit(trained, task)
        seeds = episode_seeds(0, Purpose.CERTIFICATE, config.seed, config.episodes)
        played = rollout(task, acting, trained.weights[None], seeds)
    binary = {
        name: values[0]
        for name, values in played.metrics.items()
        if np.isin(values[0], (0.0, 1.0)).all()
    }
    certificate = Certificate(
        task=trained.task_id,
        weights_sha256=weights_digest(trained.weights),
        settings_sha256=settings_digest(stored),
        episodes=config.episodes,
        confidence=config.confidence,
        seed=config.seed,
        returns_within=config.returns_within,
        episode_return=return_bound(played.returns[0], config.confidence, config.returns_within),
        rates={name: rate_bound(values, config.confidence) for name, values in binary.items()},
    )
    require_unchanged(place, trained)
    stored["extra"] = {**stored.get("extra", {}), CERTIFICATE_KEY: asdict(certificate)}
    content = sealed_json(stored)
    write_bytes(place / POLICY_FILE, content)
    if sign is not None:
        sign_file(place / POLICY_FILE, sign, content)
    return certificate


def return_bound(
    returns: Float, confidence: float, within: tuple[float, float] | None = None
) -> LowerBound:
    """Return a lower bound on the mean of a distribution of returns.

    Args:
        returns: [E], independent draws, E >= 2.
        confidence: in (0, 1).
        within: least and largest return that there can be; None: unknown.
    Raises:
        ConfigError: a return is outside of the range.
    Source: within a range, Maurer and Pontil (2009), theorem 4.
    """
    count, mean = len(returns), float(returns.mean())
    variance = float(returns.var(ddof=1))
    if within is None:
        below = float(norm.ppf(confidence)) * np.sqrt(variance / count)
        return LowerBound(mean=mean, at_least=mean - float(below), method=NORMAL_METHOD)
    least, largest = within
    outside = returns[(returns < least) | (returns > largest)]
    if outside.size:
        expected = f"a range with every return, {float(outside[0]):g} too"
        raise ConfigError("certify.returns_within", within, expected)
    log = np.log(2.0 / (1.0 - confidence))
    below = np.sqrt(2.0 * variance * log / count) + 7.0 * (largest - least) * log / (
        3.0 * (count - 1)
    )
    bound = max(mean - float(below), least)
    return LowerBound(mean=mean, at_least=bound, method=BERNSTEIN_METHOD)


def rate_bound(outcomes: Float, confidence: float) -> LowerBound:
    """Return a lower bound on the probability of a 1 among outcomes [E], each 0 or 1.

    Source: Clopper and Pearson (1934), one-sided.
    """
    count, hits = len(outcomes), int(outcomes.sum())
    bound = float(beta.ppf(1.0 - confidence, hits, count - hits + 1)) if hits else 0.0
    return LowerBound(mean=hits / count, at_least=bound, method=BINOMIAL_METHOD)
