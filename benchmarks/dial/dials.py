"""The dials that there are, and what a page says of each beside its rows."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from rolecast.core.errors import RequestError, unknown_name
from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.methods import LearnerMethod, SearchMethod
from rolecast.platform.tuning.rewards import DENSE_REWARD
from rolecast.tune_configs import broken_drones, broken_swimmer, dial, dial_long


@dataclass(frozen=True, kw_only=True)
class Dial:
    """An experiment whose rewards are ever more broken, with what its page sets side by side."""

    experiment: Experiment
    sparse_rewards: tuple[str, ...]
    """Reward settings under which a search sees what it sees with dense reward."""

    told: str
    """Label of the default search, told the task's symmetries: no other is chosen by its result."""

    untold: str
    """The same, which looks for symmetries or has none."""

    plain: str
    """The same, which has none."""

    one_net: str
    """The same on a net such as learners have."""

    one_net_words: str
    """What is said of it, with {same} and {own} for what it earns there and on its own policy."""

    told_methods: frozenset[str]
    """Labels of the methods that make use of the symmetries that the task declares."""

    high_discounts: tuple[float, ...] = ()
    """Discounts of learners beside their usual one."""

    drawn_methods: tuple[str, ...]
    """Labels of those whose returns are drawn against env steps."""

    caveats: str
    """What the rows do not show: items of a list, with {discounts} and {net}."""

    stem: str
    """Of its files in docs/results."""

    option: str = ""
    """Of `rolecast bench dial`, by which it is chosen; none for the first."""

    heading: str = ""
    """What its page's heading adds to that of the first."""

    @property
    def task(self) -> str:
        """Id of the task, without reward settings."""
        return self.experiment.tasks[0]

    def headline(self, *, told: bool) -> str:
        """Return the label of the search that meets learners which know as much."""
        return self.told if told else self.untold

    @property
    def met_states(self) -> tuple[bool, ...]:
        """Whether methods are told symmetries, for each state that the plan has a learner of."""
        learners = {
            each.label for each in self.experiment.methods if not self.is_search(each.label)
        }
        there = {True: learners & self.told_methods, False: learners - self.told_methods}
        return tuple(told for told, mine in there.items() if mine)

    @property
    def finds_symmetries(self) -> bool:
        """Whether the search that is told none looks for some."""
        return self.untold != self.plain

    def is_search(self, label: str) -> bool:
        """Return whether a method is a search."""
        return isinstance(self.experiment.method(label), SearchMethod)

    def source(self, label: str, reward: str) -> str:
        """Return the reward setting whose run stands for a method's under another."""
        return DENSE_REWARD if self.is_search(label) and reward in self.sparse_rewards else reward

    @property
    def net_searches(self) -> frozenset[str]:
        """Labels of the searches of a net such as learners have."""
        return frozenset(
            method.label
            for method in self.experiment.methods
            if isinstance(method, SearchMethod) and method.policy == "mlp"
        )

    @property
    def discounted(self) -> frozenset[str]:
        """Labels of the learners that have one of the `high_discounts`."""
        return frozenset(
            method.label
            for method in self.experiment.methods
            if isinstance(method, LearnerMethod)
            and method.settings.get("gamma") in self.high_discounts
        )


SYMMETRIES_CAVEAT: Final = (
    "- **Symmetries are used differently.** A search looks for weights that are symmetric; a "
    "learner\n  maps each transition by a symmetry drawn at random. Learners were not given those "
    "that are found."
)
"""Of teams."""

SETTINGS_CAVEAT: Final = (
    "- **Settings are those for dense reward**, but for four rules of the default search: when\n"
    "  it accepts symmetries, how far it narrows in them, how returns are transformed, and what\n"
    "  sends it back to its start. They were chosen on dense, late, noisy, false and lost reward\n"
    "  of `pred_prey_3` and drones, on other seeds: [notebook](../notebook/2026-11-symmetry.md).\n"
    "  Learners were not tuned for broken reward."
)
"""Of teams."""

TIMES_CAVEAT: Final = "- No time of these trials is told: they ran beside other work."


def _team_net_words(hom_weights: int, net_weights: int) -> str:
    """Return `one_net_words` of a team's dial."""
    return (
        f"The search has `hom` ({hom_weights} weights), learners a net of {net_weights}: on it "
        "the search told symmetries earns {same}, on `hom` {own}"
    )


def _team_caveats(budget: str) -> str:
    """Return `caveats` of predator-prey, of which the first is given."""
    return f"""\
{budget}
- **Few seeds of learners.** A mean without an interval has fewer than five seeds.
{SETTINGS_CAVEAT} {{discounts}}
- **Policies differ.** `hom` has 353 weights and agents that can talk; the learners' net has 478,
  and its agents cannot, but for those of `g2anet` (473), which attend to each other.{{net}}
{SYMMETRIES_CAVEAT}
- **How symmetries are found was developed on this task**, among others, though not on these seeds:
  [notebook](../notebook/2026-11-found-symmetries.md).
{TIMES_CAVEAT}"""


