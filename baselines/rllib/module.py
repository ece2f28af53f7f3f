"""The RLModule of all off-policy learners here: a policy, shared unless told, and critics."""

from abc import abstractmethod
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Final

import torch
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.inference_only_api import InferenceOnlyAPI
from ray.rllib.core.rl_module.torch.torch_rl_module import TorchRLModule
from torch import Tensor, nn

from rolecast.baselines.rllib.actor_graph import in_graph
from rolecast.baselines.rllib.networks import mlp, policy_widths
from rolecast.baselines.rllib.team_actor import TeamActor
from rolecast.policies.export.onnx.graph import Graph

OU_DECAY: Final = 0.15
"""Of the Ornstein-Uhlenbeck noise (Lillicrap et al. 2016), per step."""


def own_action_numbers(actions: Any) -> tuple[tuple[int, ...], Tensor | None]:
    """Return the size of each agent's own action, and which numbers [n, da] are no padding.

    Args:
        actions: joint action space [n, da].
    Returns:
        [n] sizes, and None in place of the numbers where none is padding.
    """
    agents, size = actions.shape
    whole = (size,) * agents
    own_sizes: tuple[int, ...] = getattr(actions, "own_sizes", whole)
    if own_sizes == whole:
        return own_sizes, None
    return own_sizes, torch.arange(size) < torch.tensor(own_sizes).unsqueeze(1)


