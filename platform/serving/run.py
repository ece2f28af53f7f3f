"""`rolecast serve`: starts the application on this machine, or in a cluster, and ends it again."""

import errno
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from rolecast.core.errors import ConfigError, RequestError
from rolecast.platform.actors.cluster import Cluster
from rolecast.platform.serving.config import ServeConfig
from rolecast.platform.serving.served_policy import ServedPolicy

SERVE_PACKAGES: Final = ("fastapi", "starlette", "uvicorn")
"""Part of Ray Serve, and absent where Ray is installed without it."""

PORT_ERRORS: Final = (errno.EADDRINUSE, errno.EACCES)
"""Errors of the system that another port avoids."""

APPLICATION_NAME: Final = "rolecast"


@contextmanager
def serving(
    folder: str | Path,
    config: ServeConfig | None = None,
    note: Callable[[str], None] = lambda _: None,
) -> Iterator[str]:
    """Serve the policy of a run, or of an artefact, until the block ends.

    Args:
        folder: of the policy; a new policy in it is taken in place of the old one.
        config: where.
        note: told of the Ray cluster.
    Yields:
        The URL.
    Raises:
        RequestError: no policy, Ray Serve is not installed or runs in the cluster already, or the
            port is not free.
        RunError: Ray cannot be started here.
    """
    config = config or ServeConfig()
    missing = [name for name in SERVE_PACKAGES if find_spec(name) is None]
    if missing:
        raise RequestError(
            f"package {missing[0]!r} is not installed; expected: pip install 'rolecast[serve]'"
        )
    ServedPolicy.load(folder, config.verify)  # a wrong folder is refused before Ray starts
    port = _free_port(config)
    cluster = Cluster(config.address, cpus=config.replicas + 1, note=note)
    try:
        from ray import serve
        from ray.serve.config import HTTPOptions

        from rolecast.platform.serving.application import application

        if serve.status().proxies:
            raise RequestError(
                "Ray Serve runs in this cluster already; expected one without it, or: serve deploy"
            )
        serve.start(http_options=HTTPOptions(host=config.host, port=port))
        key = None if config.verify is None else str(config.verify.absolute())
        served = application(str(Path(folder).absolute()), key, config.replicas)
        try:
            serve.run(served, name=APPLICATION_NAME, route_prefix="/")
            host = f"[{config.host}]" if ":" in config.host else config.host
            yield f"http://{host}:{port}"
        finally:
            serve.shutdown()  # type: ignore[no-untyped-call]
    finally:
        cluster.close()


def _free_port(config: ServeConfig) -> int:
    """Return the port, or a free one for 0; RequestError where it or the host cannot be used."""
    try:
        with socket.socket(socket.AF_INET6 if ":" in config.host else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((config.host, config.port))
            return int(probe.getsockname()[1])
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "no name of a machine"
        if getattr(error, "errno", None) in PORT_ERRORS:
            raise RequestError(
                f"port {config.port} of {config.host} cannot be used ({reason}); expected a free "
                "one: name another by --port"
            ) from error
        expected = f"an address or a name of this machine ({reason})"
        raise ConfigError("serve.host", config.host, expected) from error
