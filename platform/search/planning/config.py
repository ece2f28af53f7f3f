"""What a user may ask of a search: one frozen value, also behind the command line."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, Final

from rolecast.core.errors import RequestError, require_known
from rolecast.core.patience import STEP_TIMEOUT_S, Patience
from rolecast.core.validation import (
    BOOLEAN_VALUE,
    COUNT_OR_ZERO,
    POSITIVE_INTEGER,
    POSITIVE_NUMBER,
    Rule,
    Rules,
    check,
    make_plain,
    one_of,
    or_none,
)

CALLABLE_PREFIX: Final = "callable:"
"""Begins the task name of a search whose task was given as a Python callable."""

OWN_ADDRESSES: Final = (None, "auto", "local")
"""Addresses of clusters that are of this machine, whoever wrote the folder."""

NAME_VALUE: Final = Rule(lambda value: isinstance(value, str) and value != "", "a name")
FILLED_TEXT: Final = Rule(
    lambda value: isinstance(value, str) and value != "" and _is_utf8(value),
    "text in UTF-8 that is not empty",
)
NAMED_VALUES: Final = Rule(
    lambda value: isinstance(value, Mapping) and all(isinstance(key, str) for key in value),
    "a mapping of names to values",
)
SEARCH_RULES: Final[Rules] = MappingProxyType(
    {
        **dict.fromkeys(
            ("env_steps", "evaluations", "episodes", "batch_size", "test_episodes", "threads"),
            or_none(POSITIVE_INTEGER),
        ),
        **dict.fromkeys(("seed", "random_play_steps"), COUNT_OR_ZERO),
        "workers": or_none(COUNT_OR_ZERO),
        "fewer_episodes": or_none(BOOLEAN_VALUE),
        "asynchronous": BOOLEAN_VALUE,
        **dict.fromkeys(("task", "policy", "optimizer"), NAME_VALUE),
        **dict.fromkeys(("task_options", "policy_options", "optimizer_settings"), NAMED_VALUES),
        **dict.fromkeys(("out", "address"), or_none(FILLED_TEXT)),
        "step_timeout": Rule(
            lambda value: isinstance(value, int | float) and POSITIVE_NUMBER.allows(value),
            "seconds above 0",
        ),
        "failed_episodes": one_of("stop", "lowest"),
        "confirm_share": Rule(
            lambda value: isinstance(value, int | float) and 0.0 <= value <= 0.5,
            "a number in [0, 0.5]",
        ),
    }
)
"""Allowed values of the fields of `SearchConfig`; numbers are Python's own, which JSON has."""


