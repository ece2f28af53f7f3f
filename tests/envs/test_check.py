import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from rolecast.core.errors import RequestError
from rolecast.envs import check
from rolecast.envs.check import CheckReport, check_task
from rolecast.envs.spec import TaskSpec


class Suspect(gymnasium.Env[Any, Any]):
    """An environment with one habit that breaks the contract."""

    observation_space = spaces.Box(-np.inf, np.inf, (1,))
    action_space = spaces.Box(-1.0, 1.0, (1,))
    made = 0

    def __init__(self, habit: str) -> None:
        self.habit = habit
        Suspect.made += 1
        self.number = Suspect.made
        self.steps = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=None if self.habit == "unseeded" else seed)
        self.steps = 0
        return np.array([self.np_random.random()]), {}

    def step(self, action: Any) -> Any:
        self.steps += 1
        if self.habit == "raises":
            raise RuntimeError("out of fuel")
        reward = np.inf if self.habit == "infinite" and self.steps == 4 else float(action[0])
        reward = 1.0 if self.habit == "steady" else reward
        reward = 1e308 if self.habit == "huge" else reward
        reward = 0.0 if self.habit == "barren" else reward
        shown = float(self.number) if self.habit == "numbered" else float(self.steps)
        return np.array([shown]), reward, False, False, {}


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """The count of steps per second may end at once."""
    monkeypatch.setattr(check, "MOST_SECONDS", 0.02)


def failed(report: CheckReport) -> list[str]:
    return [found.name for found in report.checks if not found.ok]


@pytest.mark.parametrize(
    "task",
    [
        "pred_prey_3",
        "het_pred_prey_6?observation=full",
        "pred_prey_3?sparse=5&delay=2&noise=0.1&flip=0.1&drop=0.1",
        "gym:Pendulum-v1",
        "gym:CartPole-v1",
        "gym:Hopper-v5",
        "pettingzoo:mpe2.simple_spread_v3?N=3&continuous_actions=true",
    ],
)
def test_good_tasks_pass(task: str) -> None:
    report = check_task(task)
    assert report.ok, failed(report)
    payment = ["payment"] if "sparse" in task else []
    symmetries = ["symmetries"] if "pred_prey" in task else []
    team = ["team"] if "pettingzoo" in task else []
    assert [found.name for found in report.checks] == [
        "spaces",
        "seeding",
        "rewards",
        *team,
        *payment,
        "batch",
        *symmetries,
        "speed",
    ]
    assert all(found.detail for found in report.checks)


@pytest.mark.parametrize(
    ("habit", "names", "detail"),
    [
        ("unseeded", ["seeding", "batch"], "different trajectories"),
        ("infinite", ["rewards"], "reward of step 4 in the episode of seed 11 is inf"),
        ("huge", ["rewards"], "; expected returns of at most 1e+100 in size"),
        ("numbered", ["batch"], "alone and beside others"),
        ("raises", ["run"], "raised RuntimeError (out of fuel) in step 1"),
    ],
)
def test_each_fault_is_found_by_its_check(habit: str, names: list[str], detail: str) -> None:
    report = check_task(Suspect, habit=habit, horizon=6)
    assert not report.ok
    assert failed(report) == names
    assert detail in next(found.detail for found in report.checks if not found.ok)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"sparse": 4}, "with sparse=4 a learner is paid 67% of what"),
        ({"delay": 2}, "with delay=2 a learner is paid 67% of what"),
        ({"sparse": 4, "delay": 2}, "with sparse=4, delay=2 a learner is paid 33% of what"),
        (
            {"sparse": 4, "flush_on_end": True},
            "with sparse=4, flush_on_end=True a learner is paid 100%",
        ),
        ({"drop": 0.25}, "with drop=0.25 a learner is paid 75% of what"),
        ({"sparse": 7}, "nothing is ever paid in 6 steps"),
        ({"delay": 6}, "nothing is ever paid in 6 steps"),
        ({"drop": 1}, "nothing is ever paid in 6 steps"),
    ],
)
def test_the_share_of_the_reward_that_is_paid_is_told(settings: Any, said: str) -> None:
    report = check_task(Suspect, habit="steady", horizon=6, **settings)
    payment = next(found for found in report.checks if found.name == "payment")
    assert said in payment.detail
    assert payment.ok == report.ok == ("nothing" not in said)


@pytest.mark.parametrize(
    ("settings", "share"), [({"delay": 300}, 70), ({"sparse": 500}, 100), ({"delay": 150}, 85)]
)
def test_the_share_of_an_episode_that_is_longer_than_the_check(settings: Any, share: int) -> None:
    report = check_task(Suspect, habit="steady", horizon=1000, **settings)
    payment = next(found for found in report.checks if found.name == "payment")
    assert f"a learner is paid {share}% of what random actions earn" in payment.detail


def test_a_share_of_nothing_is_unknown() -> None:
    report = check_task(Suspect, habit="barren", horizon=6, sparse=4)
    payment = next(found for found in report.checks if found.name == "payment")
    assert "random actions earn nothing, so the share that is paid is unknown" in payment.detail


