"""What a wheel installs, and that the folder `platform/` never hides Python's own module."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from rolecast.rooms import ROOMS

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel_names(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Names of all files in a wheel built from the tracked and new sources, outside this tree."""
    source = tmp_path_factory.mktemp("source")
    for room in (*ROOMS, "rolecast"):
        for file in (ROOT / room).rglob("*"):
            if file.is_file() and "__pycache__" not in file.parts:
                copy = source / file.relative_to(ROOT)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(file.read_bytes())
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        (source / name).write_bytes((ROOT / name).read_bytes())
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", "dist"]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (wheel,) = (source / "dist").glob("*.whl")
    return zipfile.ZipFile(wheel).namelist()


def test_a_wheel_installs_exactly_one_top_level_name(wheel_names: list[str]) -> None:
    top = {name.split("/")[0] for name in wheel_names}
    assert {name for name in top if not name.endswith(".dist-info")} == {"rolecast"}


def test_a_wheel_holds_every_module_table_and_template(wheel_names: list[str]) -> None:
    rooms = {
        f"rolecast/{file.relative_to(ROOT)}"
        for room in ROOMS
        for ending in ("py", "csv", "css", "html", "jinja", "js")
        for file in (ROOT / room).rglob(f"*.{ending}")
    }
    face = {
        str(file.relative_to(ROOT))
        for file in (ROOT / "rolecast").rglob("*")
        if file.suffix == ".py" or file.name == "py.typed"
    }
    assert {
        f"rolecast/{name}" for name in ("__init__.py", "moved.py", "py.typed", "rooms.py")
    } <= face
    assert rooms | face == {name for name in wheel_names if ".dist-info/" not in name}


def test_platform_is_no_package() -> None:
    assert not (ROOT / "platform" / "__init__.py").exists()


def test_import_platform_is_pythons_own_from_the_repository_root() -> None:
    code = "import platform, sys; print(platform.__file__); print(platform.python_version())"
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True
    )
    file, version = result.stdout.split()
    assert not Path(file).is_relative_to(ROOT / "platform")
    assert version == ".".join(map(str, sys.version_info[:3]))


def test_the_public_names_all_load() -> None:
    import rolecast

    assert [name for name in rolecast.__all__ if not callable(getattr(rolecast, name))] == []


@pytest.mark.parametrize("command", [["--help"], ["search", "--help"]], ids=" ".join)
def test_help_loads_neither_ray_nor_torch(command: list[str]) -> None:
    code = (
        "import sys\n"
        "from rolecast.platform.cli.app import main\n"
        f"code = main({command!r})\n"
        "heavy = sorted({'ray', 'torch', 'pandas', 'matplotlib'} & set(sys.modules))\n"
        "raise SystemExit(f'loaded {heavy}' if heavy else code)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
