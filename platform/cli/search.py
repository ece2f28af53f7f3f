"""`rolecast search`: a new search, its settings made from `SearchConfig`."""

from typing import Annotated, Any

import typer

from rolecast.platform.cli.documented import settings_of
from rolecast.platform.cli.output import Json
from rolecast.platform.cli.settings import parse_settings
from rolecast.platform.search.config import SearchConfig

_SETTINGS = {each.name: each for each in settings_of(SearchConfig)}


def _option(name: str, *flags: str, metavar: str | None = None) -> Any:
    """Return the option of one field: its text and its default are the config's."""
    setting = _SETTINGS[name]
    shown = False if setting.default is None else str(setting.default)
    return typer.Option(*flags, help=setting.text, show_default=shown, metavar=metavar)


def search(
    task: Annotated[str, typer.Argument(help=_SETTINGS["task"].text)],
    *,
    policy: Annotated[str | None, _option("policy")] = None,
    optimizer: Annotated[str | None, _option("optimizer")] = None,
    env_steps: Annotated[int | None, _option("env_steps")] = None,
    evaluations: Annotated[int | None, _option("evaluations")] = None,
    episodes: Annotated[int | None, _option("episodes")] = None,
    batch_size: Annotated[int | None, _option("batch_size")] = None,
    seed: Annotated[int | None, _option("seed")] = None,
    workers: Annotated[int | None, _option("workers")] = None,
    out: Annotated[str | None, _option("out", metavar="DIR")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A setting of the optimiser; with policy. or task. before the key, of those. "
            "May be given many times; a value is read as JSON, else as text.",
        ),
    ] = None,
    address: Annotated[str | None, _option("address")] = None,
    test_episodes: Annotated[int | None, _option("test_episodes")] = None,
    confirm_share: Annotated[float | None, _option("confirm_share")] = None,
    json: Json = False,
) -> None:
    """Search the weights of a policy for a task; the result is a folder.

    Example: rolecast search pred_prey_3 --env-steps 400000 --seed 0 --workers 2 --out runs/hunt
    """
    parts = parse_settings(settings or [])
    given = {
        "policy": policy,
        "optimizer": optimizer,
        "env_steps": env_steps,
        "evaluations": evaluations,
        "episodes": episodes,
        "batch_size": batch_size,
        "seed": seed,
        "workers": workers,
        "out": out,
        "address": address,
        "test_episodes": test_episodes,
        "confirm_share": confirm_share,
    }
    config = SearchConfig(
        task=task,
        task_options=parts["task"],
        policy_options=parts["policy"],
        optimizer_settings=parts["optimizer"],
        **{name: value for name, value in given.items() if value is not None},  # type: ignore[arg-type]  # typed by typer
    )
    from rolecast.platform.cli.running import run_new

    run_new(config, json=json)
