"""`--log`: who is told of a search or a comparison beside its folder."""

from typing import Annotated

import typer

from rolecast.platform.search.loggers.protocol import TrialCallback

Log = Annotated[
    str | None,
    typer.Option(
        "--log",
        metavar="NAMES",
        help="Where curves go, as in tensorboard,wandb,mlflow. TensorBoard's are always written.",
    ),
]


def callbacks(log: str | None) -> list[TrialCallback]:
    """Return the loggers that --log names.

    Raises:
        RequestError: a name is unknown, or its package is not installed.
    """
    from rolecast.platform.search.loggers.registry import named_loggers

    return named_loggers(log.split(",")) if log else []
