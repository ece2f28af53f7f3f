"""`report.html`: all that a run has to show, in one file that needs no other and no network."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from markupsafe import Markup

from rolecast.core.errors import RequestError, RunError
from rolecast.core.files import in_shell, write_bytes
from rolecast.core.rounding import digits_for
from rolecast.envs.causal.problem import HasCausalGraph
from rolecast.envs.rewards.task import unwrapped
from rolecast.envs.spec import BatchedTask
from rolecast.platform.reports.causal_graph import causal_graph_of, causal_sections
from rolecast.platform.reports.charts.search import histogram, learning_chart
from rolecast.platform.reports.curves import learning_curve
from rolecast.platform.reports.diagnostics import diagnostics
from rolecast.platform.reports.film.options import Shot
from rolecast.platform.reports.film.render import render
from rolecast.platform.reports.folder import PLAY_FILE, Run
from rolecast.platform.reports.incumbents import (
    HEALTHY_EXPECTATION,
    believed_incumbents,
    expectation_text,
    incumbents_of,
)
from rolecast.platform.reports.page import (
    as_written,
    captioned,
    inline_image,
    links,
    page,
    paragraph,
    rounded,
    section,
    small_charts,
    table,
)
from rolecast.platform.reports.roles import role_sections
from rolecast.platform.reports.structure import adjacency, block_shares, structure_picture
from rolecast.platform.reports.style import png
from rolecast.platform.reports.use import use_again
from rolecast.platform.reports.verdict import verdict_of
from rolecast.platform.search.records.history import Kind
from rolecast.platform.search.records.measurements import (
    ABLATED_EPISODES,
    RunMeasurements,
    Yardstick,
    complete_run,
)
from rolecast.policies.artefact import load_policy
from rolecast.policies.certificate import (
    bound_text,
    certified_bounds,
)
from rolecast.policies.protocol import Policy

MOST_FRAMES: Final = 60
"""Most frames of the episode shown, so that a report takes seconds and few megabytes."""

EARLIER_FRAMES: Final = 30
"""Most frames of an earlier incumbent's episode."""

CHART_USE: Final = (
    "Point at the chart for values, drag to zoom, double-click to reset, click a name to hide it."
)

LEAST_EPISODES: Final = 10
"""Fewer single episodes show no distribution."""

NORMAL_QUANTILE: Final = 1.96
"""Standard errors from the middle to the ends of a normal interval of 95 %."""


@dataclass(frozen=True, kw_only=True)
class Live:
    """A report of a search that may still run: without its film, which takes seconds."""

    target: Path
    """File to write."""

    said: str | None = None
    """Sentence on top; None is the verdict."""

    reload_s: int | None = None
    """Seconds after which a browser reads the file again; None: it is the last."""


def write_measured_report(path: str | Path, *, trust: bool = False) -> Path:
    """Write the report of a run, which is measured first where it was not since its last batch.

    Arguments, result and errors are those of `complete_run` and `write_report`.
    """
    complete_run(path, trust=trust)
    return write_report(path, trust=trust)


def write_report(path: str | Path, *, trust: bool = False, live: Live | None = None) -> Path:
    """Write report.html, and structure.png beside it, for a run finished or not.

    It shows the held-out returns that `complete_run` has measured; what is missing is left out.

    Args:
        path: folder of the run.
        trust: make the run's task, though its id may run any code (`envs.trust`).
        live: write this page of it instead.
    Returns:
        The file written.
    Raises:
        RequestError: no run is there, or its task is not trusted.
        RunError: the task failed, or the folder cannot be written.
    """
    run = Run.read(path, trust=trust)
    with closing(run.task()) as task:
        policy = run.policy(task)
        measured = RunMeasurements.read(run.folder, after=len(run.batches))
        graph = causal_graph_of(run, task)
        moves = not isinstance(unwrapped(task), HasCausalGraph)  # whose episodes have one step
        yardsticks = measured.yardsticks if measured is not None else ()
        sections = [
            _results(run, yardsticks),
            _curve(run, measured),
            *_episodes(run, measured),
            *_certificate(run),
            *_ablation(measured),
            *role_sections(policy.options, None if measured is None else measured.roles),
            *diagnostics(run.told),
            *([] if graph is None else causal_sections(graph, measured)),
            *(_structure(run, policy) if graph is None else []),
            *(_films(run, task) if moves and live is None else []),
            use_again(run, moves=moves),
            _settings(run),
        ]
    title = f"{run.task_id}: {policy.name} by {run.record['search']['optimizer']}"
    lead = (
        f"{policy.space.size} parameters, {run.batches[-1].spent_after.evaluations:,} evaluations, "
        f"{run.env_steps():,} environment steps, seed {run.record['seed']}."
    )
    live = live or Live(target=run.folder.path / "report.html")
    said = live.said or verdict_of(run.folder.read_summary(), yardsticks)
    text = page(title, lead, sections, verdict=said, reload_s=live.reload_s)
    write_bytes(live.target, text.encode())
    return live.target


