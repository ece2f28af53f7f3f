"""What holds for the losses and steps of every off-policy method, whatever its formula."""

from typing import Any, Final

import pytest
import torch
from ray.rllib.core import DEFAULT_MODULE_ID
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from rolecast.baselines.registry import algorithm_config
from tests.baselines.conftest import make_batch, make_learner, settings_it_has, tensors

SINGLE: Final = ("ddpg", "sac", "td3")
TEAMS: Final = ("comix", "covdn", "facmac", "g2anet", "iddpg", "isac", "maddpg", "masac", "matd3")
WITH_EXACT_ACTOR: Final = ("ddpg", "facmac", "isac", "maddpg", "masac", "matd3", "sac", "td3")
WITH_ACTOR: Final = (*WITH_EXACT_ACTOR, "g2anet")
WITH_SLOW_ACTOR: Final = ("ddpg", "facmac", "g2anet", "maddpg", "matd3", "td3")
OBSERVED, ACTED = 3, 2


def learner(name: str, **settings: Any) -> Any:
    nets = settings_it_has(name, hidden=(6, 5), critic_hidden=(5,))
    config = algorithm_config(name)().training(**nets, **settings)
    return make_learner(config, agents_of(name), OBSERVED, ACTED)


def agents_of(name: str) -> int:
    return 1 if name in SINGLE else 3


def batch_of(name: str, size: int = 12) -> dict[str, torch.Tensor]:
    return tensors(make_batch(size, agents_of(name), OBSERVED, ACTED))


def critic_loss(one: Any, batch: dict[str, torch.Tensor]) -> float:
    """Return the loss with the same random numbers each time."""
    one.generator.manual_seed(7)
    return float(one.critic_loss(batch).detach())


def moved(module: torch.nn.Module, seed: int) -> None:
    """Change all weights of a network."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator))


@pytest.mark.parametrize("name", ["facmac", "iddpg", "maddpg"])
def test_the_penalty_is_of_actions_and_not_of_padding(name: str) -> None:
    """Of three agents with 1, 2 and 2 numbers."""
    nets, batch = settings_it_has(name, hidden=(6, 5), critic_hidden=(5,)), batch_of(name)
    free, fined = (
        make_learner(
            algorithm_config(name)().training(**nets, action_penalty=penalty),
            *(3, OBSERVED, ACTED),
            own_sizes=(1, 2, 2),
        )
        for penalty in (0.0, 2.0)
    )
    squares = free.net.act(batch["observations"]).square()
    squares[:, 0, 1] = 0.0
    fine = fined.actor_loss(batch) - free.actor_loss(batch)
    assert fine.item() == pytest.approx(2.0 * squares.sum().item() / (12 * 5), rel=1e-3)


@pytest.mark.parametrize("name", [*SINGLE, *TEAMS])
def test_what_follows_counts_after_a_truncation_and_not_after_a_termination(name: str) -> None:
    """A time limit leaves `terminated` at 0; nothing else of a transition tells of it."""
    one = learner(name)
    batch = batch_of(name)
    other = batch | {"next_observations": batch["next_observations"] + 1.0}
    for terminated, counts in ((0.0, True), (1.0, False)):
        ends = {"terminated": torch.full((12,), terminated)}
        same = critic_loss(one, batch | ends) == critic_loss(one, other | ends)
        assert same != counts


@pytest.mark.parametrize("name", [*SINGLE, *TEAMS])
def test_without_discount_only_the_reward_is_learnt(name: str) -> None:
    one = learner(name, gamma=0.0)
    batch = batch_of(name)
    running, over = ({"terminated": torch.full((12,), flag)} for flag in (0.0, 1.0))
    assert critic_loss(one, batch | running) == critic_loss(one, batch | over)


@pytest.mark.parametrize("name", [*SINGLE, *TEAMS])
def test_the_targets_are_those_of_the_slow_critic(name: str) -> None:
    """COVDN's critic is a sum without weights; its slow utility is the slow actor."""
    one = learner(name)
    batch = batch_of(name) | {"terminated": torch.zeros(12)}
    before = critic_loss(one, batch)
    moved(one.net.targets["actor" if name == "covdn" else "critic"], seed=1)
    assert critic_loss(one, batch) != before
    terminal = batch | {"terminated": torch.ones(12)}
    before = critic_loss(one, terminal)
    moved(one.net.targets, seed=2)
    assert critic_loss(one, terminal) == before


