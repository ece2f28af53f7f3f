"""Writes the reference of the site from the registries: a page for each name that a user types.

Each function returns pages by their path in the site; `index.md` of a folder lists the folder.
"""

import inspect
import json
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from shlex import quote
from typing import Any, Final

import typer
from task_pictures import TaskPicture, task_pictures
from task_rewards import earned, paid
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

import rolecast
from rolecast import tune_configs
from rolecast.core.files import file_name
from rolecast.core.lazy_table import Setting, told_settings
from rolecast.envs.registry import OWN_FORMS, make_task, task_specs
from rolecast.envs.spec import TaskSpec
from rolecast.platform.cli.app import app
from rolecast.platform.optimizers.registry import (
    OPTIMIZER_SETTINGS,
    optimizer_names,
    optimizer_summary,
)
from rolecast.platform.tuning.learner import DescribesItself, method_factory, method_names
from rolecast.policies.registry import POLICY_SETTINGS, policy_names, policy_summary

Pages = dict[str, str]

ROOT: Final = Path(__file__).resolve().parent.parent.parent

FAMILY_PAGES: Final = {
    "pred_prey_": "tasks/predator_prey.md",
    "het_pred_prey_": "tasks/predator_prey.md",
    "drone_delivery_": "tasks/drone_delivery.md",
    "manyagent_": "tasks/chains.md",
    "ma_": "tasks/robots_of_several_agents.md",
    "causal:": "causal.md",
    "": "tasks/robots.md",
}
"""First letters of a task to the page of its family; the first match counts."""


