"""The few ways in which a driver deals with its actors' answers.

By Ray; `rolecast bench faults` puts a simulated cluster in its place, whose answers come late or
never.
"""

import re
import time
from collections.abc import Sequence
from typing import Any, Final, Protocol

import ray

ACTOR_DEATHS: Final = (ray.exceptions.RayActorError, ray.exceptions.OutOfMemoryError)
"""Errors that mean that an actor's process is gone; the second where its node lacked memory."""


class Messages(Protocol):
    """Answers of actors, and the clock by which they are late."""

    def clock(self) -> float:
        """Return seconds that only grow."""

    def wait(self, references: Sequence[Any], *, count: int, timeout: float) -> list[Any]:
        """Return those of these references with answers, at most `count`, once so many have any.

        Args:
            references: of calls.
            count: answers to wait for.
            timeout: seconds after which as many are returned as there are.
        """

    def answer(self, reference: Any) -> Any:
        """Return what an actor answers, or raise what it raised.

        Raises:
            RayActorError: its process is gone for good; or another of `ACTOR_DEATHS`.
            ObjectLostError: the answer is gone with its node.
        """

    def end(self, handle: Any) -> None:
        """End an actor."""


class RayMessages:
    """Messages by Ray."""

    def clock(self) -> float:
        """Return the clock of this process."""
        return time.monotonic()

    def wait(self, references: Sequence[Any], *, count: int, timeout: float) -> list[Any]:
        """Wait for answers."""
        done, _ = ray.wait(list(references), num_returns=count, timeout=timeout)
        return list(done)

    def answer(self, reference: Any) -> Any:
        """Return an answer."""
        return answer(reference)

    def end(self, handle: Any) -> None:
        """End an actor."""
        ray.kill(handle)


def answer(reference: Any) -> Any:
    """Return what an actor answers, or raise what it raised as if it had happened here."""
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None


def cause_of_death(error: Exception) -> str:
    """Return the last line of what an actor failed with, and the machine where Ray names it.

    An error of ours goes without its class, which Ray puts before it.
    """
    text = str(error)
    last = re.sub(r"^rolecast\.[\w.]+: ", "", text.strip().splitlines()[-1].strip())
    machine = re.search(r"\bip[=:] ?([\w.:]+)", text)
    return f"{last} (on {machine[1]})" if machine else last


RAY_MESSAGES: Final = RayMessages()
"""Messages of the cluster that this process has joined."""
