"""A rolecast task and a policy of few parameters as the function of a bandit."""

from dataclasses import dataclass

import numpy as np

from rolecast.core.errors import ConfigError
from rolecast.core.seeds import Purpose, episode_seeds
from rolecast.core.types import Float, Seeds
from rolecast.core.validation import FINITE_NUMBER, POSITIVE_INTEGER, POSITIVE_NUMBER, check
from rolecast.envs.registry import make_task
from rolecast.envs.spec import BatchedTask
from rolecast.platform.optimizers.duets.config import MOST_DIMENSIONS
from rolecast.platform.optimizers.duets.domain import Box
from rolecast.platform.rollout.rollout import rollout
from rolecast.platform.search.bandit.functions import TASK_PREFIX, BanditFunction
from rolecast.policies.protocol import Policy
from rolecast.policies.registry import make_policy


@dataclass(frozen=True, kw_only=True)
class TaskPlay:
    """How a task is a function of the parameters of a policy."""

    policy: str = "linear"
    """Name of the policy; it has at most ten parameters."""

    episodes: int = 1
    """E, episodes of a value, at least 1; they are the same for every point."""

    scale: float = 1.0
    """Difference of returns that counts as 1, above 0: values are mean returns as paid, less the
    offset, divided by it. Methods presume functions of norm about 1."""

    offset: float = 0.0
    """Return that counts as 0."""

    def __post_init__(self) -> None:
        rules = {"episodes": POSITIVE_INTEGER, "scale": POSITIVE_NUMBER, "offset": FINITE_NUMBER}
        check(type(self).__name__, vars(self), rules)


def task_function(name: str, play: TaskPlay, *, seed: int, noise: float | None) -> BanditFunction:
    """Return mean returns as paid of a policy over the unit cube of its parameters.

    Args:
        name: "task:" and a task id.
        play: policy, episodes, scale and offset.
        seed: of the episodes, and of the policy's centre.
        noise: standard deviation of normal noise that is added; None: 0.
    Raises:
        RequestError: task or policy does not exist, or the policy has more than ten parameters.
    """
    task = make_task(name.removeprefix(TASK_PREFIX))
    policy = make_policy(play.policy, task, seed=seed)
    dimension = policy.space.dimension
    if dimension > MOST_DIMENSIONS:
        raise ConfigError(
            f"parameters of policy {play.policy!r} in {name}",
            dimension,
            f"at most {MOST_DIMENSIONS}, for a bandit samples a whole region uniformly; "
            "`rolecast search` finds more",
        )
    return BanditFunction(
        name=name,
        domain=Box.unit(dimension),
        value=_MeanReturn(
            task,
            policy,
            episode_seeds(seed, Purpose.SEARCH, 0, play.episodes),
            play.offset,
            play.scale,
        ),
        lengthscale=0.2 * float(np.sqrt(dimension)),
        noise=noise or 0.0,
    )


@dataclass(frozen=True)
class _MeanReturn:
    """Mean return as paid of a policy by its parameters, from an offset in units of a scale."""

    task: BatchedTask
    policy: Policy
    seeds: Seeds
    offset: float
    scale: float

    def __call__(self, points: Float) -> Float:
        played = rollout(self.task, self.policy, self.policy.space.weights(points), self.seeds)
        return np.asarray((played.observed_returns.mean(1) - self.offset) / self.scale)
