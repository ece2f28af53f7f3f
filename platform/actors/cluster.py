"""Connects to a Ray cluster: one that exists, or one started on this machine for one search."""

import logging
import os
import socket
from typing import Final

import ray

from rolecast.core.errors import ConfigError, RequestError, RunError

CONNECT_TIMEOUT_S: Final = 5.0
"""After which an address that does not answer counts as unreachable."""

START_ATTEMPTS: Final = 3
"""Times that a cluster of our own is started, where a busy machine makes Ray give up on it."""

TIMED_OUT: Final = "timed out during startup"
"""What Ray says then; it has no class of its own for it."""

INLINE_BYTES: Final = 4_000_000
"""Largest message that goes straight to an actor; larger ones take milliseconds more."""


class Cluster:
    """A connection to Ray; closing it ends only what it began."""

    def __init__(self, address: str | None, cpus: int) -> None:
        """Connect.

        Args:
            address: "auto", host:port or ray://host:port; None uses the cluster that this process
                is connected to or runs in, and starts one on this machine where there is none.
            cpus: size of the cluster that is started.
        Raises:
            RequestError: nothing answers at the address.
            RunError: a cluster cannot be started here, for the machine is too busy.
        """
        self._connected_here = not ray.is_initialized()
        self.own = False
        """Whether the cluster was started here, and ends with this connection."""
        if not self._connected_here:
            if address is not None:
                _probe(address)
            return
        address = address or os.environ.get("RAY_ADDRESS") or None
        if address is None:
            _start(cpus)
            self.own = True
            return
        _probe(address)
        try:
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise _unreachable(address, str(error)) from error

    def close(self) -> None:
        """Disconnect, and end the cluster if it was started here."""
        if self._connected_here and ray.is_initialized():
            ray.shutdown()


def require_gpu(device: str) -> None:
    """Refuse the device of an optimiser where the cluster has no GPU: it would wait for ever.

    Raises:
        ConfigError: it is none of the CPU's, and there is no other.
    """
    if device == "cpu":
        return
    resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    if not resources.get("GPU"):
        raise ConfigError("device", device, "cpu, for the cluster has no GPU")


def _start(cpus: int) -> None:
    """Start a cluster on this machine and connect to it."""
    for attempt in range(1, START_ATTEMPTS + 1):
        try:
            ray.init(
                address="local",
                num_cpus=cpus,
                include_dashboard=False,
                log_to_driver=False,
                logging_level=logging.ERROR,
                _system_config={"max_direct_call_object_size": INLINE_BYTES},
            )
        except Exception as error:
            ray.shutdown()
            if TIMED_OUT not in str(error):
                raise
            if attempt == START_ATTEMPTS:
                raise RunError(
                    f"Ray did not start on this machine in {START_ATTEMPTS} times 30 s; is it "
                    "busy? a search with 0 workers needs no Ray"
                ) from error
        else:
            return


def _probe(address: str) -> None:
    """Refuse an address at which nothing listens, which Ray itself would try for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon:
        return
    try:
        socket.create_connection((host, int(port)), timeout=CONNECT_TIMEOUT_S).close()
    except (OSError, ValueError, OverflowError) as error:
        raise _unreachable(address, str(error)) from error


def _unreachable(address: str, why: str) -> RequestError:
    reason = " ".join(why.split())
    return RequestError(f"no Ray cluster answers at address {address!r}: {reason}")
