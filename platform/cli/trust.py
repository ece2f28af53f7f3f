"""`--trust`, an option of every command that makes the task that a folder or file names."""

from typing import Annotated

import typer

Trust = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Make the task that a folder or file names, though its id may run any code; needed "
        "once for a folder or file of someone else, whose task is not built in.",
    ),
]
