"""Compilers are found from where the user is, and sizes of objects are those of their code."""

from pathlib import Path

import pytest

from rolecast.core.errors import RequestError
from rolecast.platform.deployment.compiler import binary_sizes, object_sizes
from rolecast.platform.deployment.config import ExportConfig
from rolecast.platform.deployment.export import export_policy


def test_a_compiler_is_found_from_where_the_user_is(
    small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    wrapper = tmp_path / "mycc"
    wrapper.write_text('#!/bin/sh\nexec cc "$@"\n')
    wrapper.chmod(0o755)
    manifest = export_policy(small_run, "out", ExportConfig(compiler="./mycc"))
    assert manifest["check"]["compiler"] == "./mycc"


@pytest.mark.parametrize(
    ("mode", "sentence"),
    [
        (0o644, r"/bad is no file that can be executed; expected a program"),
        (0o755, r"/bad cannot be executed \(Exec format error\); expected a program"),
    ],
)
def test_a_compiler_that_is_no_program_is_refused(
    small_run: Path, tmp_path: Path, mode: int, sentence: str
) -> None:
    compiler = tmp_path / "bad"
    compiler.write_bytes(b"garbage\n")
    compiler.chmod(mode)
    with pytest.raises(RequestError, match=sentence):
        export_policy(small_run, tmp_path / "out", ExportConfig(compiler=str(compiler)))


@pytest.mark.parametrize(
    ("printed", "sizes"),
    [
        ("   text\t   data\t    bss\t dec\n   100\t     20\t      3\t 123\n", (120, 23)),
        ("__TEXT\t__DATA\t__OBJC\tothers\tdec\thex\n100\t23\t0\t64\t187\tbb\n", (100, 23)),
    ],
    ids=["GNU", "macOS"],
)
def test_sizes_are_read_by_the_names_of_their_columns(
    tmp_path: Path, printed: str, sizes: tuple[int, int]
) -> None:
    program = tmp_path / "size"
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{printed}END\n")
    program.chmod(0o755)
    assert binary_sizes(tmp_path, str(program), "some.o") == sizes


def test_tables_for_debuggers_are_no_code(tmp_path: Path) -> None:
    """Two functions of some 10 bytes each; with the tables, 88 bytes more on x86-64."""
    text = "int one(int x) { return x + 1; }\nint two(int x) { return x + 2; }\n"
    (tmp_path / "rolecast_policy.c").write_text(text)
    assert 0 < object_sizes(tmp_path, "cc", ["-Os"])[0] < 64
