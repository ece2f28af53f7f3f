"""The certificate that travels with an artefact: what it promises, read and put into sentences.

`rolecast certify` writes it as extra data of `policy.json`; exports and reports show it.
"""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from rolecast.core.types import Float

CERTIFICATE_KEY: Final = "certificate"
"""Of the extra data in `policy.json`."""


def weights_digest(weights: Float) -> str:
    """Return the digest by which exports and certificates name weights [D]."""
    return hashlib.sha256(np.ascontiguousarray(weights, dtype=np.float64).tobytes()).hexdigest()


def valid_certificate(extra: Mapping[str, Any], digest: str) -> Mapping[str, Any] | None:
    """Return the certificate among the extra data of an artefact.

    Args:
        extra: of the artefact.
        digest: of its weights; a certificate of others is None, as is a missing one.
    """
    stored = extra.get(CERTIFICATE_KEY)
    if not isinstance(stored, Mapping) or stored.get("weights_sha256") != digest:
        return None
    return stored


def certified_bounds(certificate: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield what a certificate bounds, in words, and its bound: `mean`, `at_least`, `method`."""
    yield "mean return", certificate["episode_return"]
    for name, bound in certificate["rates"].items():
        yield f"rate of {name}", bound


def certificate_sentence(extra: Mapping[str, Any], digest: str) -> str | None:
    """Return what the certificate among the extra data of an artefact promises, a line a bound.

    Args:
        extra: of the artefact.
        digest: of its weights; a certificate of others is None, as is a missing one.
    """
    certificate = valid_certificate(extra, digest)
    if certificate is None:
        return None
    return "\n".join(
        f"{name[0].upper()}{name[1:]} at least {bound['at_least']:.{places}f} with confidence "
        f"{certificate['confidence']:g} ({certificate['episodes']} episodes, "
        f"{bound['method'].split(';')[0]})."
        for name, bound in certified_bounds(certificate)
        for places in (2 if name == "mean return" else 4,)
    )
