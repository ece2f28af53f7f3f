"""Measurements that reports show beside the history: made once, when a run has ended, and stored.

`rolecast search`, `resume` and `report` make them; a search from Python takes no time for them.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, Self

import numpy as np

from rolecast.core.files import is_file, parsed, read_json, write_sealed_json
from rolecast.core.rounding import mean_and_error, with_error
from rolecast.core.types import Float, Seeds
from rolecast.envs.causal.problem import HasCausalProblem
from rolecast.envs.rewards.task import under_patience, unwrapped
from rolecast.envs.scripted import SCRIPTED, rollout_scripted
from rolecast.envs.spec import BatchedTask, CallsEnvironment
from rolecast.envs.trust import is_unnamed, make_stored_task
from rolecast.platform.rollout.held_out import DEVELOPMENT_SET, HeldOut, held_out_seeds
from rolecast.platform.rollout.rollout import rollout
from rolecast.platform.search.planning.config import recorded_patience
from rolecast.platform.search.records.ablation import ABLATED_WEIGHTS, ablated_returns
from rolecast.platform.search.records.batch_checks import made_again_by_resume
from rolecast.platform.search.records.causal import expected_rewards, found_intervention
from rolecast.platform.search.records.history import Batch
from rolecast.platform.search.records.roles import RoleMeasures, measured_roles
from rolecast.platform.search.records.run_folder import RunFolder
from rolecast.platform.search.records.run_terms import RunTerms, lowest_returns
from rolecast.policies.protocol import Policy
from rolecast.policies.registry import make_policy

MEASUREMENTS_SCHEMA: Final = 3
"""Version of the file; one of another version is measured anew."""

PAST_INCUMBENTS: Final = 12
"""Incumbents along the run that are evaluated on held-out episodes."""

INCUMBENT_EPISODES: Final = 256
"""Held-out episodes of each."""

YARDSTICK_EPISODES: Final = 1000
"""Held-out episodes of each scripted policy."""

ABLATED_EPISODES: Final = 1000
"""Held-out episodes on which the last incumbent is ablated."""


SLOW_EPISODES: Final = 20
"""Held-out episodes of a task that is not compiled, where its run does not say."""

SLOW_POLICIES: Final = ("random", "still")
"""Scripted policies that play a task that is not compiled."""

STILL_NAME: Final = "does not move"
"""Name of the second in pictures and tables."""


@dataclass(frozen=True, kw_only=True)
class Yardstick:
    """A named return to compare with."""

    name: str
    """Name in pictures and tables."""

    mean: float
    """Mean return of an episode."""

    stderr: float | None
    """Standard error of the mean; None where there is none."""

    @property
    def text(self) -> str:
        """Mean and error in words."""
        return with_error(self.mean, self.stderr, sign="+-")


def played_yardstick(policy: str, returns: Float) -> Yardstick:
    """Return the yardstick that the returns [E] of a scripted policy are."""
    mean, stderr = mean_and_error(returns)
    name = STILL_NAME if policy == "still" else f"scripted {policy}"
    return Yardstick(name=name, mean=mean, stderr=stderr)


def scripted_yardsticks(
    task: BatchedTask, seeds: Seeds, policies: Sequence[str] = tuple(SCRIPTED)
) -> tuple[Yardstick, ...]:
    """Let the scripted policies that can play a task play episodes of these seeds [E]."""
    return tuple(
        played_yardstick(policy, rollout_scripted(task, policy, seeds)[0])
        for policy in policies
        if SCRIPTED[policy].plays(unwrapped(task))
    )


def fast_yardsticks(task: BatchedTask) -> tuple[Yardstick, ...]:
    """Let all scripted policies play a compiled task, on the development set."""
    return scripted_yardsticks(task, _development_seeds(YARDSTICK_EPISODES))


def slow_yardsticks(task: BatchedTask, episodes: int) -> tuple[Yardstick, ...]:
    """Let random actions, and none at all where it can, play a task that is not compiled.

    Args:
        task: to play.
        episodes: held-out episodes of each, of the development set.
    Returns:
        None where an episode failed that a patience forgave.
    """
    before = _failures(task)
    found = scripted_yardsticks(task, _development_seeds(episodes), SLOW_POLICIES)
    return found if _failures(task) == before else ()


def _development_seeds(episodes: int) -> Seeds:
    return held_out_seeds(DEVELOPMENT_SET, HeldOut.seed, episodes)


@dataclass(frozen=True, kw_only=True)
class RunMeasurements:
    """Held-out returns of a run's incumbents, of its ablations and of scripted policies.

    Of a task whose episodes are not compiled, only the last incumbent, random actions and none at
    all play, as many episodes as the search's own held-out test: more would take minutes.
    """

    batches: int
    """Batches of the run when it was measured."""

    yardsticks: tuple[Yardstick, ...] = ()
    """Scripted policies."""

    incumbent_batches: tuple[int, ...] = ()
    """[M], indices of the batches whose incumbents were evaluated."""

    returns: tuple[float, ...] = ()
    """[M], mean held-out return of each."""

    stderrs: tuple[float, ...] = ()
    """[M], standard error of each."""

    expected_rewards: tuple[float, ...] = ()
    """[N], expected reward of each evaluation of a causal graph. A known simulator draws its noise
    for it; else it is the reward that was observed."""

    rewards_observed: bool = False
    """Whether expected rewards are those that were observed."""

    intervention: Mapping[str, float] | None = None
    """What the last incumbent sets in the task's causal graph, in units of the graph; None of
    other tasks."""

    last_returns: tuple[float, ...] = ()
    """[E], held-out returns of single episodes of the last incumbent."""

    ablations: Mapping[str, Mapping[str, Mapping[str, float | None]]] = field(default_factory=dict)
    """Ablations of the last incumbent, as `Ablation.to_json`, by the weights that nets are put
    to: "centre" and "zero"."""

    roles: RoleMeasures | None = None
    """What roles do in the last incumbent; None of a policy without."""

    @classmethod
    def read(cls, folder: RunFolder, *, after: int | None = None) -> Self | None:
        """Return what is stored in a run's folder; None if nothing of this version is.

        Args:
            folder: of the run.
            after: batches of the run; yardsticks alone hold of a longer one than was measured.
        """
        if not is_file(folder.measurements_file):
            return None
        with made_again_by_resume(folder.measurements_file):
            found = cls._of_json(read_json(folder.measurements_file), folder.measurements_file)
        if found is None or after in (None, found.batches):
            return found
        return cls(batches=found.batches, yardsticks=found.yardsticks)

    @classmethod
    def _of_json(cls, values: Mapping[str, Any], path: Path) -> Self | None:
        unsaid = values.get("expected_rewards") and "rewards_observed" not in values
        if values.get("schema") != MEASUREMENTS_SCHEMA or unsaid:
            return None
        columns = ("incumbent_batches", "returns", "stderrs", "last_returns")
        roles = values.get("roles")
        return parsed(
            path,
            lambda: cls(
                batches=values["batches"],
                yardsticks=tuple(Yardstick(**each) for each in values["yardsticks"]),
                ablations=values["ablations"],
                expected_rewards=tuple(values.get("expected_rewards", ())),
                rewards_observed=values.get("rewards_observed", False),
                intervention=values.get("intervention"),
                roles=None if roles is None else RoleMeasures.from_json(roles),
                **{name: tuple(values[name]) for name in columns},
            ),
        )


def measure(
    task: BatchedTask, policy: Policy, batches: Sequence[Batch], *, tests: int
) -> RunMeasurements:
    """Evaluate incumbents of evenly spaced batches, and the scripted policies of the task.

    The last incumbent is also evaluated without each of its nets.

    Args:
        task: made from it.
        policy: of the run.
        batches: of the run.
        tests: held-out episodes where a task is not compiled.
    """
    rewards, observed = expected_rewards(task, policy, batches)
    if not hasattr(task, "lanes") and batches and not rewards:
        return _measure_slow(task, policy, batches, tests)
    if not hasattr(task, "lanes") or not batches:
        return RunMeasurements(
            batches=len(batches),
            expected_rewards=rewards,
            rewards_observed=observed,
            intervention=found_intervention(task, policy, batches),
        )
    chosen = np.unique(np.linspace(0, len(batches) - 1, PAST_INCUMBENTS).round().astype(int))
    weights = np.stack(
        [policy.space.weights(batches[i].incumbent, batches[i].statistics) for i in chosen]
    )
    seeds = _development_seeds(INCUMBENT_EPISODES)
    returns = rollout(task, policy, weights, seeds).returns
    stderrs = returns.std(axis=1, ddof=1) / np.sqrt(INCUMBENT_EPISODES)
    ablated_seeds = _development_seeds(ABLATED_EPISODES)
    ablations = {
        at: ablated_returns(task, policy, weights[-1], ablated_seeds, at=at).to_json()
        for at in ABLATED_WEIGHTS
    }
    return RunMeasurements(
        batches=len(batches),
        yardsticks=fast_yardsticks(task),
        incumbent_batches=tuple(chosen.tolist()),
        returns=tuple(returns.mean(axis=1).tolist()),
        stderrs=tuple(stderrs.tolist()),
        last_returns=tuple(returns[-1].tolist()),
        ablations=ablations,
        roles=measured_roles(task, policy, weights[-1]),
        expected_rewards=rewards,
        rewards_observed=observed,
    )


def _measure_slow(
    task: BatchedTask, policy: Policy, batches: Sequence[Batch], episodes: int
) -> RunMeasurements:
    """Let the last incumbent and the scripted policies play the same episodes."""
    seeds = _development_seeds(episodes)
    last = policy.space.weights(batches[-1].incumbent, batches[-1].statistics)
    terms = RunTerms(lowest=lowest_returns(batches))
    returns = terms.settled(rollout(task, policy, last[None], seeds)).returns[0]
    return RunMeasurements(
        batches=len(batches),
        yardsticks=slow_yardsticks(task, episodes),
        last_returns=tuple(returns.tolist()),
        roles=measured_roles(task, policy, last),
    )


def _failures(task: BatchedTask) -> int:
    """Return how many episodes of a user's environment failed, and were forgiven."""
    environment = unwrapped(task)
    patience = environment.patience if isinstance(environment, CallsEnvironment) else None
    return 0 if patience is None else len(patience.failures)


