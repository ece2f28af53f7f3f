"""Which episode is drawn, and how much of it, said once for Python and the command line."""

from dataclasses import dataclass
from typing import Final

from rolecast.core.errors import ConfigError
from rolecast.platform.rollout.held_out import HeldOut

COMPILED_EPISODES: Final = 101
"""Episodes of a compiled task among which one is chosen."""

OTHER_EPISODES: Final = 5
"""Episodes of any other task among which one is chosen."""


@dataclass(frozen=True, kw_only=True)
class Shot:
    """What to draw of a policy that plays a task."""

    seed: int = HeldOut.seed
    """Set of held-out episodes to choose from, as in `evaluate`."""

    episodes: int | None = None
    """Episodes played, of which a typical one is drawn. Default: 101 of a compiled task, else 5."""

    steps: int | None = None
    """Draw no more than the first steps of the episode. Default: all."""

    stride: int | None = None
    """Steps from one frame to the next. Default: chosen so that a film has at most 160 frames."""

    most_frames: int = 160
    """Frames where no stride is given: half a minute of drawing where a processor does it."""

    def __post_init__(self) -> None:
        HeldOut(seed=self.seed)
        for name in ("episodes", "steps", "stride", "most_frames"):
            value = getattr(self, name)
            unset = value is None and name != "most_frames"
            if not unset and (type(value) is not int or value < 1):
                raise ConfigError(f"render.{name}", value, "an integer >= 1")

    def played(self, *, compiled: bool) -> int:
        """Return how many episodes to play."""
        return self.episodes or (COMPILED_EPISODES if compiled else OTHER_EPISODES)

    def states(self, length: int) -> list[int]:
        """Return the states to draw of an episode, 0 for its start; the last one always."""
        end = min(length, self.steps or length)
        stride = self.stride or max(1, -(-end // max(self.most_frames - 1, 1)))
        return sorted({*range(0, end, stride), end})
