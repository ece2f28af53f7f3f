"""What all off-policy methods share of RLlib's Algorithm: settings, and rounds of learning."""

from collections.abc import Iterable
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar, Final, Self

from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.utils.metrics import (
    ENV_RUNNER_SAMPLING_TIMER,
    LEARNER_RESULTS,
    LEARNER_UPDATE_TIMER,
    SYNCH_WORKER_WEIGHTS_TIMER,
    TIMERS,
)

from rolecast.baselines.rllib.augment import SymmetryAugmentation
from rolecast.baselines.rllib.environments import task_of
from rolecast.baselines.rllib.learner import OffPolicyLearner
from rolecast.baselines.rllib.networks import NETWORK_SIZES
from rolecast.baselines.rllib.replay import Batch, ReplayBuffer
from rolecast.baselines.rllib.rounds import PROGRESS_COMPONENT, JointAlgorithm
from rolecast.baselines.rllib.runner import JointEnvRunner
from rolecast.baselines.rllib.settings import NamedSettings, root_seed
from rolecast.baselines.rllib.transitions import Fragment, joined
from rolecast.core.validation import (
    BOOLEAN_VALUE,
    COUNT_OR_ZERO,
    LAYER_WIDTHS,
    NOT_NEGATIVE,
    OPEN_FRACTION,
    POSITIVE_INTEGER,
    POSITIVE_NUMBER,
    UNIT_INTERVAL,
    Rules,
    one_of,
    or_none,
)

REPLAY_COMPONENT: Final = "replay"
"""Component of a checkpoint that holds the replay."""

UPDATES_METRIC: Final = "num_updates_lifetime"
"""Result under `learners/default_policy`: updates so far."""


class OffPolicyConfig(NamedSettings):
    """Settings of all off-policy algorithms here; a method adds its own to `RULES`.

    Set by `training(...)`, as RLlib's are; checked when the algorithm is built.
    """

    RULES: ClassVar[Rules] = MappingProxyType(
        {
            "size": one_of(*NETWORK_SIZES),
            "hidden": or_none(LAYER_WIDTHS),
            "critic_hidden": LAYER_WIDTHS,
            "actor_lr": POSITIVE_NUMBER,
            "critic_lr": POSITIVE_NUMBER,
            "tau": OPEN_FRACTION,
            "policy_delay": POSITIVE_INTEGER,
            "noise_process": one_of("gaussian", "ornstein_uhlenbeck"),
            "exploration_noise": NOT_NEGATIVE,
            "random_steps": COUNT_OR_ZERO,
            "num_steps_sampled_before_learning_starts": COUNT_OR_ZERO,
            "updates_per_step": POSITIVE_NUMBER,
            "replay_capacity": POSITIVE_INTEGER,
            "replay_in_checkpoints": BOOLEAN_VALUE,
        }
    )
    RLLIB_RULES: ClassVar[Rules] = MappingProxyType(
        {
            "gamma": UNIT_INTERVAL,
            "train_batch_size_per_learner": POSITIVE_INTEGER,
            "num_envs_per_env_runner": POSITIVE_INTEGER,
            "grad_clip": or_none(POSITIVE_NUMBER),
            "rollout_fragment_length": POSITIVE_INTEGER,
        }
    )
    TUNED = ("gamma", "grad_clip", "lr", "train_batch_size_per_learner")

    critic_hidden: tuple[int, ...]
    """Widths of the critics' hidden layers."""

    actor_lr: float
    """Learning rate of the policy."""

    critic_lr: float
    """Learning rate of the critics."""

    tau: float
    """Share of the distance that targets move at each update of theirs."""

    policy_delay: int
    """Critic updates for each update of the policy and the targets."""

    noise_process: str
    """Noise on actions while sampling: "gaussian", or "ornstein_uhlenbeck"."""

    exploration_noise: float
    """Its deviation, in the unit of actions, which lie in [-1, 1]."""

    random_steps: int
    """Env steps at the start whose actions are uniform."""

    num_steps_sampled_before_learning_starts: int
    """Env steps before the first update."""

    updates_per_step: float
    """Updates for each env step from then on; a joint step of n agents is one."""

    replay_capacity: int
    """Transitions that the replay keeps."""

    replay_in_checkpoints: bool
    """Whether checkpoints hold the replay. Without it a restored run fills a new one, and updates
    again once that has `num_steps_sampled_before_learning_starts` transitions."""

    def __init__(self, algo_class: type | None = None) -> None:
        """Set the defaults.

        Args:
            algo_class: the algorithm to build; None for `OffPolicy`.
        """
        super().__init__(algo_class=algo_class or OffPolicy)
        self.env_runner_cls: Any = JointEnvRunner
        self.num_env_runners = 0
        self.num_envs_per_env_runner = 1
        self.rollout_fragment_length = 8
        self.min_sample_timesteps_per_iteration = 1000
        self.train_batch_size_per_learner = 256
        self.gamma = 0.99
        self.size = "paper"
        self.hidden = None
        self.paper_hidden = (256, 256)
        self.critic_hidden = (256, 256)
        self.actor_lr = self.critic_lr = 3e-4
        self.tau = 0.005
        self.policy_delay = 1
        self.noise_process = "gaussian"
        self.exploration_noise = 0.1
        self.random_steps = 1000
        self.num_steps_sampled_before_learning_starts = 1000
        self.updates_per_step = 1.0
        self.replay_capacity = 1_000_000
        self.replay_in_checkpoints = True

    def training(self, **settings: Any) -> Self:
        """Set what concerns learning.

        Args:
            settings: fields of this class, or settings of RLlib's own `training`. Of those,
                `gamma`, `grad_clip`, `train_batch_size_per_learner` and `lr` matter here. `lr` is
                that of policy and critics where they have none of their own.

        Raises:
            RequestError: there is no such setting; names the nearest.
        """
        super().training(**settings)
        if "lr" in settings:
            self.actor_lr = settings.get("actor_lr", settings["lr"])
            self.critic_lr = settings.get("critic_lr", settings["lr"])
        return self


