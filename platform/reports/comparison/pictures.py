"""The pictures of a comparison: drawn once, shown on its page and kept as files beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from markupsafe import Markup

from rolecast.core.files import file_name
from rolecast.platform.reports.comparison.curves import (
    Axis,
    improvement_picture,
    methods_drawn,
    sample_efficiency,
)
from rolecast.platform.reports.comparison.groups import Groups
from rolecast.platform.reports.comparison.improvement import Improvement
from rolecast.platform.reports.page import inline_image
from rolecast.platform.reports.style import png
from rolecast.platform.search.records.measurements import Yardstick

BUDGET_AXES: Final[Mapping[Axis, str]] = MappingProxyType(
    {
        "env_steps": "env steps",
        "policy_evaluations": "evaluations",
        "wall_time_s": "wall time",
    }
)
"""In the order of the page, as names of files and descriptions call them."""

LEAST_FOR_IQM: Final = 4
"""Seeds from which an IQM differs from the mean."""


@dataclass(frozen=True, kw_only=True)
class Picture:
    """One picture."""

    name: str
    """Of its file, without ending."""

    png: bytes

    description: str
    """For readers who do not see it."""

    @property
    def image(self) -> Markup:
        """The `<img>` that holds it."""
        return inline_image(self.png, "png", self.description)


Pictures = tuple[Picture, ...]


def statistics(whole: Groups) -> tuple[str, ...]:
    """Return what curves are drawn of: the first on the page, the others on demand."""
    several = any(len(cell.trials) >= LEAST_FOR_IQM for cell in whole.cells.values())
    return ("IQM", "mean") if several else ("mean",)


def curve_pictures(
    whole: Groups, task: str, statistic: str, yardsticks: Sequence[Yardstick]
) -> Pictures:
    """Return a task's curves against all that is spent; evaluations where several searches are."""
    of_searches = len(methods_drawn(whole, task, "policy_evaluations")) > 1
    aside = "" if statistic == statistics(whole)[0] else f"_{statistic}"
    return tuple(
        Picture(
            name=file_name(f"{task}_{words.replace(' ', '_')}{aside}"),
            png=png(
                sample_efficiency(
                    whole, task, axis=axis, statistic=statistic, yardsticks=yardsticks
                )
            ),
            description=f"{task}: {statistic} of the held-out return against {words}",
        )
        for axis, words in BUDGET_AXES.items()
        if of_searches or axis != "policy_evaluations"
    )


def improvement_pictures(whole: Groups, found: Sequence[Improvement]) -> Pictures:
    """Return who beats whom over all settings; nothing where there is one method."""
    overall = [each for each in found if not each.task or len(whole.settings) == 1]
    if not overall:
        return ()
    drawing = improvement_picture(overall)
    return (
        Picture(name="improvement", png=png(drawing), description="Probability of improvement"),
    )
