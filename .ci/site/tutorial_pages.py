"""Executes the tutorials of docs/tutorials, and writes a page for each with what it printed.

A tutorial is a script whose cells begin with `# %%`, or `# %% [markdown]` for text in comments.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

CELL_START: Final = re.compile(r"^# %%(.*)$", re.MULTILINE)

PRINT_MARK: Final = "\x1e"
"""Printed between cells, to tell which cell said what."""

MAX_SECONDS: Final = 400
"""Longest that a tutorial may take."""


def tutorial_page(script: Path) -> str:
    """Run one tutorial in an empty folder; return its page.

    Raises:
        RuntimeError: it failed; the message holds what it wrote.
    """
    cells = split_cells(script.read_text())
    printed = iter(run_cells([text for kind, text in cells if kind == "code"], script.name))
    parts = []
    for kind, text in cells:
        if kind == "text":
            parts.append(re.sub(r"^# ?", "", text, flags=re.MULTILINE))
            continue
        parts.append(f"```python\n{text}\n```")
        if output := next(printed):
            parts.append(f"```text\n{output}\n```")
    parts.append(f"The script of this page: [{script.name}]({script.name}).")
    return "\n\n".join(parts) + "\n"


def split_cells(source: str) -> list[tuple[str, str]]:
    """Return the cells of a script, each as its kind, "code" or "text", and its lines."""
    pieces = CELL_START.split(source)[1:]
    kinds = ["text" if "markdown" in each else "code" for each in pieces[::2]]
    return [(kind, text.strip()) for kind, text in zip(kinds, pieces[1::2], strict=True)]


def run_cells(codes: Sequence[str], name: str) -> list[str]:
    """Run cells one after the other in one process; return what each printed."""
    source = f"\nprint({PRINT_MARK!r}, flush=True)\n".join(codes)
    with tempfile.TemporaryDirectory() as scratch:
        script = Path(scratch, name)
        script.write_text(source)
        done = subprocess.run(
            [sys.executable, "-W", "ignore", str(script)],
            cwd=scratch,
            env=os.environ | {"XDG_CONFIG_HOME": str(Path(scratch, "settings"))},
            capture_output=True,
            text=True,
            check=False,
            timeout=MAX_SECONDS,
        )
    if done.returncode:
        raise RuntimeError(f"tutorial {name} failed:\n{done.stdout}{done.stderr}")
    return [text.strip("\n") for text in done.stdout.split(PRINT_MARK)]
