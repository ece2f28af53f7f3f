"""Turns a request into all that a search needs: task, policy, optimiser, budget, sizes."""

import logging
import platform
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.metadata import version
from typing import Any, Final

from rolecast import __version__
from rolecast.core.errors import RequestError
from rolecast.core.memory import EPISODE_BYTES, require_room
from rolecast.core.seeds import Purpose, derived_seed
from rolecast.core.types import Float
from rolecast.envs.episode_length import typical_steps
from rolecast.envs.opposition import opposition_remark
from rolecast.envs.registry import make_task
from rolecast.envs.rewards.task import under_patience
from rolecast.envs.spec import BatchedTask
from rolecast.platform.optimizers.protocol import OptimizerConfig
from rolecast.platform.optimizers.registry import checked_optimizer, optimizer_config
from rolecast.platform.search.planning import policy_hints
from rolecast.platform.search.planning.budget import Budget, Spent
from rolecast.platform.search.planning.config import CALLABLE_PREFIX, SearchConfig
from rolecast.platform.search.planning.found_symmetries import (
    symmetry_remark,
    with_found_symmetries,
)
from rolecast.policies.protocol import Policy, RemarksOnTask
from rolecast.policies.registry import make_policy

TaskSource = str | Callable[..., Any]
"""A task id, or what `make_task` takes in its place."""

PLAN_LOGGER: Final = logging.getLogger("rolecast.search")
"""Says what lasts before a search begins; by default on stderr."""

RECORDED_PACKAGES: Final = ("ray", "torch", "numpy", "scipy", "numba", "mujoco")
"""Packages whose versions a run records."""

TEST_EPISODES_COMPILED: Final = 1000
TEST_EPISODES: Final = 20

CANDIDATE_BYTES: Final = 32
"""Memory of one parameter of a candidate of a batch: itself, and copies."""

ASSUMED_EPISODES: Final = 8
"""E by which a budget in evaluations is first turned into episodes, to be proposed for."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """One search, ready to begin."""

    config: SearchConfig
    """The request, with every proposal in it."""

    source: TaskSource
    """What the task is made from, also by other processes."""

    task: BatchedTask
    """The task."""

    policy: Policy
    """The policy."""

    optimizer: OptimizerConfig
    """Settings of the optimiser, with what is known of the policy."""

    budget: Budget
    """What may be spent."""

    episodes: int
    """E, at most."""

    batch_size: int
    """q."""

    test_episodes: int
    """Episodes of the held-out test."""

    design: Float | None
    """Initial design [T0, D], evaluated before the optimiser is built; None where it has none."""

    @property
    def seed(self) -> int:
        """Root of all randomness."""
        return self.config.seed

    @property
    def dimension(self) -> int:
        """D."""
        return self.policy.space.dimension

    @property
    def batches(self) -> int:
        """Batches of the search where each evaluation costs the most it may."""
        return max(1, -(-self.budget.search_fits(Spent()) // self.batch_size))

    @cached_property
    def observed_metrics(self) -> tuple[str, ...]:
        """Metrics of the task that the optimiser is told."""
        return policy_hints.observed_metrics(self.optimizer)

    @property
    def compiled(self) -> bool:
        """Whether the task's compiled face is used: it has one, and no metric is asked of it."""
        return hasattr(self.task, "lanes") and not self.observed_metrics


def make_plan(
    config: SearchConfig,
    task: TaskSource | None = None,
    *,
    play: bool = True,
    begun: bool = False,
) -> Plan:
    """Make all parts of a search.

    Args:
        config: the request.
        task: the callable of a task that has no id.
        play: whether symmetries are looked for where that is asked for; else the plan has none.
        begun: whether the config is that of a run: what its budget suggested is in it, and another
            budget suggests nothing.
    Raises:
        RequestError: an unknown name, a wrong setting, or a budget below one evaluation.
    """
    source = task if task is not None else config.task
    if isinstance(source, str) and source.startswith(CALLABLE_PREFIX):
        raise RequestError(
            "the task of this run was a Python callable, "
            f"{source.removeprefix(CALLABLE_PREFIX)!r}; "
            "expected it again, as task= of rolecast.resume"
        )
    optimizer = optimizer_config(config.optimizer, **config.optimizer_settings)
    made = make_task(source, **config.task_options)
    try:
        return _plan_for(made, source, optimizer, config, play=play, begun=begun)
    except BaseException:
        made.close()
        raise