def reference() -> Pages:
    """Return all pages of the folder `reference`."""
    parts = {
        "commands": ("Commands", commands()),
        "tasks": ("Tasks", tasks()),
        "policies": ("Policies", policies()),
        "optimizers": ("Optimisers", optimizers()),
        "learners": ("Learners", learners()),
        "api": ("Python", api()),
    }
    pages = {
        f"{name}/{path}": text for name, (_, part) in parts.items() for path, text in part.items()
    }
    rows = [(f"[{title}]({name}/index.md)", len(part) - 1) for name, (title, part) in parts.items()]
    rows.append(("[Experiments](experiments.md)", len(tune_configs.EXPERIMENTS)))
    pages["experiments.md"] = experiments()
    intro = "Every page here is written from the program itself when the site is built."
    pages["index.md"] = f"# Reference\n\n{intro}\n\n{table(('kind', 'names'), rows)}"
    return {f"reference/{path}": text for path, text in pages.items()}


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a Markdown table."""
    lines = [tuple(head), *([cell(value) for value in row] for row in rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def index(title: str, note: str, head: Iterable[str], rows: Iterable[Iterable[object]]) -> Pages:
    """Return the page that lists a folder."""
    return {"index.md": joined(f"# {title}", note, table(head, rows))}


def joined(*parts: str) -> str:
    """Return paragraphs as a page."""
    return "\n\n".join(part for part in parts if part) + "\n"


def link(name: str) -> str:
    """Return a link to the page of a name in the same folder."""
    return f"[{name}]({file_name(name)}.md)"


def cell(value: object) -> str:
    """Return a value as text that stands in one cell."""
    return " ".join(str(value).split()).replace("|", "\\|").replace("<", "&lt;")


def code(value: object) -> str:
    """Return a value in the letters of code; nothing where there is none."""
    text = "" if value is None else str(value)
    return f"`{text}`" if text else ""


def commands() -> Pages:
    """Return a page for each command, with its arguments and options."""
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup), "the program has commands"
    named = {f"rolecast {name}": each for name, each in flatten(group, "")}
    pages = {f"{file_name(name)}.md": command_page(name, each) for name, each in named.items()}
    rows = [(link(name), first_line(each)) for name, each in named.items()]
    return pages | index("Commands", group.epilog or "", ("command", "what it does"), rows)


def flatten(group: TyperGroup, prefix: str) -> Iterable[tuple[str, TyperCommand]]:
    """Yield the commands of a group, and of the groups in it, under their names."""
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from flatten(command, f"{prefix}{name} ")
        else:
            assert isinstance(command, TyperCommand), f"{name} is made by Typer"
            yield f"{prefix}{name}", command


def first_line(command: TyperCommand) -> str:
    """Return what a command does, in one line."""
    return inspect.cleandoc(command.help or "").split("\n")[0]


def command_page(name: str, command: TyperCommand) -> str:
    """Return the page of one command."""
    text = inspect.cleandoc(command.help or "")
    parts = [f"# {name}\n", *map(paragraph, text.split("\n\n"))]
    arguments = [each for each in command.params if isinstance(each, TyperArgument)]
    options = [each for each in command.params if isinstance(each, TyperOption) and not each.hidden]
    if arguments:
        rows = [(code(each.name), getattr(each, "help", "") or "") for each in arguments]
        parts.append(f"\n## Arguments\n\n{table(('argument', 'meaning'), rows)}")
    if options:
        listed = [
            (option_names(each), code(shown_default(each)), each.help or "") for each in options
        ]
        parts.append(f"\n## Options\n\n{table(('option', 'default', 'meaning'), listed)}")
    return "\n".join(parts)


def paragraph(text: str) -> str:
    """Return a paragraph of a help text; an example becomes a block of code."""
    word, _, rest = text.partition(":")
    if word in {"Example", "Examples"}:
        lines = "\n".join(line.strip() for line in rest.strip().splitlines())
        return f"```sh\n{lines}\n```\n"
    return f"{text}\n"


def option_names(option: TyperOption) -> str:
    """Return the spellings of an option."""
    metavar = f" {option.metavar}" if option.metavar and not option.is_flag else ""
    return ", ".join(f"`{each}{metavar}`" for each in [*option.opts, *option.secondary_opts])


def shown_default(option: TyperOption) -> object:
    """Return the default that a reader may want to know."""
    default = option.default
    return None if default in (None, False, (), []) or callable(default) else default


def tasks() -> Pages:
    """Return a page for each task that the registry lists: sizes, yardsticks, picture, command."""
    stored = json.loads((ROOT / "docs" / "results" / "tasks.json").read_text())["cells"]
    specs = task_specs()
    drawn = task_pictures()
    pages = {
        f"{file_name(name)}.md": task_page(name, spec, stored, drawn)
        for name, spec in specs.items()
    }
    rows = [
        (link(name), spec.agents, spec.observation_size, spec.action_size, spec.horizon)
        for name, spec in specs.items()
    ]
    own = table(("form", "what it is"), [(code(form), text) for form, text in OWN_FORMS.items()])
    note = "Sizes are numbers of one agent. How to use a task: [Tasks](../../tasks.md)."
    listed = index("Tasks", note, ("task", "agents", "observation", "action", "steps"), rows)
    return pages | {"index.md": joined(listed["index.md"], "## Tasks of your own", own)}


def task_page(
    name: str,
    spec: TaskSpec,
    stored: Iterable[Mapping[str, Any]],
    drawn: Iterable[TaskPicture],
) -> str:
    """Return the page of one task."""
    task = make_task(name)
    facts = [
        ("agents", spec.agents),
        ("observation of an agent", f"{spec.observation_size} numbers"),
        ("action of an agent", f"{spec.action_size} numbers in [-1, 1]"),
        ("steps of an episode", f"at most {spec.horizon}"),
        ("reward", earned(task)),
        ("paid", f"{paid(task)} ([rewards](../../rewards.md))"),
        ("symmetries", ", ".join(each.name for each in spec.symmetries) or "none declared"),
        ("source", spec.source),
    ]
    page = next(page for start, page in FAMILY_PAGES.items() if name.startswith(start))
    numbers = f"Each number observed, rewards and constants: [its family](../../{page})."
    parts = [f"# {name}", spec.summary, table(("fact", "value"), facts), numbers]
    if (ROOT / "docs" / "tasks" / f"{name}.png").exists():
        parts.append(f"![A frame of {name}](../../tasks/{name}.png)")
    if measured := [each for each in stored if each["task"] == name]:
        rows = [
            (code(each["policy"]), f"{each['mean']:.1f} +- {each['stderr']:.1f}", each["episodes"])
            for each in measured
        ]
        shown = table(("policy", "return", "episodes"), rows)
        parts += ["## Yardsticks", "Mean return and its standard error.", shown]
    if mine := [each for each in drawn if each.task == name]:
        parts += ["## Curves", *map(captioned, mine)]
    lines = f"rolecast check-task {quote(name)}\nrolecast search {quote(name)} --out runs/found"
    return joined(*parts, "## Search it", f"```sh\n{lines}\n```")


def captioned(picture: TaskPicture) -> str:
    """Return a picture of docs/results with its caption below, which links its numbers."""
    source = f"[{picture.source_title}](../../results/{picture.source})"
    return f"![{picture.caption}](../../results/{picture.file})\n\n*{picture.caption}.* {source}"


def policies() -> Pages:
    """Return a page for each policy, with its settings."""
    summaries = {name: policy_summary(name) for name in policy_names()}
    pages = {
        f"{name}.md": settings_page(
            name, summary, "policy.", told_settings(POLICY_SETTINGS).get(name, ())
        )
        for name, summary in summaries.items()
    }
    rows = [(link(name), summary) for name, summary in summaries.items()]
    note = "Guide: [Policies](../../policies.md)."
    return pages | index("Policies", note, ("policy", "what it is"), rows)


def optimizers() -> Pages:
    """Return a page for each optimiser, with its settings and those of its configurations."""
    pages, rows = {}, []
    for name in optimizer_names():
        settings = told_settings(OPTIMIZER_SETTINGS).get(name, ())
        pages[f"{name}.md"] = settings_page(name, optimizer_summary(name), "", settings)
        rows.append((link(name), optimizer_summary(name)))
    note = "Guide: [Optimisers](../../optimizers.md)."
    return pages | index("Optimisers", note, ("optimiser", "what it is"), rows)


def settings_page(name: str, summary: str, prefix: str, settings: Sequence[Setting]) -> str:
    """Return a page of settings that `--set` takes."""
    rows = [(code(f"{prefix}{each.name}"), f"`{each.default}`", each.text) for each in settings]
    if not rows:
        return joined(f"# {name}", summary, "It has no settings.")
    shown = table(("setting", "default", "meaning"), rows)
    return joined(f"# {name}", summary, "Settings are given by `--set KEY=VALUE`.", shown)


def learners() -> Pages:
    """Return a page for each learner of a comparison: spaces that it takes, and settings."""
    pages, rows = {}, []
    for name in method_names({}):
        factory = method_factory(name, {})
        assert isinstance(factory, DescribesItself), f"{name} is of this project"
        settings = [
            (code(each.name), code(each.default), each.values, each.text)
            for each in factory.settings()
        ]
        use = f'```text\nLearnerMethod(algorithm="{name}", settings={{...}})\n```'
        shown = table(("setting", "default", "values", "meaning"), settings)
        summary = f"{factory.summary}. Takes {factory.takes}."
        pages[f"{name}.md"] = joined(f"# {name}", summary, use, shown)
        rows.append((link(name), factory.summary, factory.takes))
    note = "Guide: [Comparisons](../../comparison.md)."
    return pages | index("Learners", note, ("learner", "what it is", "takes"), rows)


def experiments() -> str:
    """Return the page of the experiments that `rolecast compare` knows by name."""
    rows = []
    for name in tune_configs.EXPERIMENTS:
        module = import_module(f"rolecast.tune_configs.{name}")
        text = (inspect.getdoc(module) or "").split("\n\n")[0]
        rows.append((code(name), text, len(module.EXPERIMENT.trials())))
    shown = table(("name", "what it compares", "trials"), rows)
    return joined("# Experiments", "Run by `rolecast compare NAME`.", shown)


def api() -> Pages:
    """Return a page for each public name, filled from its docstring by mkdocstrings."""
    pages, rows = {}, []
    for name in rolecast.__all__:
        found = getattr(rolecast, name)
        pages[f"{name}.md"] = joined(f"# rolecast.{name}", f"::: {found.__module__}.{name}")
        rows.append((link(name), (inspect.getdoc(found) or "").split("\n")[0]))
    return pages | index("Python", "The public names of `rolecast`.", ("name", "what it is"), rows)
