"""The two kinds of failure a user can meet, as sentences: a wrong request, and a failed run."""

import difflib
from collections.abc import Collection, Iterable


class RequestError(ValueError):
    """What was asked for is wrong; nothing was run. The command line exits with 2."""


class ConfigError(RequestError):
    """A setting has a value that it cannot have.

    Attributes:
        field: dotted name of the setting.
        value: what was given.
        expected: what would have been right, as words that follow "expected".
    """

    def __init__(self, field: str, value: object, expected: str) -> None:
        super().__init__(field, value, expected)
        self.field, self.value, self.expected = field, value, expected

    def __str__(self) -> str:
        return f"{self.field} is {self.value!r}; expected {self.expected}"


class RunError(RuntimeError):
    """A run failed on its way; what it had computed is kept. The command line exits with 1."""


def stepped_outside(task_id: str, steps: int = 0) -> RequestError:
    """Return the error for a step of a task whose episodes have not begun, or have ended.

    Args:
        task_id: of the task.
        steps: taken in the last episode; 0 where there was none.
    """
    what = "after its last step" if steps else "before its reset"
    return RequestError(f"task {task_id!r} was stepped {what}; expected a reset")


def unknown_name(kind: str, name: str, known: Iterable[str]) -> RequestError:
    """Return the error for a name that does not exist, with the nearest one that does.

    Args:
        kind: what is named, in a word: "task", "policy".
        name: the name that was given.
        known: all names that exist.
    """
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(names) or 'none'}"
    return RequestError(f"{kind} {name!r} does not exist; {hint}")


def require_known(kind: str, names: Iterable[str], known: Collection[str]) -> None:
    """Refuse the first name that does not exist.

    Args:
        kind: what is named, as for `unknown_name`.
        names: that were given.
        known: all names that exist.

    Raises:
        RequestError: names the nearest one that exists.
    """
    for name in names:
        if name not in known:
            raise unknown_name(kind, str(name), known)


def on_one_line(error: BaseException) -> str:
    """Return all that an error says on one line; its kind where it says nothing."""
    return " ".join(str(error).split()) or type(error).__name__


def first_line(error: BaseException) -> str:
    """Return the first line of what an error says, for a sentence that names it."""
    return (str(error).strip().splitlines() or ["no message"])[0]
