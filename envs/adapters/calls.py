"""Calls of the environment of a user: watched, and what goes wrong told with its episode."""

from collections.abc import Callable, Collection, Iterable
from typing import Any

import numpy as np

from rolecast.core.errors import RunError, first_line
from rolecast.core.patience import CallEnded, Patience, StepTimeoutError
from rolecast.envs.adapters.episode import Moment


def failed_moment(agents: Iterable[str]) -> Moment:
    """Return what a failed environment is taken to have shown: an episode that ended, unpaid."""
    return Moment(
        observations={},
        rewards={},
        live=frozenset(),
        terminated=frozenset(agents),
        survival_bonus=0.0,
    )


def guarded_call(
    call: Callable[[Any], Moment],
    argument: object,
    where: Callable[[], str],
    seed: int,
    patience: Patience | None,
    *,
    task_id: str,
    counted: Collection[str],
) -> Moment:
    """Call an environment of a user.

    Args:
        call: called with `argument`.
        argument: of the call.
        where: returns what the call is, as in "step 3 of the episode of seed 7".
        seed: of the episode.
        patience: with the call; None: it may last for ever.
        task_id: id of the task.
        counted: agents whose reward counts.
    Raises:
        RunError: it lasted too long, raised, or where that is forgiven paid one of them NaN or
            infinity; names the episode.
    """
    try:
        if patience is None:
            return call(argument)
        moment = patience.call(call, argument, where, seed)
    except CallEnded as error:
        limit = 0.0 if patience is None else patience.timeout_s
        raise StepTimeoutError(
            f"task {task_id!r} has not answered for {limit:g} s in {where()}; "
            "expected an answer; a search takes --step-timeout and --failed-episodes=lowest",
            seed,
        ) from error
    except (Exception, SystemExit) as error:  # sys.exit would end the search as if it were done
        raise RunError(
            f"task {task_id!r} raised {type(error).__name__} ({first_line(error)}) "
            f"in {where()}; expected none"
        ) from error
    paid = [reward for agent, reward in moment.rewards.items() if agent in counted]
    bad = [reward for reward in paid if not np.isfinite(reward)]
    if patience.forgives and bad:  # else the return is refused, with its candidate
        raise RunError(f"task {task_id!r} paid {bad[0]} in {where()}; expected finite rewards")
    return moment


def require_agents(
    moment: Moment,
    possible: Collection[str],
    where: Callable[[], str],
    *,
    first: bool,
    task_id: str,
) -> None:
    """Refuse an episode that begins without agents, and agents that are not possible.

    Args:
        moment: shown by an environment that has not failed.
        possible: names of all agents.
        where: as in `guarded_call`.
        first: whether the episode begins.
        task_id: id of the task.
    Raises:
        RunError: names the episode.
    """
    if first and not moment.live:
        raise RunError(
            f"task {task_id!r} has no agents after {where()}; "
            "expected `agents` to be set anew, to a copy of possible_agents"
        )
    strangers = moment.live.difference(possible)
    if strangers:
        raise RunError(
            f"task {task_id!r} has an agent {min(strangers, key=str)!r} in {where()}; "
            "expected agents of its possible_agents alone"
        )
