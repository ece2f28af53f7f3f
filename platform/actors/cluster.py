"""Connects to a Ray cluster: one that exists, or one started on this machine for one search."""

import logging
import os
import signal
import socket
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

import ray
from ray._private import parameter

from rolecast.core.errors import ConfigError, RequestError, RunError, on_one_line
from rolecast.core.signals import signals_given_back
from rolecast.core.threads import available_cores

CONNECT_TIMEOUT_S: Final = 5.0
"""After which an address that does not answer counts as unreachable."""

START_ATTEMPTS: Final = 3
"""Times that a cluster of our own is started, where a busy machine makes Ray give up on it."""

TIMED_OUT: Final = "timed out during startup"
"""What Ray says then; it has no class of its own for it."""

AUTH_MODE: Final = "RAY_AUTH_MODE"
"""Variable by which Ray asks for a token. Where it is not set, a cluster that Ray starts does."""

STDERR_FILENO: Final = 2

WRONG_TOKEN: Final = b"InvalidAuthToken"
"""What Ray writes of a token that is missing or another."""

TOKEN_FILE: Final = Path(".ray") / "auth_token"
"""Where Ray writes the token, in the home folder."""

INLINE_BYTES: Final = 4_000_000
"""Largest message that goes straight to an actor; larger ones take milliseconds more."""

OWN_SETTINGS: Final = {"max_direct_call_object_size": INLINE_BYTES, "worker_niceness": 0}
"""Ray's settings of a cluster that is started here. Workers are as nice as their driver: Ray makes
them nicer by 15, and beside any other program they then hardly run."""

LEAN_PARAMETERS: Final[Mapping[str, Any]] = {
    "dashboard_agent_listen_port": 0,
    "include_log_monitor": False,
    "no_monitor": True,
}
"""Parameters of a start of Ray that `ray.init` does not take. Its agent has any free port: where
another cluster holds the usual one, Ray tries that for 3 s. No process reads logs for the driver,
which shows none, and none scales a cluster of one machine."""

CALL_RETRIES: Final = 5
"""Repeats of one call whose process dies; after that what it was called for is to blame."""


