"""A small finished run that tests of the command line and of the reports look at."""

from pathlib import Path

import pytest

import rolecast


@pytest.fixture(scope="session")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a finished search of a second, without Ray; tests only read it."""
    out = tmp_path_factory.mktemp("runs") / "small"
    rolecast.search(
        "pred_prey_3",
        optimizer="local_gp",
        evaluations=60,
        episodes=4,
        batch_size=10,
        workers=0,
        test_episodes=20,
        out=str(out),
    )
    return out
