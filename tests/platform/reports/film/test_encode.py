"""Frames become files that other programs read: GIF, MP4, PNG."""

import io
import subprocess
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageSequence

from rolecast.core.errors import RequestError
from rolecast.platform.reports.film import encode
from rolecast.platform.reports.film.encode import LAST_FRAME_MS, gif, png, write_film


def colours(size: tuple[int, int] = (33, 21)) -> list[Image.Image]:
    """Five frames of one colour each; width and height are odd."""
    return [Image.new("RGB", size, (50 * level, 0, 200 - 50 * level)) for level in range(5)]


def test_a_gif_plays_every_frame_and_holds_the_last() -> None:
    picture = Image.open(io.BytesIO(gif(colours(), 70)))
    durations = [frame.info["duration"] for frame in ImageSequence.Iterator(picture)]
    assert durations == [70] * 4 + [LAST_FRAME_MS]
    assert picture.info["loop"] == 0


def test_a_still_picture_has_four_moments_with_start_and_end() -> None:
    sheet = Image.open(io.BytesIO(png(colours(), 70))).convert("RGB")
    assert sheet.size == (4 * 33, 21)
    assert sheet.getpixel((0, 0)) == (0, 0, 200)
    assert sheet.getpixel((131, 20)) == (200, 0, 0)


def test_a_film_of_one_frame_is_a_still_of_one() -> None:
    sheet = Image.open(io.BytesIO(png(colours()[:1], 70)))
    assert sheet.size == (33, 21)


def test_an_mp4_plays_the_frames_in_their_order_and_holds_the_last(tmp_path: Path) -> None:
    write_film(colours(), 100, tmp_path / "film.mp4")
    shown = played(tmp_path / "film.mp4", (34, 22))[:, 10, 10, 0].astype(int)
    assert len(shown) == 5 + LAST_FRAME_MS // 100
    assert (np.diff(shown[:5]) > 20).all()  # 50 each; compression changes colours by less
    assert np.ptp(shown[4:]) < 20


def played(path: Path, size: tuple[int, int]) -> NDArray[np.uint8]:
    """Return the frames [T, H, W, 3] that ffmpeg reads."""
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-loglevel", "error", "-i", str(path)]
    command += ["-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    raw = subprocess.run(command, capture_output=True, check=True).stdout
    return np.frombuffer(raw, np.uint8).reshape(-1, size[1], size[0], 3)


@pytest.mark.parametrize("name", ["hunt.avi", "hunt"])
def test_an_ending_that_cannot_be_written_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(RequestError, match=r"expected .gif, .mp4 or .png"):
        write_film(colours(), 70, tmp_path / name)


def test_an_mp4_without_ffmpeg_is_refused_with_what_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encode, "CODEC_MODULE", "no_such_codec")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RequestError, match=r"needs ffmpeg.*; expected: pip install \S+$"):
        write_film(colours(), 70, tmp_path / "hunt.mp4")
    assert list(tmp_path.iterdir()) == []


def test_an_ffmpeg_that_fails_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encode, "CODEC_MODULE", "no_such_codec")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    (tmp_path / "ffmpeg").write_text("#!/bin/sh\ncat > /dev/null\necho no encoder >&2\nexit 1\n")
    (tmp_path / "ffmpeg").chmod(0o755)
    with pytest.raises(RequestError, match="said: no encoder; expected: pip install"):
        write_film(colours(), 70, tmp_path / "hunt.mp4")


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RequestError, match="cannot be written"):
        write_film(colours(), 70, tmp_path / "file" / "hunt.gif")
