"""What cannot fit in memory is one sentence before anything is made."""

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rolecast.baselines.methods import METHODS
from rolecast.core import memory
from rolecast.core.errors import ConfigError, RequestError
from rolecast.core.memory import readable_bytes, require_room
from rolecast.envs.registry import make_task
from rolecast.envs.rewards.settings import split_options
from rolecast.envs.spec import TaskSpec
from rolecast.platform.rollout.held_out import HeldOut
from rolecast.platform.search.planning.config import SearchConfig
from rolecast.platform.search.planning.plan import make_plan
from rolecast.platform.tuning.comparison import compare
from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.methods import LearnerMethod, SearchMethod
from rolecast.platform.tuning.plan_checks import check_memory

HUGE_NUMBERS = (99_999_999_999, 10**23, 10**40)


@pytest.fixture(autouse=True)
def gigabyte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "meminfo"
    info.write_text("MemAvailable:  1048576 kB\n")
    monkeypatch.setattr(memory, "MEMORY_INFO", info)
    monkeypatch.setattr(memory, "CGROUP_FOLDER", tmp_path)


def test_what_fits_passes_and_what_does_not_is_told_with_both_sizes() -> None:
    require_room("a.b", 3, 2**30)
    with pytest.raises(ConfigError) as refused:
        require_room("a.b", 4, 3 * 2**40, "fewer")
    said = "a.b is 4; expected fewer: it needs 3.0 TiB of memory, and 1.0 GiB are free"
    assert str(refused.value) == said


@pytest.mark.parametrize(
    ("size", "said"),
    [(3 * 2**19, "1.5 MiB"), (2**40, "1.0 TiB"), (2**100, "over 1,048,576 PiB")],
)
def test_sizes_are_read_in_the_unit_that_suits_them(size: int, said: str) -> None:
    assert readable_bytes(size) == said


@pytest.mark.parametrize("number", HUGE_NUMBERS)
@pytest.mark.parametrize("field", ["episodes", "test_episodes"])
def test_a_search_of_too_many_episodes_is_refused_before_it_starts(field: str, number: int) -> None:
    request: dict[str, Any] = {"episodes": 2, field: number}
    config = SearchConfig(task="pred_prey_3", optimizer="random", evaluations=20, **request)
    with pytest.raises(ConfigError, match=rf"^SearchConfig\.{field} is \d+; expected fewer: it"):
        make_plan(config)


def test_a_batch_is_no_larger_than_its_budget_when_its_memory_is_counted() -> None:
    make_plan(
        SearchConfig(task="pred_prey_3", optimizer="random", evaluations=20, batch_size=10**15)
    )
    with pytest.raises(ConfigError, match=r"^SearchConfig\.batch_size is \d+; expected fewer"):
        make_plan(
            SearchConfig(
                task="pred_prey_3", optimizer="random", evaluations=10**15, batch_size=10**15
            )
        )


@pytest.mark.parametrize("number", HUGE_NUMBERS)
def test_an_evaluation_of_too_many_episodes_is_refused(number: int) -> None:
    with pytest.raises(ConfigError, match=r"^evaluate\.episodes is \d+; expected fewer: it needs"):
        HeldOut(episodes=number)


@pytest.mark.parametrize(
    ("task", "name", "numbers"),
    [
        ("hopper", "td3", 2 * 11 + 3 + 1 + 1),
        ("pred_prey_3", "facmac", 3 * (2 * 16 + 2 + 1) + 1),
        ("ma_hopper_3x1?obs=own", "facmac", 3 * (2 * 2 + 1 + 1) + 2 * 11 + 1),
        ("ma_hopper_3x1?obs=own", "isac", 3 * (2 * 2 + 1 + 1) + 1),
    ],
)
def test_a_replay_that_no_memory_holds_is_refused_before_a_comparison(
    task: str, name: str, numbers: int
) -> None:
    """A gigabyte is free, each number takes four bytes, and a checkpoint has a copy."""
    fits = 2**30 // (2 * 4 * numbers)

    def check(capacity: int, env_steps: int) -> None:
        learner = LearnerMethod(algorithm=name, settings={"replay_capacity": capacity})
        experiment = Experiment(
            name="replay", tasks=(task,), methods=(learner,), env_steps=env_steps
        )
        check_memory(experiment, experiment.trials(), {})

    check(fits, 10**12)
    check(10**12, fits)
    with pytest.raises(RequestError, match=r"replay_capacity is \d+; expected fewer: it needs 1.0"):
        check(fits + 1, fits + 1)


class Hoarder:
    """A user's learner that no memory holds."""

    def check(self, task: TaskSpec, settings: Mapping[str, Any]) -> None:
        assert not settings

    def check_memory(self, task: TaskSpec, settings: Mapping[str, Any], env_steps: int) -> None:
        raise ConfigError("Hoarder.hoard", env_steps, "fewer")


def test_a_learner_of_a_user_may_refuse_what_memory_does_not_hold(tmp_path: Path) -> None:
    """Where it is to be trained; one that says nothing of memory passes."""
    learner = LearnerMethod(algorithm="hoarder")
    search = SearchMethod(optimizer="random", policy="linear")
    given = Experiment(
        name="hoard", tasks=("swimmer",), methods=(learner, search), env_steps=10_000
    )
    methods: Any = {"hoarder": Hoarder()}
    told = r"^hoarder on swimmer, dense: Hoarder\.hoard is 10000; expected fewer"
    with pytest.raises(RequestError, match=told):
        compare(given, methods=methods, out=tmp_path / "refused")
    assert not (tmp_path / "refused").exists()
    only_searches = [plan for plan in given.trials() if plan.method != "hoarder"]
    check_memory(given, only_searches, methods)
    bare: Any = {"hoarder": SimpleNamespace(check=methods["hoarder"].check)}
    check_memory(given, given.trials(), bare)


def test_a_learner_without_a_replay_needs_no_memory_for_its_budget() -> None:
    METHODS["ppo"].check_memory(make_task("hopper").spec, {}, 10**12)


@pytest.mark.parametrize("task", ["pred_prey_999999", "drone_delivery_999999"])
def test_a_team_that_no_memory_holds_is_refused(task: str) -> None:
    with pytest.raises(ConfigError, match=r"is 999999; expected fewer: it needs [\d.]+ TiB"):
        make_task(task)


@pytest.mark.parametrize("name", ["sparse", "delay"])
def test_steps_that_no_kernel_counts_are_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=rf"^RewardSettings\.{name} is 9+; expected at most"):
        split_options({name: 10**21 - 1})


@pytest.mark.parametrize("out", ["", "bad\udcffname"])
def test_a_folder_without_a_name_or_not_in_utf8_is_refused(out: str) -> None:
    with pytest.raises(ConfigError, match=r"^SearchConfig\.out is .*; expected text"):
        SearchConfig(task="pred_prey_3", out=out)
