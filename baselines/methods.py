"""Every algorithm as a learning method of a comparison; RLlib is loaded when one is asked for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from rolecast.baselines.registry import ALGORITHM_FACTS, ALGORITHMS
from rolecast.core.lazy_table import Setting, told_settings
from rolecast.envs.spec import TaskSpec

if TYPE_CHECKING:
    from gymnasium.spaces import Space

    from rolecast.baselines.rllib.actor_policy import ActorPolicy  # loads torch
    from rolecast.baselines.rllib.trial import LearnerTrial  # loads RLlib

LEARNER_SETTINGS: Final = Path(__file__).with_name("settings.csv")
"""What `told_settings` reads."""

SUITED_DEFAULTS: Final = (
    "Episodes over 25 steps: gamma rises; over 100: the authors' MuJoCo settings, unless set."
)
"""Defaults of team learners by the length of episodes; see `TeamConfig.suit`."""


@dataclass(frozen=True)
class AlgorithmMethod:
    """An algorithm as a comparison takes it: a `rolecast.platform.tuning.learner.MethodFactory`."""

    name: str

    @property
    def summary(self) -> str:
        """Description in one line."""
        return ALGORITHM_FACTS[self.name].summary

    @property
    def takes(self) -> str:
        """Tasks that it takes, in words."""
        facts = ALGORITHM_FACTS[self.name]
        agents = "teams and single agents" if facts.teams else "single agents"
        return f"{agents}; {'Discrete actions only' if facts.discrete else 'all action spaces'}"

    @property
    def note(self) -> str:
        """Defaults that depend on the task, in a sentence; empty where none do."""
        return SUITED_DEFAULTS if ALGORITHM_FACTS[self.name].suited else ""

    def refusal(self, task: TaskSpec, actions: "Sequence[Space[Any]] | None") -> str | None:
        """Return why it does not take a task, in words; None where it does.

        Args:
            task: sizes.
            actions: action space of each agent; None for real numbers.
        """
        from gymnasium.spaces import Discrete

        facts = ALGORITHM_FACTS[self.name]
        if task.agents > 1 and not facts.teams:
            return "takes one agent"
        choices = actions is not None and all(isinstance(each, Discrete) for each in actions)
        return "needs Discrete actions" if facts.discrete and not choices else None

    def settings(self) -> Sequence[Setting]:
        """Return its settings; this loads no RLlib."""
        return told_settings(LEARNER_SETTINGS)[self.name]

    def check(self, task: TaskSpec, settings: Mapping[str, Any]) -> None:
        """Refuse settings or a task that it cannot have.

        Raises:
            RequestError: an unknown setting, with the nearest, a value out of range, or spaces
                that do not fit.
        """
        from rolecast.baselines.rllib.trial import check_trial

        check_trial(self.name, task, settings)

    def check_memory(self, task: TaskSpec, settings: Mapping[str, Any], env_steps: int) -> None:
        """Refuse a trial that memory cannot hold.

        Raises:
            ConfigError: names the setting and what is free.
        """
        from rolecast.baselines.rllib.trial import check_replay

        check_replay(self.name, task, settings, env_steps)

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

    def learnt(self, folder: Path, settings: Mapping[str, Any]) -> "ActorPolicy":
        """Return the policy of a learner that was saved in a folder; this runs what it holds.

        Args:
            folder: of `LearnerTrial.save`; RLlib reads it by pickle.
            settings: of the learner.
        """
        from rolecast.baselines.rllib.trial import learnt_policy

        return learnt_policy(self.name, folder, settings)


METHODS: Final[Mapping[str, AlgorithmMethod]] = MappingProxyType(
    {name: AlgorithmMethod(name) for name in ALGORITHMS}
)
"""Every algorithm as a learning method of a comparison."""
