"""Settings of our algorithms: by name, RLlib's beside ours, checked when built."""

from collections.abc import Mapping
from inspect import signature
from typing import Any, ClassVar, Final, Self

import numpy as np
from ray.rllib.algorithms.algorithm_config import AlgorithmConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec

from rolecast.core.errors import ConfigError, unknown_name
from rolecast.core.validation import Rules, check

SAMPLING_SETTINGS: Final = ("num_envs_per_env_runner", "rollout_fragment_length")
"""How episodes are sampled, as far as a comparison may change it and the method reads it."""


def root_seed(seed: int | None) -> int:
    """Return the seed of `debugging(seed=...)`, or fresh entropy of the system where it is None.

    So trials without a seed differ, as RLlib's own do.
    """
    if seed is not None:
        return int(seed)
    return int(np.random.SeedSequence().generate_state(1, dtype=np.uint64)[0] >> np.uint64(1))


class NamedSettings(AlgorithmConfig):
    """What the configs of all our algorithms share; comes before RLlib's own among their bases."""

    NAME: ClassVar[str]
    """Name in `rolecast.baselines.registry`."""

    TEAMS: ClassVar[bool] = False
    """Whether the method takes tasks of several agents."""

    DISCRETE: ClassVar[bool] = False
    """Whether the method's agents choose among a few actions, in place of acting by numbers."""

    MODULE: ClassVar[type]
    """The networks."""

    LEARNER: ClassVar[type]
    """The losses."""

    RULES: ClassVar[Rules]
    """Every setting that is ours, and the values it may have."""

    RLLIB_RULES: ClassVar[Rules]
    """RLlib's own settings that matter here, and that are checked as ours are."""

    TUNED: ClassVar[tuple[str, ...]]
    """Those of RLlib's `training` that a comparison may change."""

    given_settings: tuple[str, ...] = ()
    """Names of the settings that `training` was told: what suits a task leaves them alone."""

    size: str
    """Of the policy's network: "small", "paper", "xl"."""

    hidden: tuple[int, ...] | None
    """Widths of the policy's hidden layers, instead of those of `size`; None for these."""

    paper_hidden: tuple[int, ...]
    """Widths of the policy of the algorithm's authors."""

    @property
    def reads_state(self) -> bool:
        """Whether anything of the method reads the task's state."""
        return False

    @classmethod
    def rllib_training(cls) -> tuple[str, ...]:
        """Return the settings that the `training` of RLlib's own config takes."""
        bases = cls.__mro__[cls.__mro__.index(NamedSettings) + 1 :]
        return tuple(
            name
            for owner in bases
            if "training" in vars(owner)
            for name, parameter in signature(vars(owner)["training"]).parameters.items()
            if parameter.kind is parameter.KEYWORD_ONLY
        )

    def training(self, **settings: Any) -> Self:
        """Set what concerns learning.

        Args:
            settings: fields of this class, or what RLlib's own `training` takes.

        Raises:
            RequestError: there is no such setting; names the nearest.
        """
        self._refuse_unknown(settings, self.rllib_training())
        self.given_settings = tuple(sorted({*self.given_settings, *settings}))
        super().training(**{name: settings[name] for name in settings if name not in self.RULES})
        for name in self.RULES:
            if name in settings:
                setattr(self, name, settings[name])
        return self

    def tuned(self, settings: Mapping[str, Any]) -> Self:
        """Set by name what a comparison may change: `training`'s, and how episodes are sampled.

        Raises:
            RequestError: there is no such setting, or its value cannot be.
        """
        of_sampling = [name for name in SAMPLING_SETTINGS if name in self.RLLIB_RULES]
        self._refuse_unknown(settings, (*self.TUNED, *of_sampling))
        sampling = {name: settings[name] for name in of_sampling if name in settings}
        check(type(self).__name__, sampling, self.RLLIB_RULES)
        self.env_runners(**sampling)
        self.training(
            **{name: settings[name] for name in settings if name not in SAMPLING_SETTINGS}
        )
        self.check_settings()
        return self

    def _refuse_unknown(self, settings: Mapping[str, Any], theirs: tuple[str, ...]) -> None:
        known = {*self.RULES, *theirs}
        for name in settings:
            if name not in known:
                raise unknown_name(f"setting of {self.NAME}", name, known)

    def build_learner_connector(self, *given: Any, **named: Any) -> Any:
        """Return None: our learners take arrays, so nothing need turn episodes into a batch.

        Each piece of RLlib's pipeline searches all loaded modules for each frame of the stack:
        0.3 s a learner, and more the deeper it is called.
        """
        return None

    def check_settings(self) -> None:
        """Refuse values that cannot be.

        Raises:
            ConfigError: names the setting, its value and what was expected.
        """
        rules = {**self.RLLIB_RULES, **self.RULES}
        check(type(self).__name__, {name: getattr(self, name) for name in rules}, rules)

    def validate(self) -> None:
        """Refuse settings that cannot be, ours and RLlib's.

        Raises:
            ConfigError: a setting of ours, or more than one learner.
            ValueError: a setting of RLlib's, in its own words.
        """
        self.check_settings()
        super().validate()
        if self.num_learners > 1:
            field = f"{type(self).__name__}.num_learners"
            raise ConfigError(field, self.num_learners, "0 or 1: batches are not divided")

    def get_default_rl_module_spec(self) -> RLModuleSpec:
        """Return the networks, with all of our settings as their `model_config`."""
        given = {name: getattr(self, name) for name in (*self.RULES, "paper_hidden")}
        return RLModuleSpec(module_class=self.MODULE, model_config=given)

    def get_default_learner_class(self) -> type:
        """Return the losses."""
        return self.LEARNER
