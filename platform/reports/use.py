"""How to make a run again, and how to use what it found: lines to copy."""

from pathlib import Path
from typing import Final

from markupsafe import Markup

from rolecast.core.files import in_shell
from rolecast.platform.reports.folder import Run
from rolecast.platform.reports.page import links, paragraph, preformatted, section
from rolecast.platform.search.planning.config import CALLABLE_PREFIX
from rolecast.platform.search.records.history import Kind
from rolecast.platform.tuning.comparison_folder import ComparisonFolder

SAME_SEARCH: Final = "The same search again:"

FILES_BESIDE: Final = (
    ("policy.json", "policy/policy.json"),
    ("run.toml", "run.toml"),
)
"""What a page may link to: names, and paths in the run's folder."""


def use_again(run: Run, *, moves: bool) -> Markup:
    """Return the commands of a run and five lines of Python, and links to its files.

    Args:
        run: finished or not.
        moves: whether there is an episode to film, and an environment to act in.
    """
    folder = run.folder.path
    name = in_shell(folder)
    finished = run.folder.read_summary() is not None
    commands = [f"rolecast evaluate {name} --episodes 1000"] if finished else []
    if moves:
        commands.append(f"rolecast render {name} --out {in_shell(folder.absolute().name)}.gif")
    callable_task = str(run.record["search"]["task"]).startswith(CALLABLE_PREFIX)
    if not (callable_task or _is_of_comparison(folder)):  # whose budget is that of all its trials
        commands.append(f"rolecast resume {name}" + (_further_budget(run) if finished else ""))
    parts = []
    if (folder / "run.toml").is_file() and not callable_task:
        again = f"rolecast search --config {in_shell(folder / 'run.toml')} --out {name}-again"
        extended = any(batch.kind is Kind.CONFIRM for batch in run.batches[:-1])
        same = "Another search, of this budget from its start:" if extended else SAME_SEARCH
        parts += [paragraph(same), preformatted(again)]
    parts += [
        paragraph("Score it, film it, go on:" if moves else "Score it, go on:"),
        preformatted("\n".join(commands)),
    ]
    if moves and (folder / "policy").is_dir():
        python = (
            "import rolecast\n\n"
            f"policy = rolecast.load_policy({str(folder)!r})\n"
            "actions = policy.for_env(env).step(observations)"
        )
        parts += [paragraph("In Python, with an environment of its task:"), preformatted(python)]
    beside = [(label, path) for label, path in FILES_BESIDE if (folder / path).is_file()]
    return section("Use it", *parts, links(beside))


def _further_budget(run: Run) -> str:
    """Return the option that doubles the budget of a run."""
    if run.record["search"].get("evaluations") is not None:
        return f" --evaluations +{run.batches[-1].spent_after.evaluations}"
    return f" --env-steps +{run.env_steps()}"


def _is_of_comparison(folder: Path) -> bool:
    """Return whether a run is the search of a comparison's trial: DIR/work/TRIAL/run."""
    above = folder.absolute().parents
    return len(above) > 2 and ComparisonFolder(above[2]).known