class OffPolicy(JointAlgorithm):
    """Alternates rounds of sampling and of updates on what the replay keeps."""

    CONFIG = OffPolicyConfig

    def setup(self, config: Any) -> None:
        """Make runners, learner and replay."""
        super().setup(config)
        self.replay = self._new_replay()
        self._owed = 0.0

    def _new_replay(self) -> ReplayBuffer:
        """Return an empty replay."""
        settings = self.settings
        seed = root_seed(settings.seed)
        return ReplayBuffer(settings.replay_capacity, seed, self._augmentation())

    def _augmentation(self) -> SymmetryAugmentation | None:
        """Return what maps batches by the task's symmetries, where that is asked for."""
        if not getattr(self.settings, "symmetries", False):
            return None
        task = task_of(self.settings.env, self.settings.env_config)
        task.close()
        return SymmetryAugmentation.of_task(task.spec)

    @property
    def settings(self) -> OffPolicyConfig:
        """The config with its own type."""
        assert isinstance(self.config, OffPolicyConfig)
        return self.config

    def get_state(
        self, components: Any = None, *, not_components: Any = None, **kwargs: Any
    ) -> dict[str, Any]:
        """Return the state of a `JointAlgorithm`, the replay, and the updates owed."""
        state = super().get_state(components, not_components=not_components, **kwargs)
        if self._check_component(REPLAY_COMPONENT, components, not_components):
            state[REPLAY_COMPONENT] = (
                self.replay.get_state() if self.settings.replay_in_checkpoints else None
            )
        if PROGRESS_COMPONENT in state:
            state[PROGRESS_COMPONENT]["owed"] = self._owed
        return state

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on where an algorithm stood, in the middle of its episodes."""
        super().set_state(state)
        if state.get(REPLAY_COMPONENT) is not None:
            self.replay.set_state(state[REPLAY_COMPONENT])
        elif REPLAY_COMPONENT in state:
            self.replay = self._new_replay()
        if PROGRESS_COMPONENT in state:
            self._owed = float(state[PROGRESS_COMPONENT]["owed"])

    def take_round(self) -> None:
        """Sample a fragment from every runner, then take the updates that are owed."""
        settings = self.settings
        with self.metrics.log_time((TIMERS, ENV_RUNNER_SAMPLING_TIMER)):
            fragments: list[Fragment] = self.sample_all()
        transitions = joined([fragment.transitions for fragment in fragments])
        self.log_round(len(transitions), [e for fragment in fragments for e in fragment.ended])
        self.replay.add(transitions)
        self.env_steps += len(transitions)
        warm_up = settings.num_steps_sampled_before_learning_starts
        # A run restored without its replay is past the warm-up, and its replay is not.
        if self.env_steps < warm_up or len(self.replay) < min(warm_up, settings.replay_capacity):
            return
        self._owed += len(transitions) * settings.updates_per_step
        updates = int(self._owed)
        if not updates or not len(self.replay):
            return
        self._owed -= updates
        with self.metrics.log_time((TIMERS, LEARNER_UPDATE_TIMER)):
            self._update(updates)
        with self.metrics.log_time((TIMERS, SYNCH_WORKER_WEIGHTS_TIMER)):
            self.send_weights()

    def _update(self, updates: int) -> None:
        """Take updates on batches drawn from the buffer."""
        size = self.settings.train_batch_size_per_learner
        batches: Iterable[Batch] = (self.replay.sample(size) for _ in range(updates))
        if self.learner_group.is_remote:
            batches = list(batches)
        answers = self.learner_group.foreach_learner(partial(_take_updates, batches=batches))
        results = [answer.get() for answer in answers]
        for result in results:
            if isinstance(result, Exception):
                raise result
        self.metrics.aggregate(results, key=LEARNER_RESULTS)
        self.metrics.log_value(
            (LEARNER_RESULTS, DEFAULT_MODULE_ID, UPDATES_METRIC), updates, reduce="lifetime_sum"
        )


def _take_updates(learner: OffPolicyLearner[Any], batches: Iterable[Batch]) -> dict[str, Any]:
    return learner.update_fast(batches)
