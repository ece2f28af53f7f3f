"""Every algorithm as a learning method of a comparison; RLlib is loaded when one is asked for."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from rolecast.baselines.registry import ALGORITHMS
from rolecast.envs.spec import TaskSpec

if TYPE_CHECKING:
    from rolecast.baselines.rllib.trial import LearnerTrial  # loads RLlib


@dataclass(frozen=True)
class AlgorithmMethod:
    """An algorithm as a comparison takes it: a `rolecast.platform.tuning.learner.MethodFactory`."""

    name: str

    def check(self, task: TaskSpec, settings: Mapping[str, Any]) -> None:
        """Refuse settings or a task that it cannot have.

        Raises:
            RequestError: an unknown setting, with the nearest, a value out of range, or spaces
                that do not fit.
        """
        from rolecast.baselines.rllib.trial import check_trial

        check_trial(self.name, task, settings)

    def start(
        self, task: str, settings: Mapping[str, Any], *, seed: int, workers: int, env_steps: int
    ) -> "LearnerTrial":
        """Begin a learner.

        Args:
            task: whole id, reward settings included.
            settings: as `check` accepted them.
            seed: of all its random choices.
            workers: processes beside this one that run episodes; 0 runs them here.
            env_steps: its whole budget.
        """
        from rolecast.baselines.rllib.trial import LearnerTrial

        return LearnerTrial(
            self.name, task, settings, seed=seed, workers=workers, env_steps=env_steps
        )


METHODS: Final[Mapping[str, AlgorithmMethod]] = MappingProxyType(
    {name: AlgorithmMethod(name) for name in ALGORITHMS}
)
"""Every algorithm as a learning method of a comparison."""
