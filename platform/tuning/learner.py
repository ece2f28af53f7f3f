"""What a comparison asks of a learning algorithm, and how it finds one by its name.

Searches are the project's own and need no such face; everything that learns by gradients, or in
any other way of its own, is a `LearningMethod`. Nothing here knows which there are: those of
`rolecast.baselines` are found by the name of their table, those of others by entry point.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, runtime_checkable

from rolecast.core.errors import unknown_name
from rolecast.core.lazy_table import Setting, load_entry
from rolecast.core.types import Float
from rolecast.envs.spec import BatchedTask, TaskSpec
from rolecast.policies.protocol import Policy

if TYPE_CHECKING:
    from gymnasium.spaces import Space

ENTRY_POINTS: Final = "rolecast.methods"
"""Group of entry points that name further `MethodFactory` objects."""

METHODS_MODULE: Final = "rolecast.baselines.methods"
"""Module whose `METHODS` maps the project's own names to factories."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """What a learner did since it was asked last."""

    env_steps: int
    """Steps of all training episodes since its beginning."""

    returns: list[float] = field(default_factory=list)
    """Team return as earned, of the episodes that ended since the last call."""

    observed_returns: list[float] = field(default_factory=list)
    """The same as paid to the learner by the task's reward settings."""


class LearningMethod(Protocol):
    """A learner at work in one trial."""

    @property
    def parameters(self) -> int:
        """Number of parameters of the policy that acts."""

    def train(self, env_steps: int) -> Progress:
        """Learn until this total of env steps, or a little beyond it."""

    def policy(self) -> tuple[Policy, Float]:
        """Return the policy without exploration, and its weights [1, D]."""

    def save(self, folder: Path) -> None:
        """Write all that decides the rest of the training into a folder that exists."""

    def restore(self, folder: Path) -> None:
        """Continue as the one that `save` was called on would have."""

    def close(self) -> None:
        """End all processes that it started."""


class MethodFactory(Protocol):
    """One algorithm by name."""

    def check(self, task: TaskSpec, settings: Mapping[str, Any]) -> None:
        """Refuse settings or a task that it cannot have.

        Raises:
            RequestError: an unknown setting, with the nearest, a value out of range, or spaces
                that do not fit.
        """

    def start(
        self,
        task: str,
        settings: Mapping[str, Any],
        *,
        seed: int,
        workers: int,
        env_steps: int,
    ) -> LearningMethod:
        """Begin a learner.

        Args:
            task: whole id, reward settings included.
            settings: as `check` accepted them.
            seed: of all its random choices.
            workers: processes beside this one that run episodes; 0 runs them here.
            env_steps: its whole budget.
        """


@runtime_checkable
class DescribesItself(Protocol):
    """Factory that says what it is and which tasks it takes, as those of this project do."""

    @property
    def summary(self) -> str:
        """Description in one line."""

    @property
    def takes(self) -> str:
        """Tasks that it takes, in words."""

    def refusal(self, task: TaskSpec, actions: "Sequence[Space[Any]] | None") -> str | None:
        """Return why it does not take a task, in words; None where it does.

        Args:
            task: sizes.
            actions: action space of each agent; None for real numbers.
        """

    def settings(self) -> Sequence[Setting]:
        """Return its settings, with the values that each may have."""


@runtime_checkable
class ChecksMemory(Protocol):
    """Factory whose learners keep what they sample, as those of this project do."""

    def check_memory(self, task: TaskSpec, settings: Mapping[str, Any], env_steps: int) -> None:
        """Refuse a trial that memory cannot hold.

        Args:
            task: sizes.
            settings: as `check` accepted them.
            env_steps: its whole budget.
        Raises:
            ConfigError: names the setting and what is free.
        """


class PolicyWithGraph(Policy, Protocol):
    """Policy that has a form in ONNX."""

    def onnx_model(self, agents: int, observation_size: int, action_size: int) -> bytes:
        """Return an ONNX model from `observations` [N, n, do] to `actions` [N, n, da], float32."""

    def exact_actions(self, observations: Float) -> Float:
        """Return actions [S, n, da] of what was learnt for observations [S, n, do], in float64."""


@runtime_checkable
class LoadsPolicies(Protocol):
    """Factory that can read the policy of a learner that was saved, as those of this project do."""

    def learnt(self, folder: Path, settings: Mapping[str, Any]) -> PolicyWithGraph:
        """Return the policy without exploration; its space has the learnt weights as centre.

        Args:
            folder: of `LearningMethod.save`; what it holds may be run.
            settings: of the learner.
        """


def refusals(task: BatchedTask) -> dict[str, str | None]:
    """Return why each learner does not take a task, by name; None where it does.

    Learners of other packages that say nothing are left out.
    """
    own = getattr(task, "spaces", None)  # reward settings forward it
    actions = None if own is None else [each for _, each in own]
    factories = {name: method_factory(name, {}) for name in method_names({})}
    return {
        name: factory.refusal(task.spec, actions)
        for name, factory in factories.items()
        if isinstance(factory, DescribesItself)
    }


def method_names(extra: Mapping[str, MethodFactory]) -> list[str]:
    """Return the names of all learning methods: given, of the project, and of others."""
    others = (entry.name for entry in entry_points(group=ENTRY_POINTS))
    return sorted({*extra, *_own(), *others})


def method_factory(name: str, extra: Mapping[str, MethodFactory]) -> MethodFactory:
    """Return the factory of a name; what was given comes first.

    Raises:
        RequestError: no learning method has this name; offers the nearest.
    """
    if name in extra:
        return extra[name]
    own = _own()
    if name in own:
        return own[name]
    for entry in entry_points(group=ENTRY_POINTS, name=name):
        loaded: MethodFactory = load_entry(entry, f"learning method {name!r}")
        return loaded
    raise unknown_name("learning method", name, method_names(extra))


def _own() -> Mapping[str, MethodFactory]:
    """Return the project's own table; there is none in an installation without baselines."""
    if find_spec(METHODS_MODULE) is None:
        return {}
    table: Mapping[str, MethodFactory] = import_module(METHODS_MODULE).METHODS
    return table