def _plan_for(
    made: BatchedTask,
    source: TaskSource,
    optimizer: OptimizerConfig,
    config: SearchConfig,
    *,
    play: bool,
    begun: bool,
) -> Plan:
    """Return the plan of a search on a task; arguments as in `make_plan`."""
    patience = config.patience(PLAN_LOGGER.warning)
    with under_patience(made, patience):
        policy_hints.require_own_reward(optimizer, made)
        steps = typical_steps(made)
        whole = config.env_steps or _budget_episodes(config, steps) * steps
        config = with_found_symmetries(config, made, whole, play=play)
    options = {"seed": derived_seed(config.seed, Purpose.POLICY), **config.policy_options}
    policy = make_policy(config.policy, made, **options)
    if config.env_steps is not None and not begun:
        hints = policy_hints.budget_hints(optimizer, policy, config.env_steps // steps)
        config = replace(config, optimizer_settings={**config.optimizer_settings, **hints})
        optimizer = optimizer_config(config.optimizer, **config.optimizer_settings)
    policy_hints.require_fitting_graph(optimizer, made, policy)
    policy_hints.require_known_nodes(config, optimizer, made)
    informed = policy_hints.informed_config(policy_hints.with_task_graph(optimizer, made), policy)
    episodes, batch_size = _sizes(config, informed, steps)
    if not begun:
        fits = _budget(config, episodes, steps).search_fits(Spent())
        hints = policy_hints.evaluation_hints(informed, fits)
        config = replace(config, optimizer_settings={**config.optimizer_settings, **hints})
        informed = policy_hints.replaced(informed, hints)
    policy_hints.require_single_episodes(informed, episodes)
    informed = policy_hints.with_reward_noise(informed, made, episodes)
    fewer = config.fewer_episodes
    if fewer is None:
        fewer = config.episodes is None and config.evaluations is None
    tests = TEST_EPISODES_COMPILED if hasattr(made, "lanes") else TEST_EPISODES
    test_episodes = config.test_episodes or tests
    affordable = min(batch_size, config.evaluations or (config.env_steps or 0) // steps + 1)
    _require_memory(affordable, episodes, test_episodes, policy.space.dimension)
    design_seed = derived_seed(config.seed, Purpose.OPTIMIZER)
    design = policy_hints.initial_design(informed, policy, seed=design_seed, begun=begun)
    if design is None:  # refused here, a dimension is one sentence and not a process that is lost
        built = informed.build(dimension=policy.space.dimension, seed=config.seed)
        checked_optimizer(config.optimizer, built)
    return Plan(
        config=replace(
            config,
            episodes=episodes,
            fewer_episodes=fewer,
            batch_size=batch_size,
            test_episodes=test_episodes,
        ),
        source=source,
        task=made,
        policy=policy,
        optimizer=informed,
        budget=_budget(config, episodes, steps),
        episodes=episodes,
        batch_size=batch_size,
        test_episodes=test_episodes,
        design=design,
    )


def _require_memory(q: int, episodes: int, test_episodes: int, dimension: int) -> None:
    """Refuse a batch, or a held-out test, that does not fit in memory."""
    needed = q * (EPISODE_BYTES * episodes + CANDIDATE_BYTES * dimension)
    larger = ("batch_size", q) if q > episodes else ("episodes", episodes)
    require_room(f"SearchConfig.{larger[0]}", larger[1], needed, "fewer")
    needed = EPISODE_BYTES * test_episodes
    require_room("SearchConfig.test_episodes", test_episodes, needed, "fewer")


def run_record(plan: Plan) -> dict[str, Any]:
    """Return what run.json says: settings, what came of them, and versions."""
    spec, policy = plan.task.spec, plan.policy
    return {
        "search": plan.config.to_json(),
        "task": {"id": spec.id, "agents": spec.agents, "horizon": spec.horizon},
        "policy": {
            "name": policy.name,
            "options": dict(policy.options),
            "parameters": plan.dimension,
        },
        "seed": plan.seed,
        "versions": versions(),
    }


def versions() -> dict[str, str]:
    """Return the versions on which a result may depend."""
    return {
        "rolecast": __version__,
        "python": platform.python_version(),
        **{name: _version(name) for name in RECORDED_PACKAGES},
    }


@cache
def _version(package: str) -> str:
    """Return the version of a package, which takes milliseconds to look up."""
    return version(package)


def _budget(config: SearchConfig, episodes: int, steps: int) -> Budget:
    return Budget(
        unit="evaluations" if config.env_steps is None else "env_steps",
        total=config.env_steps or config.evaluations or 0,
        episodes=episodes,
        episode_steps=steps,
        confirm_share=config.confirm_share,
        random_play_steps=config.random_play_steps,
    )


def _sizes(config: SearchConfig, optimizer: OptimizerConfig, steps: int) -> tuple[int, int]:
    """Return E and q: as asked for, else as the optimiser proposes for a budget of such episodes.

    Args:
        config: the request.
        optimizer: proposes.
        steps: of an episode.
    """
    budget_episodes = _budget_episodes(config, steps)
    proposal = optimizer.proposal(budget_episodes)
    episodes = config.episodes or proposal.episodes
    if config.batch_size is not None:
        return episodes, config.batch_size
    if config.evaluations is not None and config.episodes is None:
        # These evaluations are worth other episodes than were assumed: the batch of so many.
        worth = optimizer.proposal(config.evaluations * episodes)
        return episodes, max(1, worth.batch_size * worth.episodes // episodes)
    if episodes != proposal.episodes:
        # As many batches as the optimiser proposes, of fewer or more candidates.
        evaluations = max(1, budget_episodes // episodes)
        proposal = optimizer.proposal(evaluations * proposal.episodes)
    return episodes, proposal.batch_size


def _budget_episodes(config: SearchConfig, steps: int) -> int:
    """Return the episodes that a budget is worth, of so many steps each."""
    if config.env_steps is not None:
        return max(1, config.env_steps // steps)
    return (config.evaluations or 1) * (config.episodes or ASSUMED_EPISODES)


def described(plan: Plan) -> str:
    """Return one line that says what is searched."""
    config, budget = plan.config, plan.budget
    unit = budget.unit.replace("_", " ")
    return (
        f"{plan.task.spec.id}: {config.policy} of {plan.dimension} parameters by "
        f"{config.optimizer}, {budget.total:,} {unit}, {plan.batch_size} candidates x "
        f"{plan.episodes} episodes a batch, seed {config.seed}"
    )


def remarks(plan: Plan) -> list[str]:
    """Return what a user should know: of policy, opponents, symmetries, batches, nodes.

    Raises:
        RunError: the task failed in the episodes that are played to find them.
    """
    policy = policy_hints.interventions_remark(plan.task, plan.policy)
    if policy is None and isinstance(plan.policy, RemarksOnTask):
        policy = plan.policy.remark
    found = symmetry_remark(plan.config)
    few = _batches_remark(plan)
    exact = policy_hints.measured_noise_remark(plan.optimizer, plan.episodes)
    return [said for said in (policy, opposition_remark(plan.task), found, few, exact) if said]


def _batches_remark(plan: Plan) -> str | None:
    """Return that nothing is learned from one batch, where the budget has no second."""
    fits = plan.budget.search_fits(Spent())
    if fits > plan.batch_size or fits < 2:
        return None
    return (
        f"the budget has one batch of {fits} candidates, and an optimiser learns from one batch to "
        "the next; a smaller --batch-size finds more"
    )
