"""The reward settings on the command line, made from `RewardSettings`: options of the task."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from rolecast.envs.errors import RequestError
from rolecast.envs.rewards.settings import RewardSettings
from rolecast.platform.cli.documented import field_texts

_TEXTS = field_texts(RewardSettings)
_PANEL = "Reward as the learner is paid it (scores are of the reward as earned)"


def _option(name: str, metavar: str | None = None) -> Any:
    flag = f"--{name.replace('_', '-')}"
    return typer.Option(flag, metavar=metavar, help=_TEXTS[name], rich_help_panel=_PANEL)


Sparse = Annotated[int | None, _option("sparse", "S")]
Delay = Annotated[int | None, _option("delay", "D")]
Noise = Annotated[float | None, _option("noise", "SD")]
Flip = Annotated[float | None, _option("flip", "P")]
Drop = Annotated[float | None, _option("drop", "P")]
FlushOnEnd = Annotated[bool, _option("flush_on_end")]


def with_reward_options(
    options: Mapping[str, Any],
    *,
    sparse: int | None,
    delay: int | None,
    noise: float | None,
    flip: float | None,
    drop: float | None,
    flush_on_end: bool,
) -> dict[str, Any]:
    """Return options of a task, those of the reward among them that were given.

    Raises:
        RequestError: one is given as a task option too.
    """
    rewards = {
        "sparse": sparse,
        "delay": delay,
        "noise": noise,
        "flip": flip,
        "drop": drop,
        "flush_on_end": flush_on_end or None,
    }
    given = {name: value for name, value in rewards.items() if value is not None}
    for name in given:
        if name in options:
            raise RequestError(
                f"{name} is given as --{name.replace('_', '-')} and by --set; expected one of them"
            )
    return {**options, **given}