@pytest.mark.parametrize("name", WITH_SLOW_ACTOR)
def test_what_follows_is_done_by_the_slow_policy(name: str) -> None:
    one = learner(name)
    batch = batch_of(name) | {"terminated": torch.zeros(12)}
    before = critic_loss(one, batch)
    moved(one.net.actor, seed=1)
    assert critic_loss(one, batch) == before
    moved(one.net.targets["actor"], seed=1)
    assert critic_loss(one, batch) != before


@pytest.mark.parametrize("name", [*SINGLE, *TEAMS])
def test_the_loss_of_the_critic_moves_no_target(name: str) -> None:
    one = learner(name)
    assert not any(parameter.requires_grad for parameter in one.net.targets.parameters())
    slow = [parameter.clone() for parameter in one.net.targets.parameters()]
    one.step("critic", one.critic_loss(batch_of(name)))
    for before, after in zip(slow, one.net.targets.parameters(), strict=True):
        torch.testing.assert_close(before, after, rtol=0, atol=0)


@pytest.mark.parametrize("name", WITH_ACTOR)
def test_policy_and_critic_take_their_steps_apart(name: str) -> None:
    """Nor does the gradient that the policy's loss leaves behind reach the critic's next step."""
    one = learner(name)
    parts = {"actor": one.net.actor, "critic": one.net.critic}
    for due, loss in (("critic", one.critic_loss), ("actor", one.actor_loss)):
        before = {part: [p.clone() for p in module.parameters()] for part, module in parts.items()}
        one.step(due, loss(batch_of(name)))
        changed = {
            part
            for part, module in parts.items()
            for old, new in zip(before[part], module.parameters(), strict=True)
            if (old != new).any()
        }
        assert changed == {due}
    assert all(parameter.grad is not None for parameter in one.net.critic.parameters())
    kept = [parameter.grad.clone() for parameter in one.net.critic.parameters()]
    one.step("actor", one.actor_loss(batch_of(name)))
    for old, parameter in zip(kept, one.net.critic.parameters(), strict=True):
        torch.testing.assert_close(parameter.grad, old, rtol=0, atol=0)


