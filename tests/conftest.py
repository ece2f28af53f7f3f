"""What tests share: one real Ray cluster a process, and how histories are compared.

The process that hands tests to the others reads this file before it starts them. So what is heavy
is imported where it is used.
"""

import gc
import inspect
import os
import signal
import sys
from collections.abc import Callable, Generator, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import pytest
from hypothesis import settings
from xdist import is_xdist_controller

if TYPE_CHECKING:
    import pandas as pd

# The same examples in each run, so that a run that is red says something of the change before it;
# `pytest --hypothesis-profile default` looks for new ones.
settings.register_profile("rolecast", derandomize=True, deadline=None)
settings.load_profile("rolecast")

CLUSTER: Final = "ray_cluster"
"""Fixture of the tests on Ray, by which their files are known."""

SLOW: Final = (
    "tests/benchmarks",
    "tests/histories",
    "tests/test_docs.py",
    "tests/test_packaging.py",
    "tests/test_plug_ins.py",
    "tests/baselines/comix",
    "tests/baselines/ddpg",
    "tests/baselines/facmac",
    "tests/baselines/g2anet",
    "tests/baselines/intrinsic_ppo",
    "tests/baselines/maddpg",
    "tests/baselines/ppo",
    "tests/baselines/qmix",
    "tests/baselines/rllib",
    "tests/baselines/sac",
    "tests/baselines/td3",
    "tests/baselines/test_losses.py",
    "tests/baselines/test_state.py",
    "tests/baselines/test_teams.py",
    "tests/baselines/test_twin_teams.py",
    "tests/core/test_compiled.py",
    "tests/core/test_threads.py",
    "tests/envs/drone_delivery/test_expert.py",
    "tests/envs/test_scripted.py",
    "tests/platform/actors",
    "tests/platform/cli/test_commands.py",
    "tests/platform/deployment/test_boards.py",
    "tests/platform/optimizers/mcbo",
    "tests/platform/optimizers/duets/test_posterior.py",
    "tests/platform/optimizers/duets/test_server.py",
    "tests/platform/play",
    "tests/platform/optimizers/test_contract.py",
    "tests/platform/optimizers/test_improvement.py",
    "tests/platform/reports/test_run.py",
    "tests/platform/search/test_causal.py",
    "tests/platform/search/test_causal_graphs.py",
    "tests/platform/search/test_fewer_episodes.py",
    "tests/platform/search/test_run.py",
    "tests/platform/serving/test_config_file.py",
    "tests/platform/surrogate/clique_sum/test_dispatch.py",
    "tests/policies/export/test_agent.py",
    "tests/policies/export/test_c99.py",
    "tests/policies/export/test_fixed.py",
    "tests/policies/export/test_micropython.py",
    "tests/policies/export/test_onnx.py",
    "tests/policies/hom/test_policy.py",
    "tests/policies/hom/test_relaxation.py",
    "tests/policies/test_contract.py",
    "tests/theory/test_random_graphs.py",
    "tests/theory/test_regret.py",
    "tests/envs/test_check.py",
    "tests/envs/test_symmetry.py",
)
"""Files and folders marked slow beside those on Ray: they train, search or simulate long, or have
programs compile and run what is exported.

The learners of `baselines/` are among them, for they import RLlib, which takes seconds a process.
"""


@cache
def on_ray(file: Path) -> bool:
    """Tell whether the tests of a file use the cluster."""
    return CLUSTER in file.read_text()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Have kernels for CUDA interpreted where there is no such device.

    Triton decides when it is imported, by a test perhaps.
    """
    if is_xdist_controller(session) and session.config.option.numprocesses:
        return  # runs no test itself
    import torch

    if not torch.cuda.is_available():
        os.environ["TRITON_INTERPRET"] = "1"


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect tests without a search for garbage, and look later only at what tests make.

    A full search goes through a million objects of PyTorch, RLlib and the tests themselves.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave slow files unread where no slow test is wanted: some import RLlib."""
    wanted = config.option.markexpr != "not slow"
    return None if wanted or not slow(collection_path, config) else True


def slow(path: Path, config: pytest.Config) -> bool:
    """Tell whether a file or folder is slow as a whole."""
    listed = path.relative_to(config.rootpath).as_posix().startswith(SLOW)
    return listed or (path.suffix == ".py" and on_ray(path))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow, and begin with Ray, whose files are the longest: none is left to the end.

    Slow ones are next, for the same reason.
    """
    items.sort(key=lambda item: (not on_ray(item.path), not slow(item.path, item.config)))
    for item in items:
        if slow(item.path, item.config):
            item.add_marker(pytest.mark.slow)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let a search that names no workers use the cluster where its test asks for one alone.

    A cluster stays to the end of the process: where a search runs would hang on the files before.
    """
    from rolecast.platform.search import backend

    usual = usual_search_in_a_cluster()
    asked = CLUSTER in getattr(item, "fixturenames", ())
    backend._in_a_cluster = usual if asked else outside_a_cluster


