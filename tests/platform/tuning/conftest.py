"""The experiment that these tests run."""

from pathlib import Path
from typing import Final

import pytest

from rolecast.platform.tuning.loading import Request, load_experiment

CLIMBING: Final = Path(__file__).with_name("climbing.py")


@pytest.fixture(scope="session")
def climbing_file() -> Path:
    """Path of a user's experiment."""
    return CLIMBING


@pytest.fixture(scope="session")
def climbing() -> Request:
    """A search and a hill climber on sparse predator-prey, for 3000 steps."""
    return load_experiment(CLIMBING)
