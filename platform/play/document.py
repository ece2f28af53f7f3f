"""The documents of `rolecast play`: one HTML file, from the templates beside this file."""

import base64
from typing import Any

import jinja2
import numpy as np
from numpy.typing import NDArray


def document(template: str, **values: Any) -> str:
    """Return a whole document; all values are escaped.

    Args:
        template: name of its file.
        values: that it names, each of them.
    """
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("rolecast.platform.play"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
    )
    return templates.get_template(template).render(**values)


def in_letters(content: bytes | NDArray[np.float32]) -> str:
    """Return bytes, or the bytes of an array, in base64."""
    data = content if isinstance(content, bytes) else np.ascontiguousarray(content).tobytes()
    return base64.b64encode(data).decode("ascii")
