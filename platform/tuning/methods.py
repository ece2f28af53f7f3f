"""The two kinds of method that a comparison runs, as frozen values: a search, or a learner."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Final

from rolecast.core.errors import ConfigError, unknown_name
from rolecast.core.validation import make_plain
from rolecast.platform.tuning.rewards import reward_name


@dataclass(frozen=True, kw_only=True)
class SearchMethod:
    """A search of the weights of a policy: one trial is one whole `rolecast search`."""

    kind: ClassVar[str] = "search"

    optimizer: str = "dss_gp_ucb"
    """Name of the optimiser."""

    optimizer_settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the optimiser."""

    policy: str = "hom"
    """Name of the policy."""

    policy_options: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the policy."""

    evaluations: int | None = None
    """Budget in evaluations, where it is not the experiment's env steps."""

    episodes: int | None = None
    """E, episodes averaged into one evaluation; None leaves it to the optimiser."""

    batch_size: int | None = None
    """q, candidates asked at once; None leaves it to the optimiser."""

    label: str = ""
    """What the comparison calls it; empty is the optimiser's name."""

    tasks: tuple[str, ...] = ()
    """Tasks of the experiment that it runs in; empty is all."""

    rewards: tuple[str, ...] = ()
    """Reward settings of the experiment that it runs with; empty is all."""

    def __post_init__(self) -> None:
        _check(self, "optimizer", ("optimizer_settings", "policy_options"))
        for name in ("evaluations", "episodes", "batch_size"):
            value = getattr(self, name)
            if value is not None and (type(value) is not int or value < 1):
                raise ConfigError(f"SearchMethod.{name}", value, "an integer >= 1, or None")


@dataclass(frozen=True, kw_only=True)
class LearnerMethod:
    """A learning algorithm, by its name in `rolecast.baselines` or among others' entry points."""

    kind: ClassVar[str] = "learner"

    algorithm: str
    """Name of the algorithm."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the algorithm; those that are not given are its authors'."""

    label: str = ""
    """What the comparison calls it; empty is the algorithm's name."""

    tasks: tuple[str, ...] = ()
    """Tasks of the experiment that it runs in; empty is all."""

    rewards: tuple[str, ...] = ()
    """Reward settings of the experiment that it runs with; empty is all."""

    def __post_init__(self) -> None:
        _check(self, "algorithm", ("settings",))

    @property
    def policy(self) -> str:
        """Size of the policy's net, where the algorithm has sizes."""
        return str(self.settings.get("size", ""))


Method = SearchMethod | LearnerMethod

_METHOD_KINDS: Final[Mapping[str, type[Method]]] = {
    each.kind: each for each in (SearchMethod, LearnerMethod)
}


def method_to_json(method: Method) -> dict[str, Any]:
    """Return a method as JSON values."""
    values: dict[str, Any] = json.loads(json.dumps({"kind": method.kind, **asdict(method)}))
    return values


def method_from_json(values: Mapping[str, Any]) -> Method:
    """Undo `method_to_json`."""
    given = dict(values)
    kind = given.pop("kind")
    if kind not in _METHOD_KINDS:
        raise unknown_name("kind of method", str(kind), _METHOD_KINDS)
    for name in ("tasks", "rewards"):
        given[name] = tuple(given.get(name, ()))
    return _METHOD_KINDS[kind](**given)


def _check(method: Method, name: str, mappings: tuple[str, ...]) -> None:
    """Check what both kinds have, and fill in what is said in short."""
    make_plain(method)
    owner = type(method).__name__
    value = getattr(method, name)
    if not isinstance(value, str) or not value:
        raise ConfigError(f"{owner}.{name}", value, "a name")
    for each in mappings:
        settings = getattr(method, each)
        if not isinstance(settings, Mapping):
            raise ConfigError(f"{owner}.{each}", settings, "a mapping of settings")
        try:
            json.dumps(dict(settings), allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ConfigError(f"{owner}.{each}", settings, f"JSON values: {error}") from error
        object.__setattr__(method, each, dict(settings))
    if not isinstance(method.label, str):
        raise ConfigError(f"{owner}.label", method.label, "a name")
    object.__setattr__(method, "label", method.label or value)
    for each in ("tasks", "rewards"):
        if not isinstance(getattr(method, each), tuple):
            raise ConfigError(f"{owner}.{each}", getattr(method, each), "a tuple of names")
    object.__setattr__(method, "rewards", tuple(reward_name(each) for each in method.rewards))
