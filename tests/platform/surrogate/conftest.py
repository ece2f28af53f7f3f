"""Surrogates are tested as searches use them: with one thread."""

from collections.abc import Iterator
from typing import Final

import pytest

from rolecast.core.threads import OneThread

ONE_THREAD: Final = OneThread()


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Compute with one thread; with more, small matrices take longer, not less long."""
    with ONE_THREAD():
        yield
