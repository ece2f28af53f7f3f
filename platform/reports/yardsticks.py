"""Returns to compare a policy with: what the scripted policies earn in the same task."""

from dataclasses import dataclass
from typing import Final

from rolecast.envs.registry import make_task
from rolecast.envs.rewards.task import unwrapped
from rolecast.envs.scripted import SCRIPTED
from rolecast.platform.rollout.evaluate import Evaluation, evaluate

EPISODES: Final = 1000
"""Of each scripted policy."""


@dataclass(frozen=True, kw_only=True)
class Yardstick:
    """A named return."""

    name: str
    """As pictures and tables name it."""

    mean: float
    """Mean return of an episode."""

    stderr: float | None
    """Its standard error; None where there is none."""

    @property
    def text(self) -> str:
        """Mean and error in words."""
        return f"{self.mean:.1f}" + ("" if self.stderr is None else f" +- {self.stderr:.1f}")


def yardstick(result: Evaluation) -> Yardstick:
    """Return the yardstick that an evaluation of a scripted policy is."""
    return Yardstick(
        name=f"scripted {result.policy}",
        mean=result.episode_return_mean,
        stderr=result.episode_return_stderr,
    )


def scripted_yardsticks(task: str) -> list[Yardstick]:
    """Evaluate the scripted policies that can play a task, on held-out episodes.

    Args:
        task: id of the task.
    """
    made = unwrapped(make_task(task))
    names = [name for name, script in SCRIPTED.items() if script.plays(made)]
    made.close()
    return [yardstick(evaluate(name, task=task, episodes=EPISODES)) for name in names]