class Cluster:
    """A connection to Ray; closing it ends only what it began."""

    def __init__(
        self,
        address: str | None,
        cpus: int,
        *,
        workers: int = 0,
        note: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Connect.

        Args:
            address: "auto", host:port or ray://host:port; None uses the cluster that this process
                is connected to or runs in, and starts one on this machine where there is none.
            cpus: size of the cluster that is started.
            workers: that will be asked of it.
            note: told that Ray starts, which takes seconds, and then of the cluster.
        Raises:
            RequestError: nothing answers at the address.
            RunError: a cluster cannot be started here.
        """
        self._connected_here = not ray.is_initialized()
        self._auth_mode = os.environ.get(AUTH_MODE)
        self.own = False
        """Whether the cluster was started here, and ends with this connection."""
        if self._connected_here:
            address = address or os.environ.get("RAY_ADDRESS") or None
        if address is not None:
            _probe(address)
        if self._connected_here and address is None:
            note("starting Ray on this machine")
            with _terminable_start():
                _start(cpus)
            self.own = True
        elif self._connected_here:
            with _terminable_start():
                _join(address)
        note(self.described(workers))

    def described(self, workers: int) -> str:
        """Say in a line where the cluster is, how large, and whether workers have to wait.

        Args:
            workers: that are asked of it.
        """
        nodes = sum(node["Alive"] for node in ray.nodes())  # type: ignore[no-untyped-call]
        address = ray.get_runtime_context().gcs_address
        where = "started on this machine" if self.own else f"at {address}"
        cpus = available_cores() if self.own else resources().get("CPU", 0.0)
        text = f"Ray {where}: {nodes} node{'' if nodes == 1 else 's'}, {cpus:g} CPUs"
        if workers <= cpus:
            return text
        if self.own:
            return f"{text}, shared by {workers} workers; more than {cpus:g} are slower"
        return f"{text}; {cpus:g} of {workers} workers begin, the others join as CPUs come"

    def close(self) -> None:
        """Disconnect, and end the cluster if it was started here."""
        if self._connected_here and ray.is_initialized():
            ray.shutdown()
        if self.own:
            _set_auth_mode(self._auth_mode)


def node_cpus() -> list[float]:
    """Return how many CPUs each node of the cluster has."""
    nodes = ray.nodes()  # type: ignore[no-untyped-call]
    return [node["Resources"].get("CPU", 0.0) for node in nodes if node["Alive"]]


def require_gpu(device: str) -> None:
    """Refuse the device of an optimiser where the cluster has no GPU: it would wait for ever.

    Raises:
        ConfigError: it is none of the CPU's, and there is no other.
    """
    if device == "cpu":
        return
    if not resources().get("GPU"):
        raise ConfigError("device", device, "cpu, for the cluster has no GPU")


def require_cpus(workers: int) -> None:
    """Refuse trials of so many workers where the cluster has no room for one: they would wait.

    Raises:
        ConfigError: it has fewer CPUs than a trial and its workers take.
    """
    cpus = resources().get("CPU", 0.0)
    if cpus < 1 + workers:
        expected = f"less than the {cpus:g} CPUs of the cluster, of which a trial takes one more"
        raise ConfigError("Experiment.workers", workers, expected)


def resources() -> Mapping[str, float]:
    """Return what the cluster has of each resource."""
    found: Mapping[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    return found


@contextmanager
def _terminable_start() -> Iterator[None]:
    """Let SIGTERM do during a start of Ray, and after it, what it did before.

    Ray sets a handler of its own while it starts, which calls `sys.exit(SIGTERM)`, and one below
    Python's, which ends the process with the stack of its C++ code.
    """
    try:
        with signals_given_back():
            yield
    except BaseException as error:
        end: BaseException | None = error
        while end is not None and not isinstance(end, SystemExit):
            end = end.__cause__  # what the handler raised, where Python wrapped it in another error
        if end is None:
            raise
        ray.shutdown()
        if end.code == signal.SIGTERM:
            signal.raise_signal(signal.SIGTERM)
        raise end from None


def _start(cpus: int) -> None:
    """Start a cluster on this machine, which asks for a token, and connect to it.

    Ray's ports are open on all interfaces, so a cluster of one search has a token even where the
    environment switches it off for other clusters.
    """
    mode = os.environ.pop(AUTH_MODE, None)
    try:
        _start_patiently(cpus)
    except BaseException:
        _set_auth_mode(mode)
        raise
    _hide_token()


def _start_patiently(cpus: int) -> None:
    for attempt in range(1, START_ATTEMPTS + 1):
        try:
            with lean_start():
                ray.init(
                    address="local",
                    num_cpus=cpus,
                    include_dashboard=False,
                    log_to_driver=False,
                    logging_level=logging.ERROR,
                    _system_config=OWN_SETTINGS,
                )
        except Exception as error:
            ray.shutdown()
            if TIMED_OUT not in str(error):
                raise RunError(
                    f"Ray does not start on this machine: {on_one_line(error)}; a search with 0 "
                    "workers needs no Ray"
                ) from error
            if attempt == START_ATTEMPTS:
                raise RunError(
                    f"Ray did not start on this machine in {START_ATTEMPTS} times 30 s; is it "
                    "busy? a search with 0 workers needs no Ray"
                ) from error
        else:
            return


@contextmanager
def lean_start() -> Iterator[None]:
    """Let `ray.init` start a cluster with LEAN_PARAMETERS."""
    of_ray: Any = parameter
    usual = of_ray.RayParams
    of_ray.RayParams = partial(usual, **LEAN_PARAMETERS)
    try:
        yield
    finally:
        of_ray.RayParams = usual


def _join(address: str | None) -> None:
    """Connect to the cluster at an address."""
    try:
        with _quiet_refusal():
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise _unreachable(str(address), str(error)) from error


def _set_auth_mode(mode: str | None) -> None:
    """Leave the variable to what comes after as it was before; None: not set."""
    if mode is None:
        os.environ.pop(AUTH_MODE, None)
    else:
        os.environ[AUTH_MODE] = mode


def _hide_token() -> None:
    """Let nobody else read the token, which Ray writes as the process' umask has it."""
    file = Path.home() / TOKEN_FILE
    with suppress(OSError):  # there is none, as with a token in the environment; or not ours
        file.chmod(0o600)


def _probe(address: str) -> None:
    """Refuse an address at which nothing listens, which Ray itself would try for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon:
        return
    try:
        socket.create_connection((host, int(port)), timeout=CONNECT_TIMEOUT_S).close()
    except (OSError, ValueError, OverflowError) as error:
        raise _unreachable(address, str(error)) from error


@contextmanager
def _quiet_refusal() -> Iterator[None]:
    """Hold what Ray's own library writes on stderr; drop it where a cluster wants another token.

    It writes a line a second while it tries, 20 in all, and no setting of its logs stops that.
    """
    try:
        before = os.dup(STDERR_FILENO)
    except OSError:  # it is closed, as of a service
        yield
        return
    with tempfile.TemporaryFile() as held, os.fdopen(before, "wb") as shown:
        os.dup2(held.fileno(), STDERR_FILENO)
        try:
            yield
        finally:
            os.dup2(before, STDERR_FILENO)
            held.seek(0)
            said = held.read()
            if WRONG_TOKEN not in said:
                shown.write(said)


def _unreachable(address: str, why: str) -> RequestError:
    reason = " ".join(why.split())
    return RequestError(f"no Ray cluster answers at address {address!r}: {reason}{_advice(why)}")


def _advice(why: str) -> str:
    """Return what most often helps, as the end of a sentence; empty where nothing listens."""
    if os.environ.get("RAY_ADDRESS", "").startswith("http"):
        return "; RAY_ADDRESS names a dashboard, which only ray job submit can use: unset it"
    if "refused" in why:
        return ""
    return f"; a cluster with tokens needs {AUTH_MODE}=token and RAY_AUTH_TOKEN here too"


def require_picklable(what: str, source: Any) -> None:
    """Refuse what no worker can be sent, before anything is started for it.

    Args:
        what: names it.
        source: is pickled.
    Raises:
        RequestError: it cannot be pickled.
    """
    try:
        ray.cloudpickle.dumps(source)  # type: ignore[no-untyped-call]
    except Exception as error:
        raise RequestError(
            f"the {what} cannot be sent to workers: {on_one_line(error)}; --workers 0 needs none"
        ) from error
