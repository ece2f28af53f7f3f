"""`rolecast search -m`: one search for each combination of values in comma lists.

It works on the words of the command line, before they are read as numbers.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any, Final

from rolecast.core.errors import RequestError
from rolecast.core.files import read_json, write_json
from rolecast.platform.cli.guard import answer_alone
from rolecast.platform.cli.output import print_json, print_table, warn

MULTIRUN_FLAGS: Final = ("-m", "--multirun")
"""Words that ask for several searches."""

NEVER_LISTS: Final = ("--out", "--config", "--address", "--log")
"""Options whose commas are their own."""

FLAGS_WITHOUT_VALUE: Final = (
    "--json", "--log-json", "--fewer-episodes", "--no-fewer-episodes", "--asynchronous",
    "--no-asynchronous", "--flush-on-end", "--no-flush-on-end", "--help", "--resume", "--trust",
    "--quiet", "-q", "--verbose", "-v",
)  # fmt: skip
"""Options of a search that no value follows."""

DEFAULT_FOLDER: Final = "runs/multirun"
"""Folder of the searches where --out is not given."""

WORDS_FILE: Final = "multirun.json"
"""File in that folder: name of a search to the words that decide what it finds."""

VALUES_OF_HOW: Final = ("--workers", "--threads", "--address", "--step-timeout", "--log")
FLAGS_OF_HOW: Final = ("--log-json", "--resume", "--trust")
"""Options that say how and where a search runs, and not what it finds; those with a value first."""


@dataclass(frozen=True, kw_only=True)
class Combination:
    """One search of several."""

    words: list[str]
    """Its command line after the program's name, without --out."""

    name: str
    """Values that tell it from the others, as in `seed=0,optimizer=snes`; its folder's name."""

    @property
    def deciding(self) -> list[str]:
        """Words that decide what it finds."""
        found: list[str] = []
        value_follows = False
        for word in self.words:
            option = word.partition("=")[0]
            if not value_follows and option not in (*VALUES_OF_HOW, *FLAGS_OF_HOW):
                found.append(f"{word}#{_digest(word)}" if _names_config(found, word) else word)
            value_follows = not value_follows and word in VALUES_OF_HOW
        return found


def _names_config(before: Sequence[str], word: str) -> bool:
    """Return whether a word names the file of --config, after the words before it."""
    return before[-1:] == ["--config"] or word.startswith("--config=")


def _digest(word: str) -> str:
    """Return letters that tell what a file says from what it said; none where it is missing."""
    file = Path(word.removeprefix("--config="))
    return sha256(file.read_bytes()).hexdigest()[:12] if file.is_file() else ""


def wants_several(words: Sequence[str]) -> bool:
    """Return whether a command line asks for several searches."""
    return (
        words[:1] == ["search"]
        and any(word in MULTIRUN_FLAGS for word in words)
        and "--help" not in words
    )


def run_several(
    words: Sequence[str],
    run: Callable[[list[str]], int],
    check: Callable[[list[str]], None],
) -> int:
    """Run all searches of a command line, one after the other; print a table of their results.

    All are checked before the first begins. A search whose folder has a result already is not run
    again, so that the same command goes on after an interruption. The first failure ends all.

    Args:
        words: after the program's name, with -m among them.
        run: runs one command line; returns its exit code.
        check: refuses a command line whose words are wrong, by `RequestError`; runs nothing.
    Returns:
        The exit code.
    Raises:
        RequestError: there is no list, or a value is missing or wrong.
    """
    plain = [word for word in words if word not in MULTIRUN_FLAGS]
    plain, named = _without_out(plain)
    as_json, folder = "--json" in plain, Path(named)
    searches = combinations([word for word in plain if word != "--json"])
    for search in searches:
        try:
            check(search.words)
        except RequestError as error:
            raise RequestError(f"{search.name}: {error}") from error
    _require_same(folder, searches)
    rows: list[tuple[str, dict[str, Any]]] = []
    with answer_alone(wanted=as_json):
        for number, search in enumerate(searches, start=1):
            out = folder / search.name
            begun = (out / "run.json").is_file()
            summary = _summary(out) if begun else None
            if summary is None:
                warn(f"{number} of {len(searches)}: {search.name}")
                if not begun:
                    _note_words(folder, search)
                code = run([*search.words, "--resume", "--out", str(out)])
                if code:
                    return code
                summary = read_json(out / "summary.json")
            rows.append((search.name, summary))
        if as_json:
            print_json({"out": named, "runs": dict(rows)})
            return 0
    print_table(
        ("search", "held-out return", "standard error", "env steps"),
        [
            (
                name,
                f"{summary['test_return']:.4g}",
                "-" if summary["test_stderr"] is None else f"{summary['test_stderr']:.2g}",
                f"{summary['env_steps']:,}",
            )
            for name, summary in rows
        ],
    )
    return 0


