"""Environments by Hypothesis: of any spaces and habits, each is played or refused in a sentence."""

from typing import Any, Final

import gymnasium
import numpy as np
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

from rolecast.core.errors import RequestError, RunError
from rolecast.envs.check import check_task
from rolecast.envs.registry import make_task
from rolecast.platform.rollout.rollout import rollout
from rolecast.policies.registry import make_policy

SPACES: Final = st.recursive(
    st.sampled_from(
        [
            spaces.Box(-1.0, 1.0, (2,)),
            spaces.Box(-np.inf, np.inf, (1, 3)),
            spaces.Box(0, 255, (2, 2), dtype=np.uint8),
            spaces.Box(-1.0, 1.0, ()),
            spaces.Discrete(3),
            spaces.Discrete(2, start=-1),
            spaces.MultiBinary(3),
            spaces.MultiDiscrete([2, 3]),
            spaces.Text(3),
        ]
    ),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(spaces.Tuple),
        st.dictionaries(st.sampled_from("ab"), inner, min_size=1).map(spaces.Dict),
    ),
    max_leaves=3,
)
NUMBERS: Final = st.sampled_from(
    [0.0, 1.0, -1.0, 1e308, float("nan"), float("inf"), True, "x", None, [1.0]]
)
FAULTS: Final = st.sampled_from(["", "raise", "exit", "short", "foreign", "none", "endless"])


class Generated(gymnasium.Env[Any, Any]):
    """Samples what it shows; does something wrong from its third step on."""

    def __init__(self, seen: Any, acted: Any, reward: Any, fault: str, length: int) -> None:
        self.observation_space, self.action_space = seen, acted
        self.reward, self.fault, self.length = reward, fault, length
        self.steps = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.observation_space.seed(seed)
        self.steps = 0
        return self.observation_space.sample(), {}

    def step(self, action: Any) -> Any:
        self.steps += 1
        seen, late = self.observation_space.sample(), self.steps >= 3
        over = self.steps >= self.length and self.fault != "endless"
        if late and self.fault == "raise":
            raise KeyError("two\nlines")
        if late and self.fault == "exit":
            raise SystemExit("licence")
        if late and self.fault == "short":
            return seen, 0.0
        if late and self.fault in {"foreign", "none"}:
            seen = object() if self.fault == "foreign" else None
        return seen, self.reward if late else 0.5, over, False, {}


@settings(max_examples=40, deadline=None, derandomize=True)
@given(seen=SPACES, acted=SPACES, reward=NUMBERS, fault=FAULTS, length=st.integers(1, 6))
def test_any_environment_is_played_or_refused_in_a_sentence(
    seen: Any, acted: Any, reward: Any, fault: str, length: int
) -> None:
    def make() -> Generated:
        return Generated(seen, acted, reward, fault, length)

    said, returns = "", np.zeros(1)
    try:
        report = check_task(make, horizon=8)
        assert all("\n" not in each.detail for each in report.checks)
        task = make_task(make, horizon=8)
        policy = make_policy("linear", task)
        weights = policy.space.weights(np.full((1, policy.space.dimension), 0.3))
        returns = rollout(task, policy, weights, np.arange(2)).returns
    except (RequestError, RunError) as error:
        said = str(error)
    assert "\n" not in said
    assert np.isfinite(returns).all()
