"""Lives of a driver under a schedule, how they ended, and what it means that they failed."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rolecast.benchmarks.faults.disk import SimulatedDisk
from rolecast.benchmarks.faults.schedule import Fault, FaultKind
from rolecast.benchmarks.faults.world import Hang, Killed, World
from rolecast.core.errors import RequestError, RunError


class InvariantError(AssertionError):
    """Something that must always hold does not."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a schedule ended."""

    seed: int
    faults: Sequence[Fault]
    struck: Sequence[Fault]
    """Those that struck before all had ended."""

    lives: int
    """Drivers that it took."""

    simulated_s: float
    """Time without jumps of the clock."""

    failure: str | None
    """What does not hold; None if all does."""

    passed: Sequence[str]
    """The points that it passed."""


class Subject(ABC):
    """What is disturbed: a disk, and the lives of a driver on it."""

    def __init__(self, world: World, path: Path) -> None:
        self.lives = 0
        self.struck: list[Fault] = []
        self.disk = SimulatedDisk(world)
        self._world, self._path = world, path

    def run(self) -> None:
        """Run one driver after the other until there is a result.

        Raises:
            InvariantError: something that must always hold does not.
        """
        ended = False
        while not ended:
            self._world.begin_life()
            self.disk.release(Path("/"))
            self.lives += 1
            try:
                ended = self.life()
            except Killed:
                pass
            except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - checked at once
                require_reason(error, self._world.struck, self._path)
            self.struck += self._world.struck
        self._world.calm()
        self.require_result()

    @abstractmethod
    def life(self) -> bool:
        """Run one driver, which begins anew or resumes; return whether there is a result."""

    @abstractmethod
    def require_result(self) -> None:
        """Refuse a result that is not that of the undisturbed one, and what is left over."""


def outcome_of(seed: int, faults: Sequence[Fault], world: World, subject: Subject) -> Outcome:
    """Run a schedule; return how it ended."""
    failure = None
    try:
        subject.run()
    except InvariantError as error:
        failure = str(error)
    except Hang:
        failure = f"no end after {world.points} points"
    except Exception as error:  # noqa: BLE001 - any is a failure of the schedule, which names it
        failure = f"{type(error).__name__}: {error}"
    return Outcome(
        seed=seed,
        faults=faults,
        struck=subject.struck,
        lives=subject.lives,
        simulated_s=world.simulated_s,
        failure=failure,
        passed=world.passed,
    )


def require_sentence(text: str) -> None:
    """Refuse a text that is not one line."""
    if not text or "\n" in text or "Traceback" in text:
        raise InvariantError(f"no sentence: {text!r}")


def require_reason(error: BaseException, struck: Sequence[Fault], path: Path) -> None:
    """Refuse an end of a driver for which no fault is a reason, or that is no sentence.

    Args:
        error: that ended it.
        struck: faults of its life.
        path: of its folder, which a full disk has to name.
    """
    kinds = {fault.kind for fault in struck}
    require_sentence(str(error) or "interrupted")
    if isinstance(error, KeyboardInterrupt) and FaultKind.TERM in kinds:
        return
    full = isinstance(error, RunError | RequestError) and FaultKind.FULL in kinds
    if full and str(path) in str(error):
        return
    raise InvariantError(f"{type(error).__name__}: {error}") from error
