"""Files are whole or absent, and what was damaged is refused by name."""

import contextlib
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rolecast.core.disk import LocalDisk
from rolecast.core.encoding import from_bytes, to_bytes, to_sealed_bytes
from rolecast.core.errors import RequestError, RunError
from rolecast.core.files import (
    in_shell,
    is_file,
    read_bytes,
    read_json,
    sealed_json,
    write_bytes,
    write_json,
    write_sealed_json,
)
from rolecast.core.locks import try_lock
from rolecast.core.seals import BLANK_SEAL, seal_holds

SETTINGS = {"seed": 30, "share": 0.02, "task": "pred_prey_3", "parts": [[0, 1], []], "none": None}


def flipped(data: bytes, bit: int) -> bytes:
    return bytes(each ^ (1 << bit % 8 if at == bit // 8 else 0) for at, each in enumerate(data))


def test_every_flipped_bit_of_a_sealed_json_file_is_refused_or_changes_no_value(
    tmp_path: Path,
) -> None:
    path = tmp_path / "run.json"
    content = sealed_json(SETTINGS)
    accepted = []
    for bit in range(0, 8 * len(content), 5):
        path.write_bytes(flipped(content, bit))
        with contextlib.suppress(RequestError):
            accepted.append(read_json(path))
    assert accepted == [SETTINGS] * len(accepted)
    assert len(accepted) < 20


def test_a_sealed_json_file_that_a_person_wrote_anew_is_read(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    write_sealed_json(path, SETTINGS)
    stored = json.loads(path.read_text())
    for text in (json.dumps(stored | {"seed": 4}), json.dumps(stored | {"seed": 4}, indent=2)):
        path.write_text(text)
        assert read_json(path) == SETTINGS | {"seed": 4}
    path.write_text(json.dumps(stored | {"seed": 4}, indent=2) + "\n")
    with pytest.raises(RequestError, match="its seal is wrong"):
        read_json(path)


def test_json_without_a_seal_is_read_as_it_is(tmp_path: Path) -> None:
    write_json(tmp_path / "old.json", SETTINGS)
    assert read_json(tmp_path / "old.json") == SETTINGS


def test_every_flipped_bit_of_a_sealed_state_is_refused() -> None:
    state = {"cloud": np.arange(4.0), "rng": {"state": 2**70}, "pair": (1, 2.5)}
    content = to_sealed_bytes(state)
    np.testing.assert_equal(from_bytes(content), from_bytes(to_bytes(state)))
    for bit in range(8 * len(content)):
        damaged = flipped(content, bit)
        if seal_holds(damaged) is not None:
            with pytest.raises(ValueError, match="seal is wrong"):
                from_bytes(damaged)
            continue
        with contextlib.suppress(ValueError):  # the flip is in the seal's own name
            np.testing.assert_equal(from_bytes(damaged)["cloud"], state["cloud"])


def test_text_that_looks_like_a_seal_is_data_as_any_other() -> None:
    """An optimiser's state once held uninitialised memory, and in it the seal of another file."""
    text = np.frombuffer(BLANK_SEAL.encode(), dtype=np.uint8)
    content = to_sealed_bytes({"memory": text})
    assert seal_holds(content)
    np.testing.assert_array_equal(from_bytes(content)["memory"], text)
    assert seal_holds(sealed_json({"memory": BLANK_SEAL, "more": [BLANK_SEAL]}))


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 200_000,
        b'{"a": ' * 100_000,
        b'{"schema": Infinity}',
        b'{"schema": NaN}',
        b"[1]",
        b"\xff\xfe",
        b"",
        b"9" * 10_000,
    ],
    ids=["brackets", "braces", "infinity", "nan", "list", "bytes", "empty", "digits"],
)
def test_what_is_no_json_object_is_refused_in_one_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(content)
    with pytest.raises(RequestError, match=r"run\.json is damaged") as refused:
        read_json(path)
    assert len(str(refused.value)) < 300


def directory(path: Path) -> None:
    path.mkdir()


def pipe(path: Path) -> None:
    os.mkfifo(path)


def link_loop(path: Path) -> None:
    path.symlink_to(path)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("make", [directory, pipe, link_loop, device])
@pytest.mark.timeout(20)
def test_what_is_no_plain_file_is_refused_at_once(
    make: Callable[[Path], None], tmp_path: Path
) -> None:
    path = tmp_path / "journal.bin"
    make(path)
    calls: tuple[Callable[[Path], Any], ...] = (read_bytes, read_json, is_file)
    for call in calls:
        with pytest.raises(RequestError, match=r"journal\.bin"):
            call(path)


def test_below_a_file_there_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert not is_file(tmp_path / "file" / "run.json")
    with pytest.raises(RequestError, match=r"run\.json cannot be read"):
        read_json(tmp_path / "file" / "run.json")


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    """A stranger's folder could let a resumed run write elsewhere, or empty a file there."""
    precious = tmp_path / "precious"
    precious.write_text("mine")
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / ".lock").symlink_to(precious)
    (folder / f".run.json.{os.getpid()}.tmp").symlink_to(precious)
    with pytest.raises(OSError, match="symbolic"):
        try_lock(folder)
    write_bytes(folder / "run.json", b"data")
    (folder / "summary.json").symlink_to(precious)
    write_bytes(folder / "summary.json", b"data")
    assert precious.read_text() == "mine"
    assert (folder / "summary.json").read_bytes() == b"data"


def test_a_failed_write_names_the_path_and_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match=r"x\.bin cannot be written \(.*\); make room.*resume"):
        write_bytes(tmp_path / "file" / "x.bin", b"data")


def test_a_file_that_is_made_between_two_looks_is_there(tmp_path: Path) -> None:
    """As a reader meets the journal of a run that goes on."""

    class Late(LocalDisk):
        def is_file(self, path: Path) -> bool:
            known = super().is_file(path)
            path.touch()
            return known

    assert is_file(tmp_path / "journal.bin", disk=Late())
    (tmp_path / "folder").mkdir()
    with pytest.raises(RequestError, match="folder is no plain file"):
        is_file(tmp_path / "folder")


def test_commands_that_are_printed_have_paths_as_single_words() -> None:
    """Of all files, so that a folder with a space in its name can be pasted."""
    assert in_shell(Path("runs/my run")) == "'runs/my run'"
    bare = re.compile(r"(rolecast [a-z]+|--logdir|\bopen) \{(?!in_shell\(|name\})")
    root = Path(__file__).parents[2]
    sources = [
        file for room in ("platform", "core", "rolecast") for file in (root / room).rglob("*.py")
    ]
    assert not [str(file) for file in sources if bare.search(file.read_text())]