class JointModule(TorchRLModule, InferenceOnlyAPI):
    """Acts for n agents, each on its own observation, with one network or with n.

    A method writes `build_critics`, if it has any, and what differs of the rest. Spaces are joint:
    observations [n, do], actions [n, da] in [-1, 1].
    """

    agents: int
    """n."""

    state_size: int
    """S, of what `state_of` returns."""

    own_sizes: tuple[int, ...]
    """[n], the size of each agent's own action, without padding."""

    own_numbers: Tensor | None
    """[n, da], true where a number is no padding; None where none is."""

    def setup(self) -> None:
        """Build the networks from the spaces and from `model_config`, a method's settings."""
        assert self.observation_space is not None
        assert self.action_space is not None
        assert isinstance(self.model_config, dict)
        self.settings: dict[str, Any] = self.model_config
        self.agents, self.observation_size = self._sizes(self.observation_space)
        self.action_size = self._sizes(self.action_space)[1]
        self.own_sizes, own_numbers = own_action_numbers(self.action_space)
        self.register_buffer("own_numbers", own_numbers, persistent=False)
        told = int(getattr(self.observation_space, "state_size", 0))
        self.reads_state = told > 0
        self.state_size = told or self.agents * self.observation_size
        self.actor: nn.Module = self.build_actor()
        self.critic: nn.Module = nn.Identity()
        self.targets = nn.ModuleDict()
        if not self.inference_only:
            self.critic = self.build_critics()
            self.targets = nn.ModuleDict(self.build_targets()).requires_grad_(False)

    @property
    def hidden(self) -> tuple[int, ...]:
        """Widths of the network that acts."""
        given = self.settings["hidden"]
        if given is not None:
            return tuple(given)
        paper = tuple(self.settings["paper_hidden"])
        return policy_widths(self.settings["size"], self.agents, paper)

    @property
    def critic_hidden(self) -> tuple[int, ...]:
        """Widths of the critics."""
        return tuple(self.settings["critic_hidden"])

    def build_actor(self) -> nn.Module:
        """Return the network that acts: [..., n, do] to [..., n, da], before its tanh."""
        agent_id = bool(self.settings.get("agent_id", False))
        share_policy = bool(self.settings.get("share_policy", True))
        if share_policy and not agent_id:
            return mlp(self.observation_size, self.hidden, self.action_size)
        return TeamActor(
            self.agents,
            self.observation_size,
            self.hidden,
            self.action_size,
            agent_id=agent_id,
            share_policy=share_policy,
        )

    @abstractmethod
    def build_critics(self) -> nn.Module:
        """Return the critics, of whatever form the losses of the method take."""

    def build_targets(self) -> dict[str, nn.Module]:
        """Return target copies, by the attribute of the network that they average."""
        return {"actor": deepcopy(self.actor), "critic": deepcopy(self.critic)}

    def mean_square(self, actions: Tensor) -> Tensor:
        """Return the mean square of actions [..., n, da], of which padding is none."""
        squares = actions.square()
        if self.own_numbers is None:
            return squares.mean()
        return squares[..., self.own_numbers].mean()

    def act(self, observations: Tensor, actor: nn.Module | None = None) -> Tensor:
        """Return greedy actions [..., n, da] in [-1, 1] for observations [..., n, do].

        Args:
            observations: [..., n, do].
            actor: the network to act with; None for the module's own.
        """
        actions: Tensor = torch.tanh((self.actor if actor is None else actor)(observations))
        return actions

    def act_in_graph(self, graph: Graph, observations: str) -> str:
        """Add greedy actions [N, n, da] of observations [N, n, do] to an ONNX graph."""
        return graph.add("Tanh", in_graph(graph, self.actor, observations))

    def state_of(self, batch: Mapping[str, Tensor], prefix: str = "") -> Tensor:
        """Return what centralised critics and mixers read of the world [N, S].

        It is the task's state where it has one and `use_state` is on, else all observations, laid
        end to end.

        Args:
            batch: columns of `Transitions`.
            prefix: "next_" for the world after the step.
        """
        if self.reads_state:
            return batch[f"{prefix}states"]
        return batch[f"{prefix}observations"].flatten(1)

    def explore(
        self, observations: Tensor, memory: Tensor, generator: torch.Generator | None
    ) -> Tensor:
        """Return actions [B, n, da] that also try something, for observations [B, n, do].

        Args:
            observations: [B, n, do].
            memory: [B, n, da], the noise's own; zero when an episode begins, changed in place.
            generator: draws the noise.
        """
        return self.perturbed(self.act(observations), memory, generator)

    def perturbed(
        self, actions: Tensor, memory: Tensor, generator: torch.Generator | None
    ) -> Tensor:
        """Return actions [B, n, da] with noise on them; changes them and the noise's memory."""
        noise = torch.randn(actions.shape, generator=generator)
        if self.settings["noise_process"] == "ornstein_uhlenbeck":
            memory.mul_(1.0 - OU_DECAY).add_(noise, alpha=self.settings["exploration_noise"])
            return (actions + memory).clamp_(-1.0, 1.0)
        return actions.add_(noise, alpha=self.settings["exploration_noise"]).clamp_(-1.0, 1.0)

    def acting_modules(self) -> list[nn.Module]:
        """Return what `act` depends on, whose parameters are counted as the policy's."""
        return [self.actor]

    def get_non_inference_attributes(self) -> list[str]:
        """Return what only learning needs."""
        return ["critic", "targets"]

    def _forward(self, batch: dict[str, Any], **_: Any) -> dict[str, Any]:
        return {Columns.ACTIONS: self.act(batch[Columns.OBS])}

    def _forward_inference(self, batch: dict[str, Any], **_: Any) -> dict[str, Any]:
        with torch.no_grad():
            return {Columns.ACTIONS: self.act(batch[Columns.OBS])}

    def _forward_exploration(
        self,
        batch: dict[str, Any],
        *,
        step: int | None = None,
        memory: Tensor | None = None,
        generator: torch.Generator | None = None,
        **_: Any,
    ) -> dict[str, Any]:
        """Explore; in the first `random_steps` of training, uniformly."""
        observations = batch[Columns.OBS]
        shape = (*observations.shape[:-1], self.action_size)
        with torch.no_grad():
            if step is not None and step < self.settings["random_steps"]:
                return {Columns.ACTIONS: torch.rand(shape, generator=generator) * 2.0 - 1.0}
            if memory is None:
                memory = torch.zeros(shape)
            return {Columns.ACTIONS: self.explore(observations, memory, generator)}

    @staticmethod
    def _sizes(space: Any) -> tuple[int, int]:
        rows, columns = space.shape
        return int(rows), int(columns)