def _results(run: Run, yardsticks: Sequence[Yardstick]) -> Markup:
    summary = run.folder.read_summary()
    rows: list[tuple[object, ...]] = []
    expected, judged = believed_incumbents(run), expectation_text(run)
    if summary is not None:
        name = f"incumbent, held out ({summary['test_episodes']} episodes)"
        rows.append((name, *rounded(summary["test_return"], summary["test_stderr"])))
        if judged == HEALTHY_EXPECTATION:
            last = rounded(expected.returns[-1], expected.stderrs[-1])
            rows.append(("incumbent, as the optimiser's model expects it", *last))
        lucky = "best evaluation (a maximum of noisy means, too high)"
        rows.append((lucky, float(summary["best_return"]), ""))
    rows += [(each.name, *rounded(each.mean, each.stderr)) for each in yardsticks]
    parts = [table(("", "episode return", "standard error"), rows)]
    if summary is None:
        parts.append(
            paragraph(f"Not finished; go on with: rolecast resume {in_shell(run.folder.path)}")
        )
    else:
        workers, shares = summary["workers"], _shares(summary)
        text = f"{summary['wall_time_s']:.1f} s of searching with {workers} workers"
        parts.append(paragraph(f"{text}{f' ({shares})' if shares else ''}."))
        if judged:
            parts.append(paragraph(judged))
    return section("Results", *parts)


def _shares(summary: Mapping[str, Any]) -> str:
    """Say what the time of a search went to, of its last part where it was interrupted.

    Without workers there is no Ray, and none waits.
    """
    alone = {"ray_and_other": "other", "workers_wait": ""} if not summary["workers"] else {}
    shares = summary["time_shares"].items()
    named = [(alone.get(name, name.replace("_", " ")), share) for name, share in shares]
    return ", ".join(f"{name} {share:.0%}" for name, share in named if name)


def _curve(run: Run, measured: RunMeasurements | None) -> Markup:
    seen = run.curve(Kind.DESIGN, Kind.SEARCH)
    found = incumbents_of(run, measured)
    yardsticks = measured.yardsticks if measured is not None else ()
    drawing = learning_curve(
        seen, incumbents=found.curve, incumbents_name=found.name, yardsticks=yardsticks
    )
    picture = inline_image(png(drawing), "png", "Return against environment steps")
    drawn = learning_chart(seen, found, yardsticks, picture)
    text = f"{found.source} Bars are two standard errors. {CHART_USE}"
    return section("Learning curve", drawn, paragraph(text))


def _episodes(run: Run, measured: RunMeasurements | None) -> list[Markup]:
    """Draw how single episodes of the last incumbent end."""
    if measured is not None and measured.last_returns:
        returns, of = np.array(measured.last_returns), "held-out episodes of the last incumbent"
    else:
        confirmed = [batch for batch in run.batches if batch.kind is Kind.CONFIRM]
        returns = confirmed[-1].incumbent_returns if confirmed else np.array([])
        of = "episodes of the last confirmation of an incumbent"
    if len(returns) < LEAST_EPISODES:
        return []
    low, middle, high = np.percentile(returns, [10, 50, 90])
    text = (
        f"{len(returns):,} {of}: a tenth end below {low:,.4g}, half below {middle:,.4g}, a tenth "
        f"above {high:,.4g}."
    )
    return [section("Single episodes", histogram(returns), paragraph(text))]


def _certificate(run: Run) -> list[Markup]:
    """Tabulate what `rolecast certify` has bounded of the run's result; nothing without either."""
    if not run.folder.policy_folder.is_dir() or run.folder.read_summary() is None:
        return []
    trained = load_policy(run.folder.policy_folder)
    certificate = trained.certificate
    if certificate is None:
        return []
    rows = [
        (name, as_written(bound_text(name, bound["at_least"])), bound["mean"], bound["method"])
        for name, bound in certified_bounds(certificate)
    ]
    head = ("", "at least", "mean", "method; what it takes for granted")
    text = (
        f"Each bound holds with confidence {certificate['confidence']:g} on fresh episodes of "
        f"{certificate['task']}; {certificate['episodes']:,} were played."
    )
    return [section("Certificate", table(head, rows), paragraph(text))]