def write_measurements(folder: RunFolder, measured: RunMeasurements) -> None:
    """Store measurements in a run's folder."""
    write_sealed_json(folder.measurements_file, {"schema": MEASUREMENTS_SCHEMA, **asdict(measured)})


def complete_run(path: str | Path, *, trust: bool = False) -> None:
    """Measure a run that has not been measured since its last batch.

    A run of a Python callable that no id names is left as it is.

    Args:
        path: folder of the run.
        trust: make its task, though the id may run any code (`envs.trust`).
    Raises:
        RequestError: no run is there, it is damaged, or its task is not trusted or cannot be made
            any more.
    """
    folder = RunFolder.open(path)
    batches, record = folder.read_batches(candidates=False), folder.read_run()
    kept = RunMeasurements.read(folder)
    whole = kept is not None and kept.batches == len(batches)
    task_id, search = str(record["task"]["id"]), record["search"]
    if whole or is_unnamed(task_id):
        return
    with closing(make_stored_task(task_id, trust=trust)) as task:
        policy = make_policy(record["policy"]["name"], task, **record["policy"]["options"])
        if isinstance(unwrapped(task), HasCausalProblem):  # its expected rewards are of candidates
            batches = folder.read_batches()
        tests = search.get("test_episodes") or SLOW_EPISODES
        with under_patience(task, recorded_patience(search)):
            write_measurements(folder, measure(task, policy, batches, tests=tests))
