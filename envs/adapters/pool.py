"""Environments of the parallel episodes of a task, made as they are needed."""

import logging
from collections.abc import Callable
from typing import Final

from rolecast.core.errors import RequestError, first_line
from rolecast.envs.adapters.episode import TeamEnvironment, as_team

TASK_LOGGER: Final = logging.getLogger("rolecast.envs")
"""Says what happens to environments beside their episodes; by default on stderr."""


class EnvironmentPool:
    """One environment object for each parallel episode."""

    def __init__(self, make: Callable[[], object], first: object, task_id: str) -> None:
        """Begin with one environment.

        Args:
            make: returns a new environment.
            first: environment of the first episode.
            task_id: for errors and warnings.

        Raises:
            RequestError: as in `as_team`.
        """
        self._make, self._id = make, task_id
        self._made, self._teams = [first], [as_team(first, task_id)]

    def __getitem__(self, episode: int) -> TeamEnvironment:
        """Return the environment of an episode."""
        return self._teams[episode]

    def grow(self, batch: int) -> None:
        """Make environments until there are B.

        Raises:
            RequestError: one is the environment of another episode, or as in `as_team`.
        """
        while len(self._teams) < batch:
            made = self._new(self._made)
            self._teams.append(as_team(made, self._id))
            self._made.append(made)

    def replace(self, episode: int, *, closes: bool) -> None:
        """Give an episode a new environment; the old one is closed, unless that may hang.

        Raises:
            RequestError: as in `grow`.
        """
        if closes:
            self._close(self._teams[episode])
        made = self._new(self._made[:episode] + self._made[episode + 1 :])
        self._teams[episode], self._made[episode] = as_team(made, self._id), made

    def close(self) -> None:
        """Close all environments.

        One that raises as it closes has no effect on what was computed: a warning says so.
        """
        for team in self._teams:
            self._close(team)

    def _new(self, others: list[object]) -> object:
        """Return a new environment, which no other episode has."""
        made = self._make()
        if any(made is other for other in others):
            raise RequestError(
                f"task {self._id!r} made one environment object twice; "
                "expected a new environment from each call"
            )
        return made

    def _close(self, team: TeamEnvironment) -> None:
        try:
            team.close()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - nothing depends on it any more
            what = f"{type(error).__name__} ({first_line(error)})"
            TASK_LOGGER.warning("task %r raised %s as it was closed", self._id, what)