def _summary(out: Path) -> dict[str, Any] | None:
    """Return the result of a search that was begun, if it has one."""
    from rolecast.platform.search.records.run_folder import RunFolder  # loads Arrow

    return RunFolder.open(out).read_summary()


def _require_same(folder: Path, searches: Sequence[Combination]) -> None:
    """Refuse a folder in which a search of the same name is another search.

    Raises:
        RequestError: names it and its words.
    """
    known = _known_words(folder)
    for search in searches:
        begun = (folder / search.name / "run.json").is_file()  # else it was refused
        words, before = search.deciding, known.get(search.name, search.deciding)
        if not any("#" in word for word in before):  # of a release that kept no digests of files
            words = [word.partition("#")[0] for word in words]
        if begun and before != words:
            file = ", or of a file that has changed" if "#" in "".join(before) else ""
            raise RequestError(
                f"{folder / search.name} is of another search ({' '.join(before)}){file}; "
                "expected the same one, or another --out"
            )


def _note_words(folder: Path, search: Combination) -> None:
    """Keep the words of a search that begins."""
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / WORDS_FILE, _known_words(folder) | {search.name: search.deciding})


def searches_in(folder: Path) -> list[Path]:
    """Return the folders of the searches of a --multirun folder; none of another folder."""
    return [each for name in _known_words(folder) if (each := folder / name).is_dir()]


def _known_words(folder: Path) -> dict[str, list[str]]:
    """Return the words of the searches that were begun in a folder, by name."""
    file = folder / WORDS_FILE
    return read_json(file) if file.is_file() else {}


def combinations(words: Sequence[str]) -> list[Combination]:
    """Return one search for each combination of values.

    Args:
        words: of `rolecast search`, whose values may be lists with commas; commas in brackets,
            braces and quotes separate nothing.
    Raises:
        RequestError: no value is a list, a list has an empty value, or two searches would have one
            folder.

    >>> [each.name for each in combinations(["search", "hopper", "--seed", "0,1"])]
    ['seed=0', 'seed=1']
    """
    choices: list[list[tuple[str, str]]] = []  # for each word: the words in its place, their names
    option = ""
    for index, word in enumerate(words):
        key = ""
        text = word
        if (option == "--set" and "=" in word) or (word.startswith("--") and "=" in word):
            key, _, text = word.partition("=")
            key += "="
        flag = option or key.rstrip("=")
        parts = [text] if index == 0 or flag in NEVER_LISTS else split_list(text)
        label = key.rstrip("=").lstrip("-") or option.lstrip("-") or "task"
        several = len(parts) > 1
        if several and not all(part.strip() for part in parts):
            raise RequestError(
                f"{label} has an empty value in {text!r}; expected one after a comma"
            )
        choices.append([(key + part, f"{label}={part}" if several else "") for part in parts])
        takes_value = word.startswith("--") and "=" not in word
        option = word if takes_value and word not in FLAGS_WITHOUT_VALUE else ""
    if all(len(each) == 1 for each in choices):
        raise RequestError(
            "--multirun has nothing to vary; expected a list with commas, as in --seed 0,1,2"
        )
    found = [
        Combination(
            words=[word for word, _ in row],
            name=re.sub(r"[^\w.,=+-]+", "-", ",".join(name for _, name in row if name)),
        )
        for row in product(*choices)
    ]
    for name, count in Counter(each.name for each in found).items():
        if count > 1:
            raise RequestError(
                f"{count} searches of --multirun would share the folder {name!r}; expected values "
                "that differ in letters, digits or one of . , = + -"
            )
    return found


def split_list(text: str) -> list[str]:
    """Split a text at its commas, but for those in brackets, braces and quotes.

    >>> split_list('[8,8],[16],"a,b"')
    ['[8,8]', '[16]', '"a,b"']
    """
    parts, depth, quoted = [""], 0, False
    for letter in text:
        quoted ^= letter == '"'
        depth += 0 if quoted else (letter in "[{") - (letter in "]}")
        if letter == "," and depth == 0 and not quoted:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _without_out(words: Sequence[str]) -> tuple[list[str], str]:
    """Return the words without --out, and the folder that it names."""
    kept, folder, index = [], DEFAULT_FOLDER, 0
    while index < len(words):
        word = words[index]
        if word == "--out":
            if index + 1 == len(words):
                raise RequestError("--out has no value; expected a folder")
            folder, index = words[index + 1], index + 1
        elif word.startswith("--out="):
            folder = word.removeprefix("--out=")
        else:
            kept.append(word)
        index += 1
    return kept, folder