@cache
def usual_search_in_a_cluster() -> Callable[[], bool]:
    """Return what tells a search whether it is within a cluster, as it was before any test."""
    from rolecast.platform.search import backend

    return backend._in_a_cluster


def outside_a_cluster() -> bool:
    """Say to a search that it is in no cluster."""
    return False


@pytest.fixture(scope="session", autouse=True)
def own_settings(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep what tests make out of the trust list of whoever runs them."""
    os.environ["XDG_CONFIG_HOME"] = str(tmp_path_factory.mktemp("settings"))


@pytest.fixture(scope="session", autouse=True)
def static_protocols() -> Iterator[None]:
    """Let `isinstance` of a protocol see what it does from Python 3.12 on: no forwarded attribute.

    Where that is not so yet, a task behind reward settings would know what it does not elsewhere.
    """
    if sys.version_info >= (3, 12):
        yield
        return
    meta: Any = type(Protocol)
    usual = meta.__instancecheck__

    def static(kind: Any, value: Any) -> bool:
        found: bool = usual(kind, value)
        if found and getattr(kind, "_is_runtime_protocol", False) and kind not in type(value).mro():
            return all(hasattr_static(value, name) for name in members(kind))
        return found

    def members(kind: Any) -> set[str]:
        bases = [each for each in kind.mro() if getattr(each, "_is_protocol", False)]
        names = {n for b in bases for n in (*vars(b), *vars(b).get("__annotations__", {}))}
        return {name for name in names if not name.startswith(("_", "__"))}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(meta, "__instancecheck__", static)
        yield


def hasattr_static(value: object, name: str) -> bool:
    """Tell whether an object has an attribute without asking its `__getattr__`."""
    nothing = object()
    return inspect.getattr_static(value, name, nothing) is not nothing


@pytest.fixture(scope="session", autouse=True)
def short_reports() -> Iterator[None]:
    """Measure few episodes and draw few frames: the end of a search takes a tenth of 3 s."""
    from rolecast.platform.search.records import measurements

    with pytest.MonkeyPatch.context() as patch:
        for name in ("INCUMBENT_EPISODES", "YARDSTICK_EPISODES", "ABLATED_EPISODES"):
            patch.setattr(measurements, name, 40)
        patch.setattr("rolecast.platform.reports.run.MOST_FRAMES", 2)
        yield


@pytest.fixture(scope="session", autouse=True)
def patient_commands() -> Iterator[None]:
    """Keep the line about loading out of what a command says, however slow the machine is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rolecast.platform.cli.verbosity.PATIENCE_S", 3600.0)
        yield


@pytest.fixture(scope="session")
def ray_cluster() -> Iterator[str]:
    """Connect to a cluster of two CPUs, started on free ports; return its address."""
    import ray

    from rolecast.platform.actors.cluster import lean_start

    with lean_start():
        context: Any = ray.init(
            address="local",
            num_cpus=2,
            num_gpus=0,
            include_dashboard=False,
            log_to_driver=False,
            _system_config={"worker_niceness": 0},  # tests beside it would stop its workers
        )
    yield str(context.address_info["gcs_address"])
    ray.shutdown()


@pytest.fixture
def same_history() -> Callable[[Path, Path], None]:
    """Return an assertion: two runs have the same history in all columns but `wall_time_s`."""

    import pandas as pd

    from rolecast.platform.search.records.frames import read_history

    def check(one: Path, other: Path) -> None:
        left, right = (frame_of(read_history(path)) for path in (one, other))
        pd.testing.assert_frame_equal(left, right, check_exact=True)

    return check


def frame_of(history: "pd.DataFrame") -> "pd.DataFrame":
    """Return a history in a form that can be compared exactly."""
    import numpy as np

    def plain(value: Any) -> Any:
        return tuple(value.tolist()) if isinstance(value, np.ndarray) else value

    return history.drop(columns="wall_time_s").map(plain)


@pytest.fixture(scope="session", autouse=True)
def interrupts() -> None:
    """Let Ctrl-C reach the tests where a shell started them in the background, deaf to it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def screen() -> None:
    """Skip where a machine has neither EGL nor OSMesa; it ends when their libraries are there."""
    import numpy as np

    from rolecast.core.errors import RequestError
    from rolecast.envs.registry import make_task

    task: Any = make_task("hopper")
    task.reset(np.array([1], dtype=np.uint64))
    try:
        task.frame()
    except RequestError as refused:
        pytest.skip(str(refused))
    finally:
        task.close()


def write_comparison(out: Path, experiment: Mapping[str, Any], rows: "pd.DataFrame") -> None:
    """Write a folder that `read_comparison` reads; the engine itself writes it piece by piece."""
    from rolecast.platform.tuning.comparison_folder import ComparisonFolder

    folder = ComparisonFolder(out)
    folder.write_experiment(experiment)
    folder.write_rows(rows)
