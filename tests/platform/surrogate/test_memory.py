"""A process takes the memory that was said, and too much is refused in a sentence."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rolecast.core import memory
from rolecast.core.errors import ConfigError
from rolecast.core.memory import available_memory
from rolecast.platform.optimizers.registry import make_optimizer
from rolecast.platform.surrogate.gp import Posterior, fit
from rolecast.platform.surrogate.kernels import CliqueSum, Kernel, Matern, Mixture
from rolecast.platform.surrogate.memory import most_points, peak_bytes, require_memory

D = 40
CLIQUES = [(index, index + 1) for index in range(D - 1)]
CLIQUE_SUM = CliqueSum(CLIQUES, np.ones(D - 1), np.full(D - 1, 1.0 / (D - 1)))


def peak(action: Callable[[], object]) -> int:
    """Return the most bytes that an action holds at once, beyond those held before."""
    action()  # compiles, imports
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("count", "queries", "fits"), [(500, 50, 1), (500, 50, 6), (150, 1500, 1)])
@pytest.mark.parametrize(
    ("kernel", "share"),
    [(Matern(0.6), 0.75), (Mixture(Matern(0.6), CLIQUE_SUM, 0.3), 0.75), (CLIQUE_SUM, 0.3)],
    ids=["common", "mixture", "cliques"],
)
def test_the_peak_is_at_most_what_is_said_and_not_much_less(
    kernel: Kernel, share: float, count: int, queries: int, fits: int
) -> None:
    """A sum over cliques alone takes less than half."""
    rng = np.random.default_rng(0)
    points, asked = rng.random((count, D)), rng.random((queries, D))
    targets = rng.normal(size=count)

    def condition() -> None:
        kept = []
        for noise in np.linspace(0.1, 0.2, fits):
            covariance = kernel.matrix(points, points)
            kept.append(fit(covariance, targets, np.full(count, noise)))
        Posterior(kernel, points, kept[0]).mean_and_deviation(asked)

    said = peak_bytes(count, D, queries=queries, fits=fits)
    assert share * said <= peak(condition) <= said


def test_the_most_points_are_the_last_that_fit() -> None:
    for budget in (0, 10_000, 10**9, 64 * 2**30):
        most = most_points(300, budget, queries=1000, fits=30)
        assert peak_bytes(most + 1, 300, queries=1000, fits=30) > budget
        assert most == 0 or peak_bytes(most, 300, queries=1000, fits=30) <= budget


def test_what_cannot_fit_is_refused_ahead_in_one_sentence() -> None:
    require_memory(1000, 353, available=2**30)
    with pytest.raises(ConfigError) as refusal:
        require_memory(100_000, 353, available=8 * 2**30)
    assert str(refusal.value) == (
        "number of points of the process is 100000; expected at most 13,231: "
        "it needs 448.3 GiB of memory, and 8.0 GiB are free"
    )


def test_the_machine_has_some_memory_but_not_for_a_million_points() -> None:
    assert 2**20 < available_memory() < peak_bytes(10**6, 1)
    with pytest.raises(ConfigError, match="is 1000000; expected at most"):
        require_memory(10**6, 1)


@pytest.mark.parametrize(
    ("limit", "used", "files", "expected"),
    [("max", "7", "0", 2**30), ("900", "300", "0", 600), ("900", "800", "500", 600)],
)
def test_the_limit_of_a_container_counts_without_files_that_can_be_dropped(
    limit: str,
    used: str,
    files: str,
    expected: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    info = tmp_path / "meminfo"
    info.write_text("MemTotal:  4194304 kB\nMemAvailable:  1048576 kB\nHugePages_Total:  0\n")
    (tmp_path / "memory.max").write_text(limit + "\n")
    (tmp_path / "memory.current").write_text(used + "\n")
    (tmp_path / "memory.stat").write_text(f"anon 1\ninactive_file {files}\nactive_file 9\n")
    monkeypatch.setattr(memory, "MEMORY_INFO", info)
    monkeypatch.setattr(memory, "CGROUP_FOLDER", tmp_path)
    assert available_memory() == expected


@pytest.mark.parametrize(("own", "above", "expected"), [("900", "max", 600), ("900", "500", 200)])
def test_limits_of_the_own_group_and_of_those_above_it_count(
    own: str, above: str, expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info, membership = tmp_path / "meminfo", tmp_path / "membership"
    info.write_text("MemAvailable:  1048576 kB\n")
    membership.write_text("0::/user.slice/job\n")
    (tmp_path / "user.slice" / "job").mkdir(parents=True)
    for group, limit in (("user.slice/job", own), ("user.slice", above)):
        (tmp_path / group / "memory.max").write_text(limit + "\n")
        (tmp_path / group / "memory.current").write_text("300\n")
        (tmp_path / group / "memory.stat").write_text("inactive_file 0\n")
    monkeypatch.setattr(memory, "MEMORY_INFO", info)
    monkeypatch.setattr(memory, "CGROUP_FOLDER", tmp_path)
    monkeypatch.setattr(memory, "MEMBERSHIP_FILE", membership, raising=False)
    assert available_memory() == expected


@pytest.mark.parametrize("name", ["local_gp", "gp_ucb"])
def test_a_search_that_memory_cannot_hold_says_so_and_goes_on_with_more(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "meminfo"
    info.write_text("MemAvailable:  100 kB\n")
    monkeypatch.setattr(memory, "MEMORY_INFO", info)
    monkeypatch.setattr(memory, "CGROUP_FOLDER", tmp_path)
    optimizer = make_optimizer(name, dimension=5)

    def evaluate(times: int) -> None:
        for _ in range(times):
            candidates = optimizer.ask(60)
            optimizer.tell(candidates, candidates.sum(1))

    with pytest.raises(ConfigError, match=r"points of the process is .* GiB are free"):
        evaluate(times=4)
    before = optimizer.state_dict()["data"]["rows"]
    info.write_text("MemAvailable:  1048576 kB\n")
    evaluate(times=1)
    after = optimizer.state_dict()["data"]["rows"]
    np.testing.assert_array_equal(after[: len(before)], before)
    assert optimizer.best().shape == (5,)
