"""`rolecast serve`: a found policy as a service."""

import signal
import threading
from pathlib import Path
from typing import Annotated

import typer

from rolecast.platform.cli.documented import field_texts, option_text
from rolecast.platform.cli.former_policy import tell_of_former_policy
from rolecast.platform.cli.output import say, warn
from rolecast.platform.serving.config import ServeConfig

_FIELD_TEXTS = field_texts(ServeConfig)


def serve(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a run, or its policy/.")],
    *,
    port: Annotated[int, typer.Option(help=_FIELD_TEXTS["port"])] = ServeConfig.port,
    host: Annotated[str, typer.Option(help=_FIELD_TEXTS["host"])] = ServeConfig.host,
    address: Annotated[str | None, typer.Option(help=option_text(_FIELD_TEXTS["address"]))] = None,
    replicas: Annotated[int, typer.Option(help=_FIELD_TEXTS["replicas"])] = ServeConfig.replicas,
    verify: Annotated[Path | None, typer.Option(help=_FIELD_TEXTS["verify"])] = None,
) -> None:
    """Serve a found policy over HTTP by Ray Serve, until Ctrl-C.

    POST /act takes {"observations": ...}, of one team (n x do numbers) or of B teams, and answers
    {"actions": ...}; GET /health, /policy and /metrics tell of the service. A new policy in DIR is
    taken at once.

    Example: rolecast serve runs/hunt --port 8000
    """
    from rolecast.platform.serving.run import serving

    ended = threading.Event()
    config = ServeConfig(port=port, host=host, address=address, replicas=replicas, verify=verify)
    tell_of_former_policy(folder)
    with serving(folder, config, warn) as url:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: ended.set())
        say(f"{url} serves {folder}: POST /act, GET /health, /policy, /metrics; Ctrl-C ends it")
        ended.wait()
