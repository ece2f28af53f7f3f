"""Pictures of a body, rendered off screen by MuJoCo."""

import ctypes
import os
import platform
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from rolecast.core.errors import RequestError, first_line

PICTURE_WIDTH: Final = 384
PICTURE_HEIGHT: Final = 288
"""Height of the picture in pixels; it is wide enough for an ant's legs."""

DRAWING_BACKENDS: Final = ("egl", "osmesa")
"""Backends without a screen on Linux, the faster first; MUJOCO_GL chooses one."""

TRACKING_CAMERA: Final = "track"
"""Name of the camera that follows the body, in all models."""

COSTLY_EFFECTS: Final = (mujoco.mjtRndFlag.mjRND_SHADOW, mujoco.mjtRndFlag.mjRND_REFLECTION)
"""Effects left out: three quarters of the time of rendering on a CPU, without a GPU."""

EDGE_SAMPLES: Final = 0
"""Samples of a pixel that smooth edges. With four, the simulator's own, a picture takes twice to
three times as long on a CPU."""

UNSET_VALUES: Final = ("", "1", "on", "true", "enable", "enabled")
"""Values of MUJOCO_GL without the name of a backend."""


class Camera:
    """Camera of one model; it holds a rendering context until it is closed."""

    def __init__(self, model: Any, segments: int) -> None:
        """Open a context.

        Args:
            model: the `mujoco.MjModel`.
            segments: segments of its body, all in the picture; 0 for the model's own view.

        Raises:
            RequestError: this machine cannot render off screen.
        """
        self._model = model
        self._context = _context()
        self._context.make_current()
        model.vis.quality.offsamples = EDGE_SAMPLES
        self._buffer = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._buffer)
        self._scene = mujoco.MjvScene(model, 1000)
        for costly in COSTLY_EFFECTS:
            self._scene.flags[costly] = 0
        self._view, self._options = mujoco.MjvCamera(), mujoco.MjvOption()
        self._segments = segments
        if segments:
            self._view.type = mujoco.mjtCamera.mjCAMERA_FREE
            self._view.distance = 1.5 * (segments + 1)  # a segment is a metre long
        else:
            self._view.type = mujoco.mjtCamera.mjCAMERA_FIXED
            self._view.fixedcamid = model.camera(TRACKING_CAMERA).id

    def picture(self, data: Any) -> NDArray[np.uint8]:
        """Return a picture [H, W, 3] of a `mujoco.MjData`."""
        self._context.make_current()
        if self._segments:
            self._view.lookat[:] = data.subtree_com[0]
        everything = mujoco.mjtCatBit.mjCAT_ALL
        mujoco.mjv_updateScene(
            self._model,
            data,
            self._options,
            mujoco.MjvPerturb(),
            self._view,
            everything,
            self._scene,
        )
        port = mujoco.MjrRect(0, 0, PICTURE_WIDTH, PICTURE_HEIGHT)
        mujoco.mjr_render(port, self._scene, self._buffer)
        pixels = np.zeros((PICTURE_HEIGHT, PICTURE_WIDTH, 3), dtype=np.uint8)
        mujoco.mjr_readPixels(pixels, None, port, self._buffer)
        return pixels[::-1].copy()  # the simulator counts rows from below

    def close(self) -> None:
        """Release the context."""
        self._buffer.free()
        self._context.free()


def _context() -> Any:
    """Return a rendering context of the first backend that works.

    Raises:
        RequestError: none does.
    """
    if platform.system() != "Linux":
        return mujoco.GLContext(PICTURE_WIDTH, PICTURE_HEIGHT)
    _load_triton()
    chosen = os.environ.get("MUJOCO_GL", "").lower()
    failures = []
    for backend in DRAWING_BACKENDS if chosen in UNSET_VALUES else (chosen,):
        try:
            return import_module(f"mujoco.{backend}").GLContext(PICTURE_WIDTH, PICTURE_HEIGHT)
        except Exception as error:  # noqa: BLE001  # drivers fail in all ways; all are told below
            failures.append(f"{backend}: {type(error).__name__} ({first_line(error)})")
    raise RequestError(
        f"MuJoCo can draw nothing off screen here: {'; '.join(failures)}; "
        "expected the libraries of EGL or OSMesa, or MUJOCO_GL to name what is there"
    )


def _load_triton() -> None:
    """Load the library of Triton, which comes with torch, before that of a drawing backend.

    OSMesa shows its LLVM to all libraries that are loaded after it. Triton, which has another LLVM
    inside, would end the process when torch imports it.
    """
    found = find_spec("triton")
    if found is not None and found.origin is not None:
        with suppress(OSError):  # not to be loaded now, so not later either
            ctypes.CDLL(str(Path(found.origin).parent / "_C" / "libtriton.so"))
