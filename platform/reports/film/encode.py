"""Frames as files: GIF and MP4 that move, and a PNG of a few moments side by side."""

import io
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Final

import numpy as np
from PIL import Image

from rolecast.core.errors import RequestError, RunError
from rolecast.core.files import write_bytes

PALETTE_SIZE: Final = 96
"""Of a GIF or a PNG."""

LAST_FRAME_MS: Final = 1500
"""How long the end is held."""

STORYBOARD_FRAMES: Final = 4
"""Moments in a still picture, from the start to the end."""

PALETTE_FRAMES: Final = 8
"""Of a GIF, from which its colours are taken."""

CODEC_MODULE: Final = "imageio_ffmpeg"
"""Module that brings ffmpeg along."""

INSTALL_HINT: Final = "expected: pip install imageio-ffmpeg"

NO_DITHER: Final = Image.Dither.NONE

Frames = Sequence[Image.Image]
"""RGB, in order of time, all of one size."""


def gif(frames: Frames, frame_ms: int) -> bytes:
    """Return a GIF that repeats, its last frame held, each other shown for some milliseconds."""
    sheet = _sheet(frames, PALETTE_FRAMES)
    half = (max(1, sheet.width // 2), max(1, sheet.height // 2))
    # Every second pixel has the colours of all, in a quarter of the time.
    palette = _reduced(sheet.resize(half, Image.Resampling.NEAREST))
    reduced = [frame.quantize(palette=palette, dither=NO_DITHER) for frame in frames]
    buffer = io.BytesIO()
    durations = [frame_ms] * (len(frames) - 1) + [LAST_FRAME_MS]
    reduced[0].save(
        buffer,
        format="GIF",
        save_all=True,
        append_images=reduced[1:],
        duration=durations,
        loop=0,
        optimize=True,
    )
    return buffer.getvalue()


def png(frames: Frames, frame_ms: int) -> bytes:
    """Return a still picture: a few moments side by side; no time passes in it."""
    buffer = io.BytesIO()
    _reduced(_sheet(frames, STORYBOARD_FRAMES)).save(buffer, format="PNG", optimize=True)
    return buffer.getvalue()


def mp4(frames: Frames, frame_ms: int) -> bytes:
    """Return an H.264 film, its last frame held.

    Raises:
        RequestError: there is no ffmpeg, or one that cannot write H.264.
    """
    width, height = frames[0].size
    even = (width + width % 2, height + height % 2)  # the codec halves its colour planes
    pages = []
    for frame in [*frames, *[frames[-1]] * (LAST_FRAME_MS // frame_ms)]:
        page = Image.new("RGB", even, "white")
        page.paste(frame)
        pages.append(page.tobytes())
    raw = f"-f rawvideo -pix_fmt rgb24 -s {even[0]}x{even[1]} -r 1000/{frame_ms} -i -".split()
    coded = ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-movflags", "+faststart"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "film.mp4"
        command = [_ffmpeg(), "-loglevel", "error", *raw, *coded, str(path)]
        ended = subprocess.run(command, input=b"".join(pages), capture_output=True, check=False)
        if ended.returncode:
            said = ended.stderr.decode(errors="replace").strip().splitlines() or ["nothing"]
            raise RequestError(
                f"{command[0]} cannot write H.264 and said: {said[-1]}; {INSTALL_HINT}"
            )
        return path.read_bytes()


ENCODERS: Final[Mapping[str, Callable[[Frames, int], bytes]]] = MappingProxyType(
    {".gif": gif, ".mp4": mp4, ".png": png}
)
"""By the ending of a file's name."""


def require_ending(out: str | Path) -> Callable[[Frames, int], bytes]:
    """Return the encoder for a file's name; refuses a wrong one before anything is drawn.

    Raises:
        RequestError: the ending is unknown, or is .mp4 and there is no ffmpeg.
    """
    ending = Path(out).suffix.lower()
    if ending not in ENCODERS:
        raise RequestError(f"--out {out} has ending {ending!r}; expected .gif, .mp4 or .png")
    if ending == ".mp4":
        _ffmpeg()
    return ENCODERS[ending]


def write_film(frames: Frames, frame_ms: int, out: str | Path) -> None:
    """Write frames, by the ending of the file's name.

    Raises:
        RequestError: the ending is unknown, there is no ffmpeg for an .mp4, or the file cannot be
            written.
    """
    data = require_ending(out)(frames, frame_ms)
    try:
        write_bytes(Path(out), data)
    except RunError as error:
        raise RequestError(f"--out {out} cannot be written: {error.__cause__}") from error


def _ffmpeg() -> str:
    """Return the path of an ffmpeg: the one that comes as a package, else this machine's own.

    Raises:
        RequestError: there is none.
    """
    if find_spec(CODEC_MODULE) is not None:
        return str(import_module(CODEC_MODULE).get_ffmpeg_exe())
    found = shutil.which("ffmpeg")
    if found is None:
        raise RequestError(f"an .mp4 needs ffmpeg, which is not here; {INSTALL_HINT}")
    return found


def _sheet(frames: Frames, moments: int) -> Image.Image:
    """Return a few frames side by side, from the first to the last."""
    chosen = np.unique(np.linspace(0, len(frames) - 1, moments).round().astype(int))
    width, height = frames[0].size
    sheet = Image.new("RGB", (width * len(chosen), height), "white")
    for place, moment in enumerate(chosen):
        sheet.paste(frames[moment], (place * width, 0))
    return sheet


def _reduced(picture: Image.Image) -> Image.Image:
    """Return a picture of PALETTE_SIZE colours, in which small bright marks keep their own."""
    return picture.quantize(PALETTE_SIZE, Image.Quantize.MAXCOVERAGE, kmeans=1, dither=NO_DITHER)