TEAM_DIAL: Final = Dial(
    experiment=dial.EXPERIMENT,
    stem="dial",
    sparse_rewards=dial.SPARSE_REWARDS,
    told="dss_gp_ucb",
    untold="dss_gp_ucb_found",
    plain="dss_gp_ucb_no_symmetry",
    one_net="dss_gp_ucb_one_net",
    one_net_words=_team_net_words(353, 478),
    told_methods=dial.KNOW_SYMMETRIES,
    high_discounts=dial.HIGH_DISCOUNTS,
    drawn_methods=(
        "dss_gp_ucb",
        "cmaes_tied",
        "facmac_symmetries",
        "dss_gp_ucb_found",
        "dss_gp_ucb_no_symmetry",
        "facmac",
    ),
    caveats=_team_caveats(
        "- **One task, one budget.** Learners go on rising after it with dense reward; see\n"
        "  [baselines.md](baselines.md)."
    ),
)
"""Predator-prey; the README shows it."""

LONG_DIAL: Final = replace(
    TEAM_DIAL,
    experiment=dial_long.EXPERIMENT,
    stem="dial_long",
    option=" --long",
    heading=f" at {dial_long.EXPERIMENT.env_steps:,} env steps",
    caveats=_team_caveats("- **One task, one budget**, four times that of [the dial](dial.md)."),
)
"""Predator-prey at four times the budget."""

DRONE_DIAL: Final = replace(
    TEAM_DIAL,
    experiment=broken_drones.EXPERIMENT,
    stem="dial_drones",
    option=" --task drone_delivery_3",
    heading=" of drone_delivery_3",
    sparse_rewards=broken_drones.SPARSE_REWARDS,
    one_net_words=_team_net_words(414, 436),
    told_methods=dial.KNOW_SYMMETRIES
    & {method.label for method in broken_drones.EXPERIMENT.methods},
    high_discounts=(),
    caveats=f"""\
- **The default search is not the best one here.** Told symmetries, CMA-ES on tied weights is ahead
  of it under every reward but the late one. With dense and false reward all searches end below
  FACMAC, whatever the budget: [notebook](../notebook/2026-11-drones.md).
- **Three seeds**, hence no interval, and nothing is told apart.
{SETTINGS_CAVEAT} One discount is included, 0.975. Learners have the defaults
  for predator-prey: after 100,000 steps FACMAC had 143 with them, and -2 with those for MuJoCo,
  which it would take here (one seed that is not in the table).
- **Policies differ.** `hom` has 414 weights and agents that can talk; the learners' net has 436,
  and its agents cannot.{{net}}
{SYMMETRIES_CAVEAT}
{TIMES_CAVEAT}""",
)
"""Drone delivery, whose episodes have 150 steps."""

ROBOT_DIAL: Final = Dial(
    experiment=broken_swimmer.EXPERIMENT,
    stem="dial_swimmer",
    option=" --task swimmer",
    heading=" of swimmer",
    sparse_rewards=broken_swimmer.SPARSE_REWARDS,
    told="dss_gp_ucb",
    untold="dss_gp_ucb_no_symmetry",
    plain="dss_gp_ucb_no_symmetry",
    one_net="dss_gp_ucb_one_net",
    one_net_words=(
        "The search has a linear policy, learners the nets of their authors: on a net of two "
        "layers of ten, told no symmetries, the search earns {same}, on the linear policy, told "
        "them, {own}"
    ),
    told_methods=frozenset(("dss_gp_ucb",)),
    high_discounts=(broken_swimmer.LONG_DISCOUNT,),
    drawn_methods=(
        "dss_gp_ucb",
        "dss_gp_ucb_no_symmetry",
        "ars",
        "sac_gamma_0.9999",
        "td3_gamma_0.9999",
        "ppo_gamma_0.9999",
    ),
    caveats=f"""\
- **One robot, one budget.** With a discount of 0.9999 the TD3 of RL Baselines3 Zoo earns 359 on
  Swimmer-v3 after 1,000,000 steps, five times as many.
- **Few seeds**, hence no interval, and nothing is told apart.
- **Settings are those for dense reward.** {{discounts}}
- **Policies differ.** The search has a linear policy whose observations are normalised, learners
  the nets of their authors, without normalisation; `dss_gp_ucb_one_net` searches a net of two
  layers of ten.
{TIMES_CAVEAT}""",
)
"""The swimmer, which stands still for nothing."""

DIALS_BY_TASK: Final[Mapping[str, Dial]] = MappingProxyType(
    {each.task: each for each in (TEAM_DIAL, DRONE_DIAL, ROBOT_DIAL)}
)
"""By task."""


def dial_of(task: str, *, long: bool = False) -> Dial:
    """Return the dial of a task, or the long one of the first task.

    Raises:
        RequestError: there is none.
    """
    if task not in DIALS_BY_TASK:
        raise unknown_name("task with a dial", task, DIALS_BY_TASK)
    if long and task != LONG_DIAL.task:
        raise RequestError(f"--long: only {LONG_DIAL.task} has a long dial, not {task}")
    return LONG_DIAL if long else DIALS_BY_TASK[task]