class Batched:
    """A batched task of a user that fails in its third step."""

    spec = TaskSpec(id="mine", agents=1, observation_size=2, action_size=1, horizon=5)

    def __init__(self, fault: str) -> None:
        self.fault, self.steps = fault, 0

    def reset(self, seeds: Any) -> Any:
        self.steps = 0
        return np.zeros((len(seeds), 1, 2))

    def step(self, actions: Any) -> Any:
        self.steps += 1
        batch = len(actions)
        if self.steps == 3 and self.fault == "raises":
            raise KeyError("fuel")
        if self.steps == 3 and self.fault == "exits":
            sys.exit(0)
        size = 3 if self.steps == 3 and self.fault == "ragged" else 2
        shape = (batch, 1) if self.fault == "column" else batch
        reward: Any = 1.0 if self.fault == "scalar" else np.ones(shape)
        done = np.full(batch, self.steps >= 5)
        return (
            np.zeros((batch, 1, size)),
            reward,
            done.astype(int if self.fault == "int" else bool),
            {},
        )

    def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("fault", "detail"),
    [
        ("raises", "the task raised KeyError ('fuel'); expected none"),
        ("exits", "the task raised SystemExit (0); expected none"),
        ("ragged", "the task raised ValueError (setting an array element"),
        ("scalar", "task 'mine' returned float for rewards in step 1; expected an array (3,) of"),
        ("column", "task 'mine' returned an array (3, 1) of float64 for rewards in step 1; expect"),
        ("int", "task 'mine' returned an array (3,) of int64 for done in step 1; expected an arr"),
    ],
)
def test_an_error_of_a_batched_task_is_a_failed_check(fault: str, detail: str) -> None:
    (found,) = check_task(lambda: Batched(fault)).checks
    assert (found.name, found.ok) == ("run", False)
    assert found.detail.startswith(detail)


def test_one_environment_for_all_episodes_is_a_failed_check() -> None:
    env = Suspect("steady")
    report = check_task(lambda: env, horizon=6)
    assert failed(report) == ["run"]
    assert "expected a new environment from each call" in report.checks[0].detail


def test_a_task_that_cannot_be_made_is_a_wrong_request() -> None:
    with pytest.raises(RequestError, match="does not exist"):
        check_task("pred_pray_3")


class Reusing(Batched):
    """Writes each step into the arrays of the first, and differs from play to play."""

    def __init__(self) -> None:
        super().__init__("none")
        self.random = np.random.default_rng(0)

    def reset(self, seeds: Any) -> Any:
        self.steps, self.seen = 0, np.zeros((len(seeds), 1, 2))
        return self.seen

    def step(self, actions: Any) -> Any:
        self.steps += 1
        self.seen[:] = self.random.random() if self.steps < 5 else 0.0
        return self.seen, np.ones(len(actions)), np.full(len(actions), self.steps >= 5), {}


def test_what_a_task_writes_over_is_compared_as_it_was() -> None:
    assert failed(check_task(Reusing)) == ["seeding", "batch"]


class Picture(gymnasium.Env[Any, Any]):
    """Shows brightness from 0 to a limit."""

    action_space = spaces.Box(-1.0, 1.0, (1,))

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.observation_space = spaces.Box(0, limit, (4, 4), np.uint8)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return self.look(), {}

    def look(self) -> Any:
        return self.np_random.integers(0, self.limit, (4, 4)).astype(np.uint8)

    def step(self, action: Any) -> Any:
        return self.look(), 0.0, False, False, {}


@pytest.mark.parametrize(("limit", "warned"), [(255, True), (8, False)])
def test_observations_that_policies_clip_are_warned_of(limit: int, warned: bool) -> None:
    report = check_task(Picture, limit=limit, horizon=6)
    found = report.checks[0]
    assert report.ok
    assert found.warning == warned
    assert ("% of the numbers observed are outside +-10" in found.detail) == warned


class Masked(Suspect):
    """Shows which of its choices are legal, and refuses the others in one way."""

    observation_space: Any = spaces.Dict(
        {"observation": spaces.Box(-1.0, 1.0, (1,)), "action_mask": spaces.MultiBinary(3)}
    )
    action_space: Any = spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        return self.shown(super().reset(seed=seed)[0]), {}

    def step(self, action: Any) -> Any:
        if self.habit == "strict" and action:
            raise ValueError(f"illegal choice {action}")
        seen, *rest = super().step([float(action)])
        return (self.shown(seen), *rest)

    def shown(self, seen: Any) -> dict[str, Any]:
        return {"observation": 0.0 * seen, "action_mask": np.array([1, 0, 0], np.int8)}


@pytest.mark.parametrize("habit", ["none", "strict"])
def test_an_action_mask_is_warned_of_also_where_the_task_fails_by_it(habit: str) -> None:
    report = check_task(Masked, habit=habit, horizon=6)
    first = report.checks[0]
    assert (first.name, first.ok, first.warning) == ("masks", True, True)
    assert "'action_mask', which is read as numbers and not obeyed" in first.detail
    assert report.ok == (habit == "none")
    assert "masks" not in [each.name for each in check_task("gym:CartPole-v1").checks]