def _ablation(measured: RunMeasurements | None) -> list[Markup]:
    """Tabulate what each net is worth; nothing where the run was not ablated."""
    if measured is None or not measured.ablations:
        return []
    rows = [
        (net, f"at {at}", each["episode_return_mean"], *_worth(each))
        for at, returns in measured.ablations.items()
        for net, each in returns.items()
        if net != "whole"
    ]
    head = ("net", "weights", "episode return", "net is worth", "stderr", "95 % interval")
    whole = next(iter(measured.ablations.values()))["whole"]["episode_return_mean"]
    text = (
        f"Return of the last incumbent with one net's weights put back to their centre, where the "
        f"search began, or to 0. What the net is worth is the return of the whole policy, "
        f"{whole:,.4g}, less this one, on the same {ABLATED_EPISODES} held-out episodes."
    )
    return [section("What each net is worth", table(head, rows), paragraph(text))]


def _worth(each: Mapping[str, float | None]) -> tuple[object, object, str]:
    """Return a paired difference, its standard error and its normal interval."""
    mean, error = each["difference_mean"], each["difference_stderr"]
    if mean is None or error is None:
        return "-", "-", "-"
    reach = NORMAL_QUANTILE * error
    digits = digits_for(mean, error)
    return mean, error, f"{mean - reach:.{digits}f} to {mean + reach:.{digits}f}"


def _structure(run: Run, policy: Policy) -> list[Markup]:
    """Draw what was found of the policy's structure; also as structure.png in the folder."""
    found = run.folder.read_structure()
    if found is None:
        return []
    edges, blocks = np.asarray(found["edges"]), policy.space.nets
    data = png(structure_picture(edges, blocks, cliques=found["cliques"]))
    write_bytes(run.folder.path / "structure.png", data)
    picture = inline_image(data, "png", "Edges between parameters, by network of the policy")
    shares = block_shares(adjacency(edges, policy.space.size), blocks)
    rows = [
        (first, second, f"{share:.2%}") for (first, second), share in shares.items() if share > 0
    ]
    text = (
        "An edge joins two parameters whose effects on the actions interact; cliques of edges "
        "share a term of the surrogate. Pairs of networks without an edge are left out."
    )
    listed = table(("network", "network", "pairs that are edges"), rows)
    return [section("Structure", paragraph(text), picture, listed)]


def _films(run: Run, task: BatchedTask) -> list[Markup]:
    """Show an episode, and those of two earlier incumbents; or say why none can be shown."""
    try:
        rendering = render(run.folder.path, Shot(most_frames=MOST_FRAMES), trust=run.trust)
        earlier = sorted({0, len(run.batches) // 2} - {len(run.batches) - 1})
        # Of a task that is not compiled, one episode each: it may be slow.
        episodes = None if hasattr(task, "lanes") else 1
        films = small_charts([_film(run, at, episodes) for at in earlier])
    except (RequestError, RunError) as reason:
        return [section("An episode", paragraph(f"Not shown: {reason}."))]
    picture = inline_image(rendering.gif(), "gif", "A moving picture of one episode")
    told = paragraph(f"Held-out episode, {rendering.caption}.")
    game = (links([("Play with it in this browser", PLAY_FILE)]),) if run.playable else ()
    shown = section("An episode", picture, told, *game)
    return [shown, *([section("Earlier incumbents", films)] if earlier else [])]


def _film(run: Run, batch: int, episodes: int | None) -> Markup:
    """Show an episode of the incumbent after a batch."""
    shot = Shot(most_frames=min(EARLIER_FRAMES, MOST_FRAMES), episodes=episodes)
    rendering = render(run.folder.path, shot, batch=batch, trust=run.trust)
    steps = run.env_steps(batch)
    title = f"After {steps:,} env steps"
    picture = inline_image(rendering.gif(), "gif", f"A moving picture of one episode, {title}")
    return captioned(title, picture, rendering.caption)


def _settings(run: Run) -> Markup:
    """Tabulate settings and versions."""
    search = run.record["search"]
    rows = [(name, _plain(value)) for name, value in search.items() if value is not None]
    versions = run.record.get("versions", {})
    policy = run.record["policy"]
    rows.append(("policy settings in force", _plain(policy["options"])))
    rows.append(("versions", _plain(versions)))
    return section("Settings", table((), rows))


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}={each}" for key, each in value.items()) or "-"
    return str(value)