@pytest.mark.parametrize("name", [*SINGLE, *TEAMS])
def test_every_target_goes_a_share_of_the_way_to_the_network_it_follows(name: str) -> None:
    one = learner(name, tau=0.25, policy_delay=2)
    net = one.net
    followed = {part: getattr(net, part) for part in net.targets}
    assert set(followed) == ({"critic"} if "sac" in name else {"actor", "critic"})
    for part in net.targets:
        moved(net.targets[part], seed=3)
    slow = {part: [p.clone() for p in net.targets[part].parameters()] for part in followed}
    batches = [make_batch(12, agents_of(name), OBSERVED, ACTED)]
    one.update_fast(batches)
    for part in followed:  # not at the first of two updates
        for old, now in zip(slow[part], net.targets[part].parameters(), strict=True):
            torch.testing.assert_close(now, old, rtol=0, atol=0)
    one.update_fast(batches)
    for part, module in followed.items():
        for old, now, fast in zip(
            slow[part], net.targets[part].parameters(), module.parameters(), strict=True
        ):
            torch.testing.assert_close(now, 0.75 * old + 0.25 * fast, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", [*SINGLE, *TEAMS])
def test_a_gradient_is_clipped_in_norm_and_keeps_its_way(name: str) -> None:
    one = learner(name, grad_clip=0.01)
    _, parameters = one._groups["critic"]
    batch = batch_of(name) | {"rewards": torch.full((12, agents_of(name)), 100.0)}
    one.generator.manual_seed(7)
    wanted = torch.cat(
        [g.flatten() for g in torch.autograd.grad(one.critic_loss(batch), parameters)]
    )
    one.generator.manual_seed(7)
    one.step("critic", one.critic_loss(batch))
    found = torch.cat([parameter.grad.flatten() for parameter in parameters])
    assert wanted.norm() > 0.02
    torch.testing.assert_close(found, 0.01 * wanted / wanted.norm(), rtol=1e-3, atol=1e-7)


@pytest.mark.parametrize("name", [*SINGLE, *TEAMS])
def test_explored_actions_stay_within_their_limits(name: str) -> None:
    one = learner(name)
    net = one.net
    net.settings["exploration_noise"] = 5.0
    observations = torch.zeros(40, agents_of(name), OBSERVED)
    memory = torch.zeros(40, agents_of(name), ACTED)
    actions = torch.stack(
        [net.explore(observations, memory, torch.Generator().manual_seed(s)) for s in range(9)]
    )
    assert actions.abs().max() <= 1.0
    assert actions.std() > 0.1


@pytest.mark.parametrize(
    ("name", "part"),
    [
        *((name, part) for name in WITH_EXACT_ACTOR for part in ("critic", "actor")),
        ("g2anet", "critic"),
    ],
)
def test_the_gradient_of_a_step_is_the_slope_of_its_loss(name: str, part: str) -> None:
    """Central differences in float64, along a random direction: nothing is detached by mistake.

    G2ANet's gates are steps, whose gradient is an estimate; see its own tests for the rest.
    """
    wide = {"last_layer": None} if name == "ddpg" else {}  # small ones have too small a slope
    one = learner(name, **wide)
    one.net.double()
    one.configure_optimizers_for_module(DEFAULT_MODULE_ID)
    batch = {column: rows.double() for column, rows in batch_of(name).items()}
    _, parameters = one._groups[part]
    weights = parameters_to_vector(parameters).detach()
    direction = torch.randn(weights.shape, generator=torch.Generator().manual_seed(1)).double()

    def loss(step: float) -> torch.Tensor:
        vector_to_parameters(weights + step * direction, parameters)
        one.generator.manual_seed(3)
        found: torch.Tensor = getattr(one, f"{part}_loss")(batch)
        return found

    slope = (loss(1e-6) - loss(-1e-6)).item() / 2e-6
    gradient = torch.autograd.grad(loss(0.0), parameters)
    assert abs(slope) > 1e-3
    assert parameters_to_vector(gradient) @ direction == pytest.approx(slope, rel=1e-5)


@pytest.mark.parametrize("name", WITH_ACTOR)
def test_a_subclass_that_overrides_a_loss_trains_with_it(name: str) -> None:
    """Whatever path updates take, it is the overridden loss whose gradient they follow."""
    config = algorithm_config(name)()

    class Frozen(config.LEARNER):  # type: ignore[misc,name-defined]  # made of a registry's class
        def actor_loss(self, batch: Any) -> torch.Tensor:
            loss: torch.Tensor = super().actor_loss(batch)
            return 0.0 * loss

    class Config(type(config)):  # type: ignore[misc]  # the same
        LEARNER = Frozen

    own = Config().training(hidden=(6,), critic_hidden=(5,), policy_delay=1)
    one = make_learner(own, agents_of(name), OBSERVED, ACTED)
    before = [parameter.clone() for parameter in one.net.actor.parameters()]
    one.update_fast([make_batch(12, agents_of(name), OBSERVED, ACTED)] * 3)
    for old, new in zip(before, one.net.actor.parameters(), strict=True):
        torch.testing.assert_close(old, new, rtol=0, atol=0)