@dataclass(frozen=True, kw_only=True)
class SearchConfig:
    """One search. What is None is proposed by the optimiser or chosen by the machine.

    `workers`, `out`, `address`, `step_timeout` and `test_episodes` decide nothing about what the
    search finds; but where `failed_episodes` is "lowest", what `step_timeout` ends counts as such.
    """

    task: str
    """Task id, as `rolecast tasks` lists them, options after `?`."""

    task_options: Mapping[str, Any] = field(default_factory=dict)
    """Further options of the task."""

    policy: str = "hom"
    """Name of the policy, of `rolecast policies`."""

    policy_options: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the policy."""

    optimizer: str = "dss_gp_ucb"
    """Name of the optimiser, of `rolecast optimizers`."""

    optimizer_settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the optimiser."""

    env_steps: int | None = None
    """Budget in steps of the task, all episodes together; or give `evaluations`."""

    evaluations: int | None = None
    """Budget in evaluations; or give `env_steps`. Default: 800,000 env steps."""

    episodes: int | None = None
    """E, episodes averaged into one evaluation. Default: proposed by the optimiser."""

    fewer_episodes: bool | None = None
    """Whether the optimiser may take fewer episodes where it sees little noise. Default: on, unless
    `episodes` or `evaluations` is given."""

    batch_size: int | None = None
    """q, candidates asked at once. Default: proposed by the optimiser."""

    seed: int = 0
    """Root of all randomness."""

    asynchronous: bool = False
    """Whether results are told as they come, with more candidates under way. No worker then waits
    for the longest episode. The history then depends on time: two runs differ. Not used for
    it: `fewer_episodes`."""

    workers: int | None = None
    """Ray actors that run episodes; 0 runs all in this process, without Ray. Default: this process,
    with workers of this machine where they pay; one per CPU in a cluster that is named."""

    threads: int | None = None
    """Threads of this process for episodes of a compiled task or a MuJoCo robot. Default: one per
    core; of a robot, OMP_NUM_THREADS where it is set."""

    out: str | None = None
    """Folder of the run, which must not exist. Default: a new one under runs/."""

    address: str | None = None
    """Ray cluster to run in: auto, or host:port. Default: that of RAY_ADDRESS, as in a submitted
    job; else, where there are workers, one that starts on this machine."""

    test_episodes: int | None = None
    """Episodes of the held-out test at the end. Default: 1000 of a compiled task, else 20."""

    step_timeout: float = STEP_TIMEOUT_S
    """Longest time of a step or reset of a user's environment, in seconds; a longer one ends the
    search. A message tells of one that takes over 10 seconds."""

    failed_episodes: str = "stop"
    """What an episode counts as whose environment hangs, raises, or shows or pays NaN. "stop": the
    search ends. "lowest": it counts as the lowest return so far, and the search goes on."""

    confirm_share: float = 0.02
    """Share of the budget kept for evaluating the incumbent and its rivals again, on fresh
    episodes. It has at least 24 of them, as far as a tenth of the budget allows. 0: none."""

    random_play_steps: int = 0
    """Env steps of the budget that were played at random to find symmetries. A search with the
    policy option `symmetries=found` sets it."""

    def __post_init__(self) -> None:
        make_plain(self)
        if self.env_steps is not None and self.evaluations is not None:
            raise RequestError(
                f"env_steps is {self.env_steps} and evaluations is {self.evaluations}; "
                "expected only one of them, a search has one budget"
            )
        if self.env_steps is None and self.evaluations is None:
            object.__setattr__(self, "env_steps", DEFAULT_ENV_STEPS)
        check("SearchConfig", vars(self), SEARCH_RULES)

    @property
    def forgives(self) -> bool:
        """Whether the search goes on where an episode fails."""
        return self.failed_episodes == "lowest"

    def patience(self, say: Callable[[str], None]) -> Patience:
        """Return the patience with calls of the environment; `say` is told of long ones."""
        return Patience(self.step_timeout, say, forgives=self.forgives)

    def to_json(self) -> dict[str, Any]:
        """Return the settings as JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "SearchConfig":
        """Return the config that `to_json` gave these values for.

        Raises:
            RequestError: a setting is not known to this version, or has a wrong value.
        """
        require_known("setting of a search", values, [each.name for each in fields(cls)])
        return cls(**values)


DEFAULT_ENV_STEPS: Final = 800_000
"""Budget of a search for which none was named."""


def with_budget(
    config: SearchConfig, used: Mapping[str, int], changes: Mapping[str, int | str | None]
) -> SearchConfig:
    """Return the config with another budget.

    Args:
        config: as the run began or was last extended.
        used: unit to what the run has used.
        changes: unit to the new total, or to "+N" for N more; None leaves it.
    Raises:
        RequestError: a change cannot be read, or is below what is used.
    """
    given = {unit: change for unit, change in changes.items() if change is not None}
    if not given:
        return config
    if len(given) > 1:
        raise RequestError(f"{' and '.join(given)} are given; expected one of them")
    ((unit, change),) = given.items()
    before = getattr(config, unit) or used[unit]
    try:
        amount = int(change)
    except ValueError:
        raise RequestError(f"{unit} is {change!r}; expected an integer, or +N for N more") from None
    total = before + amount if isinstance(change, str) and change.startswith("+") else amount
    if total < used[unit]:
        raise RequestError(f"{unit} is {total}; expected at least {used[unit]}, which are used")
    if unit == "env_steps":
        return replace(config, env_steps=total, evaluations=None)
    return replace(config, env_steps=None, evaluations=total)


def recorded_patience(search: Mapping[str, Any]) -> Patience:
    """Return the patience of a run with its environment, by the settings in its run.json."""
    timeout_s = search.get("step_timeout", STEP_TIMEOUT_S)
    return Patience(timeout_s, forgives=search.get("failed_episodes") == "lowest")


def _is_utf8(text: str) -> bool:
    """Return whether a text can be written; bytes of a command line that cannot are surrogates."""
    return not any("\ud800" <= character <= "\udfff" for character in text)
