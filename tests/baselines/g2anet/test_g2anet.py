"""G2ANet as a learner: sizes, the random numbers of its loss, and what attention can learn."""

from typing import Any

import numpy as np
import pytest
import torch

from rolecast.baselines.g2anet.actor import AttentionActor
from rolecast.baselines.g2anet.config import G2ANetConfig
from rolecast.baselines.registry import algorithm_config
from rolecast.baselines.rllib.networks import NETWORK_SIZES
from rolecast.baselines.rllib.replay import Batch
from rolecast.core.errors import ConfigError
from tests.baselines.conftest import make_batch, make_learner, tensors

AGENTS, OBSERVED, ACTED = 3, 16, 2


def learner(agents: int = AGENTS, **settings: Any) -> Any:
    config = G2ANetConfig().training(critic_hidden=(5,), **settings)
    return make_learner(config, agents, OBSERVED, ACTED)


def counted(one: Any) -> int:
    modules = one.net.acting_modules()
    return sum(parameter.numel() for module in modules for parameter in module.parameters())


def test_a_small_policy_has_as_many_weights_as_those_of_other_learners() -> None:
    other = algorithm_config("maddpg")().training(size="small")
    most = counted(make_learner(other, AGENTS, OBSERVED, ACTED))
    assert (counted(learner(size="small")), most) == (473, 478)
    told_apart = algorithm_config("maddpg")().training(size="small", agent_id=True)
    most = counted(make_learner(told_apart, AGENTS, OBSERVED, ACTED))
    assert 0.9 * most < counted(learner(size="small", agent_id=True)) <= most


@pytest.mark.parametrize(
    ("settings", "widths"),
    [
        ({"size": "paper"}, (64, 32, 32)),
        ({"size": "xl"}, (400, 200, 200)),
        ({"hidden": (7, 5)}, (5, 2, 2)),
        ({"hidden": (1,)}, (1, 1, 1)),
    ],
)
def test_queries_keys_and_gates_are_half_as_wide_as_the_encoding(
    settings: dict[str, Any], widths: tuple[int, ...]
) -> None:
    net = learner(**settings).net.actor
    found = net.head.in_features // 2, net.query.out_features, net.gate_hidden.out_features
    assert found == widths
    assert net(torch.zeros(4, AGENTS, OBSERVED)).shape == (4, AGENTS, ACTED)


@pytest.mark.parametrize(
    ("settings", "horizon", "widths"),
    [
        ({}, 25, [64]),
        ({}, 200, [400, 400]),
        ({"size": "xl"}, 25, [400, 400]),
        ({"hidden": (64, 64)}, 25, [64, 64]),
    ],
)
def test_the_encoder_suits_the_horizon(
    settings: dict[str, Any], horizon: int, widths: list[int]
) -> None:
    config = G2ANetConfig().training(critic_hidden=(5,), **settings).suit(horizon)
    encoder = make_learner(config, AGENTS, OBSERVED, ACTED).net.actor.encoder
    assert [layer.out_features for layer in encoder if isinstance(layer, torch.nn.Linear)] == widths


@pytest.mark.parametrize("horizon", [25, 200])
@pytest.mark.parametrize(
    "settings", [{"size": name} for name in NETWORK_SIZES] + [{"hidden": (7,)}]
)
def test_a_single_agent_has_the_policy_of_maddpg(settings: dict[str, Any], horizon: int) -> None:
    one, other = (
        make_learner(
            algorithm_config(name)().training(critic_hidden=(5,), **settings).suit(horizon),
            1,
            OBSERVED,
            ACTED,
        )
        for name in ("g2anet", "maddpg")
    )
    assert not isinstance(one.net.actor, AttentionActor)
    found, wanted = (list(each.net.actor.state_dict().values()) for each in (one, other))
    for mine, theirs in zip(found, wanted, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=0, atol=0)
    one.update_fast([make_batch(8, 1, OBSERVED, ACTED)])
    assert one.updates == 1


def test_the_loss_of_the_policy_draws_its_gates_from_the_learners_generator() -> None:
    one = learner(hidden=(8,))
    batch = tensors(make_batch(50, AGENTS, OBSERVED, ACTED))
    torch.manual_seed(1)
    kept = one.generator.get_state()
    first, second = one.actor_loss(batch).item(), one.actor_loss(batch).item()
    assert first != second
    torch.manual_seed(2)
    one.generator.set_state(kept)
    assert (one.actor_loss(batch).item(), one.actor_loss(batch).item()) == (first, second)
    acted = one.net.act(batch["observations"])
    assert torch.equal(acted, one.net.act(batch["observations"]))


def test_a_restored_learner_takes_the_steps_of_the_original() -> None:
    batches = [make_batch(20, AGENTS, OBSERVED, ACTED, seed=seed) for seed in range(6)]
    original, restored = learner(hidden=(8,)), learner(hidden=(8,))
    original.update_fast(batches[:3])
    state = original.get_state()
    original.update_fast(batches[3:])
    restored.update_fast(batches[:1])
    restored.set_state(state)
    restored.update_fast(batches[3:])
    for old, new in zip(original.net.parameters(), restored.net.parameters(), strict=True):
        torch.testing.assert_close(old, new, rtol=0, atol=0)


def test_the_temperature_of_the_gates_is_the_configs() -> None:
    assert learner(hidden=(8,), gate_temperature=0.25).net.actor.temperature == 0.25
    with pytest.raises(ConfigError, match=r"gate_temperature is 0.0; expected a number > 0"):
        G2ANetConfig().training(gate_temperature=0.0).check_settings()


def told_by_another(rows: int, seed: int) -> Batch:
    """Return transitions of two agents, each paid for acting as the other observes."""
    batch = make_batch(rows, 2, 1, 1, seed=seed)
    signs = np.sign(batch["observations"])
    wanted = 0.7 * signs[:, ::-1]
    rewards = 1.0 - np.square(batch["actions"] - wanted)[..., 0]
    over = np.ones(rows, dtype=np.float32)
    return {**batch, "observations": signs, "rewards": rewards, "terminated": over}


@pytest.mark.parametrize(("name", "lowest", "highest"), [("g2anet", 0.9, 1.0), ("maddpg", 0, 0.55)])
def test_what_only_another_agent_observes_is_learnt_by_attention_alone(
    name: str, lowest: float, highest: float
) -> None:
    """Without a word from the other, an agent does best by 0, which pays 1 - 0.49 = 0.51."""
    config = algorithm_config(name)().training(
        hidden=(12,), critic_hidden=(32,), actor_lr=0.01, critic_lr=0.01
    )
    one = make_learner(config, agents=2, observed=1, acted=1)
    one.update_fast([told_by_another(128, seed) for seed in range(600)])
    test = tensors(told_by_another(500, seed=1000))
    acted = one.net.act(test["observations"]).detach()
    wanted = 0.7 * test["observations"].flip(1)
    assert lowest <= 1.0 - (acted - wanted).square().mean().item() <= highest
