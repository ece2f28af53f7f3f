"""`report.html` of a bandit run: regret and communication by round, exchanges, settings."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup
from matplotlib.figure import Figure

from rolecast.core.files import in_shell, write_bytes
from rolecast.platform.reports.page import inline_image, page, paragraph, section, table
from rolecast.platform.reports.style import png
from rolecast.platform.search.bandit.folder import BanditFolder


def write_bandit_report(path: str | Path) -> Path:
    """Write report.html into the folder of a bandit run, finished or not.

    Raises:
        RequestError: no run is there, or it is damaged.
    """
    folder = BanditFolder(path)
    request, result = folder.read_request(), folder.read_result()
    sections = [_settings(request)]
    if result is None:
        queries = sum(len(block.points) for block in folder.read_blocks())
        again = f"rolecast resume {in_shell(folder.path)}"
        text = f"Not finished: {queries:,} queries; go on with: {again}"
        sections.insert(0, section("Results", paragraph(text)))
    else:
        sections = [_results(result), _curves(result), _exchanges(result["epochs"]), *sections]
    title = f"{request['function']} by {request['method']}"
    lead = f"{request['agents']} agents, {request['rounds']} rounds, seed {request['seed']}."
    target = folder.path / "report.html"
    write_bytes(target, page(title, lead, sections).encode())
    return target


def _results(result: dict[str, Any]) -> Markup:
    names = (
        "cumulative_regret",
        "communication_reals",
        "communication_bytes",
        "uplink_reals",
        "downlink_reals",
        "incumbent_value",
        "greatest_value",
        *(["above_optimum"] if result.get("above_optimum") else []),
        "incumbent",
    )
    rows = [(name.replace("_", " "), _cell(result[name])) for name in names]
    return section("Results", table((), rows))


def _curves(result: dict[str, Any]) -> Markup:
    """Draw regret and communication against rounds."""
    curves = [("cumulative regret", result["regret_by_round"])]
    curves.append(("real numbers sent", result["reals_by_round"]))
    known = [(label, values) for label, values in curves if values is not None]
    drawing = Figure(figsize=(4.0 * len(known), 3.0), layout="constrained")
    for place, (label, values) in enumerate(known):
        axes = drawing.add_subplot(1, len(known), place + 1)
        axes.step(np.arange(1, len(values) + 1), values, where="post")
        axes.set_xlabel("round")
        axes.set_ylabel(label)
    picture = inline_image(png(drawing), "png", "Regret and communication against rounds")
    return section("By round", picture)


def _exchanges(records: Sequence[dict[str, Any]]) -> Markup:
    if not records:
        return section("Exchanges", paragraph("There was none."))
    head = [name.replace("_", " ") for name in records[0]]
    rows = [[_cell(value) for value in record.values()] for record in records]
    return section("Exchanges", table(head, rows))


def _settings(request: dict[str, Any]) -> Markup:
    rows = [(name, _cell(value)) for name, value in request.items() if value is not None]
    return section("Settings", table((), rows))


def _cell(value: Any) -> object:
    return value if isinstance(value, int | float) else "unknown" if value is None else str(value)
