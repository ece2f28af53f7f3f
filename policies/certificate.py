"""The certificate that travels with an artefact: what it promises, read and put into sentences.

`rolecast certify` writes it as extra data of `policy.json`; exports and reports show it.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from decimal import ROUND_FLOOR, Decimal
from typing import Any, Final

import numpy as np

from rolecast.core.types import Float

CERTIFICATE_KEY: Final = "certificate"
"""Of the extra data in `policy.json`."""

RETURN_NAME: Final = "mean return"
"""What a certificate calls the bound on returns."""


def weights_digest(weights: Float) -> str:
    """Return the digest by which exports and certificates name weights [D]."""
    return hashlib.sha256(np.ascontiguousarray(weights, dtype=np.float64).tobytes()).hexdigest()


def settings_digest(stored: Mapping[str, Any]) -> str:
    """Return the digest by which a certificate names the policy, its options and its task.

    Args:
        stored: content of `policy.json`.
    """
    named = [stored["name"], stored["options"], stored["task"]["id"]]
    return hashlib.sha256(json.dumps(named, sort_keys=True).encode()).hexdigest()


def valid_certificate(stored: Mapping[str, Any], weights: Float) -> Mapping[str, Any] | None:
    """Return the certificate of an artefact, or None where it has none, or one of another policy.

    Certificates of older releases name the digest of the weights alone.

    Args:
        stored: content of `policy.json`.
        weights: [D], of the artefact.
    """
    found = stored.get("extra", {}).get(CERTIFICATE_KEY)
    if not isinstance(found, Mapping) or found.get("weights_sha256") != weights_digest(weights):
        return None
    if "settings_sha256" in found and found["settings_sha256"] != settings_digest(stored):
        return None
    return found


def check_certificate(extra: Mapping[str, Any]) -> None:
    """Check that the certificate among the extra data of an artefact has its fields, or is none.

    Raises:
        KeyError, TypeError, AttributeError, ValueError: a field is missing or of another kind.
    """
    certificate = extra.get(CERTIFICATE_KEY)
    if certificate is not None:
        certificate_sentence(certificate)
        str(certificate["weights_sha256"])
        for _, bound in certified_bounds(certificate):
            float(bound["mean"])


def certified_bounds(certificate: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield what a certificate bounds, in words, and its bound: `mean`, `at_least`, `method`."""
    yield RETURN_NAME, certificate["episode_return"]
    for name, bound in certificate["rates"].items():
        yield f"rate of {name}", bound


def bound_text(name: str, at_least: float) -> str:
    """Return a lower bound in digits, rounded down: rounded up it would promise more.

    Args:
        name: as `certified_bounds` has it.
        at_least: the bound.
    """
    places = 2 if name == RETURN_NAME else 4
    return str(Decimal(at_least).quantize(Decimal(1).scaleb(-places), rounding=ROUND_FLOOR))


def certificate_sentence(certificate: Mapping[str, Any] | None) -> str | None:
    """Return what a certificate promises, a line a bound; None where there is none."""
    if certificate is None:
        return None
    return "\n".join(
        f"{name[0].upper()}{name[1:]} at least {bound_text(name, bound['at_least'])} with "
        f"confidence {certificate['confidence']:g} ({certificate['episodes']} episodes, "
        f"{bound['method'].split(';')[0]}{_range_text(name, certificate)})."
        for name, bound in certified_bounds(certificate)
    )


def _range_text(name: str, certificate: Mapping[str, Any]) -> str:
    """Return the range on which a bound on returns rests, in words; those of rates rest on none."""
    within = certificate.get("returns_within") if name == RETURN_NAME else None
    return "" if within is None else f", if every return is in [{within[0]:g}, {within[1]:g}]"
