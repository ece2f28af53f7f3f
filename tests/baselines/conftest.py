"""What tests of learners share: a learner without a cluster, and batches of transitions.

RLlib is loaded where a learner is made: fast tests read this file too.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from rolecast.envs.spec import TaskSpec

if TYPE_CHECKING:
    from rolecast.baselines.rllib.algorithm import OffPolicyConfig
    from rolecast.baselines.rllib.replay import Batch


def settings_it_has(name: str, **settings: Any) -> dict[str, Any]:
    """Return those of some settings, shared by tests of several algorithms, that one has."""
    from rolecast.baselines.registry import algorithm_config

    return {each: settings[each] for each in settings if each in algorithm_config(name).RULES}


def make_learner(
    config: "OffPolicyConfig",
    agents: int,
    observed: int,
    acted: int,
    state: int = 0,
    own_sizes: tuple[int, ...] | None = None,
) -> Any:
    """Return a built learner for n agents that observe and act with so many numbers.

    The state has `state` numbers, 0 where the task has none; `own_sizes` of the `acted` numbers are
    each agent's own, None for all.
    """
    from ray.rllib.core import DEFAULT_MODULE_ID

    from rolecast.baselines.rllib.environments import joint_spaces

    spec = TaskSpec(
        id="none", agents=agents, observation_size=observed, action_size=acted, horizon=9
    )
    config.check_settings()
    torch.manual_seed(0 if config.seed is None else config.seed)
    spaces: Any = {DEFAULT_MODULE_ID: joint_spaces(spec, state, own_sizes)}
    module = config.get_multi_rl_module_spec(spaces=spaces, inference_only=False)
    learner = config.LEARNER(config=config, module_spec=module)
    learner.build()
    return learner


def make_batch(
    size: int, agents: int, observed: int, acted: int, seed: int = 0, state: int = 0
) -> "Batch":
    """Return N random transitions, about a third of them terminal."""
    rng = np.random.default_rng(seed)
    columns = {
        "observations": rng.standard_normal((size, agents, observed)),
        "actions": rng.uniform(-1.0, 1.0, (size, agents, acted)),
        "rewards": rng.standard_normal((size, agents)),
        "next_observations": rng.standard_normal((size, agents, observed)),
        "terminated": rng.uniform(size=size) < 0.3,
        "states": rng.standard_normal((size, state)),
        "next_states": rng.standard_normal((size, state)),
    }
    return {name: np.asarray(rows, dtype=np.float32) for name, rows in columns.items()}


def tensors(batch: "Batch") -> dict[str, torch.Tensor]:
    """Return a batch as a learner sees it."""
    return {name: torch.from_numpy(rows) for name, rows in batch.items()}


def fill(network: torch.nn.Module, value: float) -> None:
    """Make a perceptron return a constant: its last bias."""
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
        list(network.parameters())[-1].fill_(value)
