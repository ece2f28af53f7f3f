"""The update loop of all off-policy learners here: many small updates in one call.

RLlib's own path costs several times the arithmetic of a small network. So a round of updates is one
call of `update_fast`; state, checkpoints and metrics stay RLlib's.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from ray.rllib.core import COMPONENT_OPTIMIZER, DEFAULT_MODULE_ID
from ray.rllib.core.learner.torch.torch_learner import TorchLearner
from torch import Tensor, nn

from rolecast.baselines.rllib.adam import FusedAdam
from rolecast.baselines.rllib.module import JointModule
from rolecast.baselines.rllib.replay import Batch
from rolecast.baselines.rllib.settings import root_seed
from rolecast.core.errors import RunError

Tensors = Mapping[str, Tensor]
"""Column of `Transitions` to its rows."""


Net = TypeVar("Net", bound=JointModule)
"""The module that a learner updates."""


class OffPolicyLearner(TorchLearner, Generic[Net]):
    """Alternates critic and actor steps, and averages the target networks.

    A method writes `critic_loss` and, if it has an actor of its own, `actor_loss`; one with more
    losses overrides `update_once`.
    """

    config: Any
    """The settings: the method's own config."""

    def critic_loss(self, batch: Tensors) -> Tensor:
        """Return the loss of the critics on a batch; its gradient reaches `critic` alone.

        Args:
            batch: observations and next_observations [N, n, do], actions [N, n, da], rewards
                [N, n], terminated [N].
        """
        raise NotImplementedError

    def actor_loss(self, batch: Tensors) -> Tensor | None:
        """Return the loss of the actor on a batch, whose gradient reaches `actor` alone; or None.

        Args:
            batch: as in `critic_loss`.
        """
        return None

    def parameter_groups(self) -> dict[str, tuple[Sequence[nn.Parameter], float]]:
        """Return the optimisers (Adam): name to parameters and learning rate.

        Steps are taken by `step(name, loss)`.
        """
        net = self.net
        return {
            "critic": (list(net.critic.parameters()), self.config.critic_lr),
            "actor": (list(net.actor.parameters()), self.config.actor_lr),
        }

    def update_once(self, batch: Tensors) -> None:
        """Take one step of the critics and, every `policy_delay` updates, of actor and targets."""
        self.step("critic", self.critic_loss(batch))
        if (self.updates + 1) % self.config.policy_delay == 0:
            actor_loss = self.actor_loss(batch)
            if actor_loss is not None:
                self.step("actor", actor_loss)
            self.update_targets(self.config.tau)

    def bellman_target(self, batch: Tensors, next_value: Tensor) -> Tensor:
        """Return r + gamma V(s'), where V(s') counts only if s does not end its episode.

        Args:
            batch: as in `critic_loss`.
            next_value: V(s') of the next observations, [N] or [N, n]. Of [N], r is the mean of the
                agents' rewards; of [N, n], each agent's own.
        """
        rewards, not_terminated = batch["rewards"], 1.0 - batch["terminated"]
        if next_value.ndim == 1:
            rewards = rewards.mean(dim=1)
        else:
            not_terminated = not_terminated.unsqueeze(1)
        target: Tensor = rewards + self.config.gamma * not_terminated * next_value
        return target

    @property
    def net(self) -> Net:
        """The module that learns."""
        return self._net

    def step(self, name: str, loss: Tensor) -> None:
        """Take one Adam step of a parameter group down a loss."""
        optimizer, parameters = self._groups[name]
        for parameter in parameters:
            parameter.grad = None
        loss.backward(inputs=parameters)  # type: ignore[no-untyped-call]  # torch leaves it so
        if self.config.grad_clip is not None:
            nn.utils.clip_grad_norm_(parameters, self.config.grad_clip, foreach=True)
        optimizer.step_fused()
        self.losses[f"{name}_loss"] = loss.detach()

    def update_targets(self, tau: float) -> None:
        """Average the target weights: theta' = (1 - tau) theta' + tau theta (Polyak averaging)."""
        if self._target_weights:
            with torch.no_grad():
                torch._foreach_lerp_(self._target_weights, self._online_weights, tau)

    def noise(self, like: Tensor) -> Tensor:
        """Return standard normal numbers of a tensor's shape, from the learner's generator."""
        return torch.randn(like.shape, generator=self.generator).to(like.device)

    def update_fast(self, batches: Iterable[Batch]) -> dict[str, Any]:
        """Take one update per batch; return what RLlib reports.

        Raises:
            RunError: a loss is not finite.
        """
        device = self._device
        for batch in batches:
            self.update_once(
                {name: torch.from_numpy(rows).to(device) for name, rows in batch.items()}
            )
            self.updates += 1
        self._weights_seq_no += 1
        metrics = {name: value.item() for name, value in self.losses.items()}
        for name, value in metrics.items():
            if not np.isfinite(value):
                raise RunError(
                    f"{name} is {value} after {self.updates} updates; expected a finite number: "
                    "try a smaller learning rate"
                )
        self.metrics.log_dict(metrics, key=DEFAULT_MODULE_ID, window=1)
        reported: dict[str, Any] = self.metrics.reduce()
        return reported

    def build(self) -> None:
        """Build module, optimisers and the noise generator."""
        self.updates = 0
        """Updates so far."""
        self.losses: dict[str, Tensor] = {}
        """Losses of the last update, by name."""
        self.generator = torch.Generator().manual_seed(root_seed(self.config.seed))
        self._groups: dict[str, tuple[FusedAdam, list[nn.Parameter]]] = {}
        super().build()

    def configure_optimizers_for_module(self, module_id: str, config: Any = None) -> None:
        """Register one Adam for each parameter group."""
        assert self._module is not None
        net: Any = self._module[module_id]
        self._net: Net = net.unwrapped()
        for name, (parameters, rate) in self.parameter_groups().items():
            if not parameters:
                continue
            optimizer = FusedAdam(parameters, lr=rate)
            self._groups[name] = optimizer, list(parameters)
            self.register_optimizer(
                module_id=module_id,
                optimizer_name=name,
                optimizer=optimizer,
                params=parameters,
                lr_or_lr_schedule=rate,
            )
        pairs = [
            (target_weight, weight)
            for name, target in self._net.targets.items()
            for target_weight, weight in zip(
                target.parameters(), getattr(self._net, name).parameters(), strict=True
            )
        ]
        self._target_weights = [target_weight for target_weight, _ in pairs]
        self._online_weights = [weight for _, weight in pairs]

    def get_state(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Return RLlib's state of a learner, the count of updates and the generator's state."""
        state: dict[str, Any] = super().get_state(*args, **kwargs)
        return state | {"updates": self.updates, "generator": self.generator.get_state().numpy()}

    def set_state(self, state: dict[str, Any]) -> None:
        """Restore a state of `get_state`, also one of fewer updates than here."""
        if COMPONENT_OPTIMIZER in state:
            self._weights_seq_no = 0  # else RLlib keeps weights that are newer
        super().set_state(state)
        if "updates" in state:
            self.updates = int(state["updates"])
            self.generator.set_state(torch.from_numpy(np.asarray(state["generator"])))

    def compute_loss_for_module(self, **_: Any) -> Any:
        """Refuse RLlib's own update path, in which all losses take one step together."""
        raise NotImplementedError("this learner updates by update_fast(batches)")
