"""Detached signatures of artefacts: Ed25519, by the `cryptography` package.

A signature is the file `NAME.sig` beside the file NAME. `policy.json` names the digest of the
weights, and a manifest the digests of its files, so one signature covers all of them. OpenSSL
verifies it too: `openssl pkeyutl -verify -pubin -inkey key.pub -rawin -in NAME -sigfile NAME.sig`.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from rolecast.core.errors import RequestError
from rolecast.core.files import read_bytes, write_bytes

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

SIGNATURE_SUFFIX: Final = ".sig"

_PRIVATE_KEY_EXPECTED: Final = (
    "an Ed25519 private key without a passphrase, as `openssl genpkey -algorithm ed25519 -out KEY` "
    "writes"
)


def sign_file(path: Path, key: str | Path, content: bytes | None = None) -> Path:
    """Write the signature of a file beside it.

    Args:
        path: of the file.
        key: file of an Ed25519 private key, PEM or OpenSSH, without a passphrase.
        content: what the file must be to be verified; None: what it is now.
    Returns:
        The file of the signature.
    Raises:
        RequestError: there is no such key.
        RunError: the signature cannot be written.
    """
    signer = private_key(key)
    target = path.with_name(path.name + SIGNATURE_SUFFIX)
    write_bytes(target, signer.sign(path.read_bytes() if content is None else content))
    return target


def verify_file(path: Path, key: str | Path) -> bytes:
    """Return the content of a file that has a valid signature beside it.

    Who reads the file again may read another one, which nobody signed.

    Args:
        path: of the file.
        key: file of the public key; a private key stands for its public one.
    Raises:
        RequestError: no such file or key, no signature, or one of another file or by another key.
    """
    from cryptography.exceptions import InvalidSignature

    verifier, content = _public_key(key), read_bytes(path)
    signed = path.with_name(path.name + SIGNATURE_SUFFIX)
    if not signed.is_file():
        raise RequestError(f"{path} has no signature; expected it in {signed}")
    try:
        verifier.verify(read_bytes(signed), content)
    except InvalidSignature as error:
        raise RequestError(
            f"{path} is not what the key of {key} has signed; expected the file as it was signed"
        ) from error
    return content


def private_key(path: str | Path) -> "Ed25519PrivateKey":
    """Return the private key in a file.

    Raises:
        RequestError: there is none.
    """
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    content = _content(path)
    read = (
        serialization.load_ssh_private_key
        if b"OPENSSH PRIVATE KEY" in content
        else serialization.load_pem_private_key
    )
    try:
        found = read(content, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise RequestError(f"{path} holds no key; expected {_PRIVATE_KEY_EXPECTED}") from error
    if not isinstance(found, Ed25519PrivateKey):
        raise RequestError(f"{path} holds a key of another kind; expected {_PRIVATE_KEY_EXPECTED}")
    return found


def _public_key(path: str | Path) -> "Ed25519PublicKey":
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    content = _content(path)
    if b"PRIVATE KEY" in content:
        return private_key(path).public_key()
    read = (
        serialization.load_ssh_public_key
        if content.startswith(b"ssh-")
        else serialization.load_pem_public_key
    )
    try:
        found = read(content)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise RequestError(f"{path} holds no key; expected an Ed25519 public key") from error
    if not isinstance(found, Ed25519PublicKey):
        raise RequestError(f"{path} holds a key of another kind; expected an Ed25519 public key")
    return found


def _content(path: str | Path) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise RequestError(
            f"{path} cannot be read ({error.strerror}); expected the file of an Ed25519 key"
        ) from error
