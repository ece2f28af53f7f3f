"""`rolecast.ablate`: what each net of a policy is worth, on common held-out episodes.

A net is taken out by putting its weights back: to their centre, where the search began, or to 0,
where an edge net has no edge and a message net is silent.
"""

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from rolecast.core.errors import ConfigError, RequestError
from rolecast.core.rounding import mean_and_error
from rolecast.core.types import Float, Seeds
from rolecast.envs.scripted import SCRIPTED
from rolecast.envs.spec import BatchedTask
from rolecast.envs.trust import make_wanted_task
from rolecast.platform.rollout.artefact_folder import artefact_folder, require_fit
from rolecast.platform.rollout.held_out import (
    ABLATION_EPISODES,
    DEVELOPMENT_SET,
    HeldOut,
    held_out_seeds,
)
from rolecast.platform.rollout.rollout import rollout
from rolecast.platform.search.records.run_terms import RunTerms
from rolecast.policies.artefact import LoadedPolicy, load_policy
from rolecast.policies.protocol import Policy
from rolecast.policies.space import ParameterSpace

ABLATED_WEIGHTS: Final[Mapping[str, Callable[[ParameterSpace], Float]]] = MappingProxyType(
    {
        "centre": lambda space: space.centre,
        "zero": lambda space: np.zeros(space.size),
    }
)
"""Weights [D] of a net that is taken out, by name."""


@dataclass(frozen=True, kw_only=True)
class AblatedReturn:
    """Return of a policy without one of its nets."""

    episode_return_mean: float
    """Mean team return of an episode as earned."""

    episode_return_stderr: float | None
    """Its standard error; None for a single episode."""

    difference_mean: float
    """Mean over episodes of the whole policy's return less this one: what the net is worth."""

    difference_stderr: float | None
    """Standard error of the paired difference; None for a single episode."""


@dataclass(frozen=True, kw_only=True)
class Ablation:
    """Returns of a policy, whole and without each of its nets, on the same episodes."""

    episode_return_mean: float
    """Mean team return of an episode of the whole policy."""

    episode_return_stderr: float | None
    """Its standard error; None for a single episode."""

    nets: Mapping[str, AblatedReturn]
    """Net name, in the order of the parameter vector, to the return without it."""

    episodes: int
    """E."""

    at: str
    """Weights of a net that is taken out, one of ABLATED_WEIGHTS."""

    def to_json(self) -> dict[str, dict[str, float | None]]:
        """Return "whole" and each net as objects of numbers."""
        whole = {
            "episode_return_mean": self.episode_return_mean,
            "episode_return_stderr": self.episode_return_stderr,
        }
        return {"whole": whole} | {name: asdict(each) for name, each in self.nets.items()}


def ablate(
    run_or_policy: str | Path | LoadedPolicy,
    task: str | Callable[..., Any] | None = None,
    *,
    episodes: int = ABLATION_EPISODES,
    seed: int = HeldOut.seed,
    at: str = "centre",
    trust: bool = False,
) -> Ablation:
    """Evaluate a trained policy whole, and with each net put back, on the same held-out episodes.

    Args:
        run_or_policy: folder of a finished run, folder of an artefact, or what `load_policy` gave.
        task: task id or callable, as in `make_task`; None is the task that the policy was
            searched for.
        episodes: E.
        seed: which set of held-out episodes, as in `evaluate`.
        at: "centre", a net's weights where the search began, or "zero", all its weights 0.
        trust: as in `evaluate`.
    Raises:
        RequestError: no such run or policy, a run that goes on, a scripted policy, one that does
            not fit the task, or a task that is not trusted.
        RunError: the task failed.
    """
    if at not in ABLATED_WEIGHTS:
        raise ConfigError("ablate.at", at, f"one of {', '.join(map(repr, ABLATED_WEIGHTS))}")
    held_out = HeldOut(episodes=episodes, seed=seed)
    terms = RunTerms()
    if isinstance(run_or_policy, LoadedPolicy):
        trained = run_or_policy
    elif str(run_or_policy) in SCRIPTED:
        raise RequestError(
            f"scripted policy {str(run_or_policy)!r} has no nets; expected the folder of a run"
        )
    else:
        trained = load_policy(artefact_folder(Path(run_or_policy)))
        terms = RunTerms.read(run_or_policy)
    made = make_wanted_task(task, trained.task.id, trust=trust)
    with closing(made):
        require_fit(trained, made)
        seeds = held_out_seeds(DEVELOPMENT_SET, held_out.seed, held_out.episodes)
        with terms.apply(made):
            return ablated_returns(made, trained.policy, trained.weights, seeds, at=at, terms=terms)


def ablated_returns(
    task: BatchedTask,
    policy: Policy,
    weights: Float,
    seeds: Seeds,
    *,
    at: str = "centre",
    terms: RunTerms | None = None,
) -> Ablation:
    """Run a policy whole, and with each net put back.

    Args:
        task: from `make_task`.
        policy: for a task of these sizes.
        weights: [D], the policy's own weights.
        seeds: [E], episodes of every candidate.
        at: one of ABLATED_WEIGHTS.
        terms: of the run whose policy it is; None where no episode can fail and be forgiven.
    """
    space = policy.space
    candidates = np.repeat(weights[None], 1 + len(space.nets), axis=0)
    for candidate, part in zip(candidates[1:], space.nets.values(), strict=True):
        candidate[part] = ABLATED_WEIGHTS[at](space)[part]
    returns = (terms or RunTerms()).settled(rollout(task, policy, candidates, seeds)).returns
    nets = {}
    for name, ablated in zip(space.nets, returns[1:], strict=True):
        mean, stderr = mean_and_error(ablated)
        difference, difference_error = mean_and_error(returns[0] - ablated)
        nets[name] = AblatedReturn(
            episode_return_mean=mean,
            episode_return_stderr=stderr,
            difference_mean=difference,
            difference_stderr=difference_error,
        )
    mean, stderr = mean_and_error(returns[0])
    return Ablation(
        episode_return_mean=mean,
        episode_return_stderr=stderr,
        nets=nets,
        episodes=len(seeds),
        at=at,
    )
