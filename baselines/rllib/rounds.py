"""RLlib's Algorithm over joint steps: asks its runners for rounds, and gives them weights."""

import time
from abc import abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar, Final

import ray
import torch
from ray.rllib.algorithms.algorithm import Algorithm
from ray.rllib.algorithms.algorithm_config import AlgorithmConfig
from ray.rllib.core import (
    COMPONENT_LEARNER,
    COMPONENT_LEARNER_GROUP,
    COMPONENT_RL_MODULE,
    DEFAULT_MODULE_ID,
)
from ray.rllib.utils.metrics import (
    ENV_RUNNER_RESULTS,
    NUM_ENV_STEPS_SAMPLED,
    NUM_ENV_STEPS_SAMPLED_LIFETIME,
)

from rolecast.baselines.rllib.environments import task_of
from rolecast.baselines.rllib.runner import JointEnvRunner, log_episodes
from rolecast.baselines.rllib.transitions import EndedEpisode
from rolecast.core.errors import RequestError, RunError

RESTARTS_WAITED: Final = 60.0
"""Seconds."""

PROGRESS_COMPONENT: Final = "progress"
SAMPLING_COMPONENT: Final = "sampling"
"""Components of our own in a checkpoint."""


class JointAlgorithm(Algorithm):
    """What all methods here do alike; what they learn, and from what, is theirs: `take_round`.

    The same seed gives the same run, whatever the order in which runners answer.
    """

    CONFIG: ClassVar[type[AlgorithmConfig]]
    """Class of the settings."""

    metrics: Any
    env_runner_group: Any
    learner_group: Any

    pause_at: int | None = None
    """Env steps at which one `train()` ends; None to end after one round."""

    budget: int | None = None
    """Env steps of the whole training; None for no end. The last round is cut to them, to less than
    one joint step of all episodes."""

    patience_s: float = RESTARTS_WAITED
    """Seconds that a round waits for runners to come back when none answered."""

    @classmethod
    def get_default_config(cls) -> Any:
        """Return the default settings, a `CONFIG`."""
        return cls.CONFIG()

    @abstractmethod
    def take_round(self) -> None:
        """Sample a fragment from every runner, and learn."""

    @staticmethod
    def _get_env_id_and_creator(
        env_specifier: Any, config: AlgorithmConfig
    ) -> tuple[Any, Callable[[Any], object]]:
        """Let the runners make tasks from whatever `.environment` was given."""
        return env_specifier, partial(task_of, env_specifier)

    def setup(self, config: Any) -> None:
        """Make runners and learner."""
        super().setup(config)
        self.env_steps = 0
        """Joint steps of training so far."""
        self._lives: dict[int, int] = {}  # times that each runner came back from the dead
        self.send_weights()

    @property
    def settings(self) -> Any:
        """The config with its own type."""
        return self.config

    def training_step(self) -> None:
        """Take rounds until `pause_at`; one where it is None or behind."""
        self.take_round()
        while self.pause_at is not None and self.env_steps < self.pause_at:
            self.restore_env_runners(self.env_runner_group)
            self.take_round()

    def restore_env_runners(self, env_runner_group: Any) -> list[int]:
        """Give weights, and seeds of their own, to runners that have come back from the dead."""
        restored: list[int] = env_runner_group.probe_unhealthy_env_runners()
        for index in restored:
            self._lives[index] = self._lives.get(index, 0) + 1
            env_runner_group.foreach_env_runner(
                partial(_revive, life=self._lives[index], state=ray.put(self._weights())),
                local_env_runner=False,
                remote_worker_ids=[index],
            )
        return restored

    def get_state(
        self, components: Any = None, *, not_components: Any = None, **kwargs: Any
    ) -> dict[str, Any]:
        """Return RLlib's state of an algorithm, and running episodes and counts."""
        state: dict[str, Any] = super().get_state(
            components, not_components=not_components, **kwargs
        )
        if self._check_component(PROGRESS_COMPONENT, components, not_components):
            state[PROGRESS_COMPONENT] = {"env_steps": self.env_steps, "lives": dict(self._lives)}
        if self._check_component(SAMPLING_COMPONENT, components, not_components):
            state[SAMPLING_COMPONENT] = dict(self._ask(_sampling_state))
        return state

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on where an algorithm stood, in the middle of its episodes."""
        super().set_state(state)
        if PROGRESS_COMPONENT in state:
            self.env_steps = int(state[PROGRESS_COMPONENT]["env_steps"])
            self._lives = dict(state[PROGRESS_COMPONENT].get("lives", {}))
        if SAMPLING_COMPONENT in state:
            self._set_sampling_states(state[SAMPLING_COMPONENT])
        if COMPONENT_LEARNER_GROUP in state:
            self._restore_weights()

    def _set_sampling_states(self, states: Mapping[int, Any]) -> None:
        """Let runners go on with the episodes of others, or begin a life where they have none.

        Args:
            states: by the index of the runner that had it. The only runner, 0, is the first of
                several, 1.
        """
        call = partial(
            _set_sampling_state,
            states={max(index, 1): state for index, state in states.items()},
            lives=dict(self._lives),
        )
        for index, life in self._ask(call):
            if life is not None:
                self._lives[index] = life

    def restore_from_path(self, path: Any, *args: Any, **kwargs: Any) -> None:
        """Restore, and let all runners act with what was restored before the next round."""
        super().restore_from_path(path, *args, **kwargs)  # type: ignore[no-untyped-call]
        self._restore_weights()

    def round_steps(self) -> int:
        """Return T, the steps of an episode in one round."""
        return int(self.settings.get_rollout_fragment_length())

    def next_steps(self) -> int:
        """Return T of the next round: of a whole one, or of what the budget has left."""
        left = (self.budget or 0) - self.env_steps
        whole = self.round_steps()
        return min(whole, -(-left // self.joint_step())) if left > 0 else whole

    def joint_step(self) -> int:
        """Return the env steps of one step in all episodes of all runners."""
        runners = max(self.settings.num_env_runners, 1)
        return int(runners * self.settings.num_envs_per_env_runner)

    def sample_all(self) -> list[Any]:
        """Return one fragment from each runner that answers.

        Raises:
            RunError: a task failed, or no runner answered and none came back within `patience_s`.
        """
        runners = max(self.settings.num_env_runners, 1)
        steps, stride = self.next_steps(), self.joint_step()
        call = partial(_collect, steps=steps, env_steps=self.env_steps, stride=stride)
        patience = time.monotonic() + self.patience_s
        while True:
            answers = self._ask(call)
            for _, answer in answers:
                if isinstance(answer, (RunError, RequestError)):
                    raise answer
            if answers:
                return [fragment for _, fragment in answers]
            if time.monotonic() > patience:
                raise RunError(
                    f"none of {runners} env runners answered for {self.patience_s:g} s; "
                    "expected at least one: RLlib's log says why they failed"
                )
            time.sleep(0.2)
            self.restore_env_runners(self.env_runner_group)

    def _ask(self, call: Callable[[JointEnvRunner], tuple[int, Any]]) -> list[tuple[int, Any]]:
        """Call a function with each runner that samples; return answers by runner's index."""
        local = self.settings.num_env_runners == 0
        answers: list[tuple[int, Any]] = self.env_runner_group.foreach_env_runner(
            call, local_env_runner=local
        )
        return sorted(answers, key=lambda answer: answer[0])

    def _weights(self) -> dict[str, Any]:
        """Return what acts, as RLlib's runners take it."""
        state: dict[str, Any] = self.learner_group.get_state(
            components=f"{COMPONENT_LEARNER}/{COMPONENT_RL_MODULE}", inference_only=True
        )[COMPONENT_LEARNER]
        return {COMPONENT_RL_MODULE: state[COMPONENT_RL_MODULE]}

    def send_weights(self) -> None:
        """Give every runner the weights; return when all have them.

        RLlib's own way does not wait, and leaves a runner out that is busy.
        """
        if not self.settings.num_env_runners and not self.learner_group.is_remote:
            self._copy_weights()
            return
        weights: Any = self._weights()
        if self.settings.num_env_runners:
            weights = ray.put(weights)
        # With runners elsewhere the local one does not sample; `get_module` shows its networks.
        self.env_runner_group.foreach_env_runner(
            partial(_set_weights, state=weights), local_env_runner=True
        )

    def _restore_weights(self) -> None:
        """Give the weights to runners of training and evaluation that may have had later ones."""
        call = partial(_restore_weights, state=ray.put(self._weights()))
        for group in (self.env_runner_group, self.eval_env_runner_group):
            if group is not None:
                group.foreach_env_runner(call)

    def _copy_weights(self) -> None:
        """Give the runner in this process the weights of the learner in it."""
        (answer,) = self.learner_group.foreach_learner(lambda learner: learner.module)
        learnt = answer.get()[DEFAULT_MODULE_ID].unwrapped().state_dict()
        acting = self.env_runner.module[DEFAULT_MODULE_ID].state_dict()
        with torch.no_grad():
            torch._foreach_copy_(list(acting.values()), [learnt[name] for name in acting])

    def log_round(self, steps: int, ended: list[EndedEpisode]) -> None:
        """Log what a round sampled: its joint steps, and the episodes that ended in it."""
        log_episodes(self.metrics, (ENV_RUNNER_RESULTS,), ended)
        self.metrics.log_value(
            (ENV_RUNNER_RESULTS, NUM_ENV_STEPS_SAMPLED), steps, reduce="sum", with_throughput=True
        )
        self.metrics.log_value(
            (ENV_RUNNER_RESULTS, NUM_ENV_STEPS_SAMPLED_LIFETIME), steps, reduce="lifetime_sum"
        )


def _collect(runner: JointEnvRunner, steps: int, env_steps: int, stride: int) -> tuple[int, Any]:
    """Sample; a failure of the task is an answer too, as RLlib would only write it to a log."""
    index = runner.worker_index or 0
    try:
        return index, runner.collect(steps, env_steps, stride)
    except (RunError, RequestError) as error:
        return index, error


def _set_weights(runner: JointEnvRunner, state: Any) -> tuple[int, None]:
    runner.set_state(ray.get(state) if isinstance(state, ray.ObjectRef) else state)
    return runner.worker_index or 0, None


def _restore_weights(runner: JointEnvRunner, state: Any) -> None:
    runner.restore_weights(ray.get(state))


def _revive(runner: JointEnvRunner, life: int, state: Any) -> None:
    runner.begin_life(life)
    _set_weights(runner, state)


def _sampling_state(runner: JointEnvRunner) -> tuple[int, dict[str, Any]]:
    return runner.worker_index or 0, runner.sampling_state()


def _set_sampling_state(
    runner: JointEnvRunner, states: Mapping[int, Any], lives: Mapping[int, int]
) -> tuple[int, int | None]:
    """Set the state of a runner's index, where there is one; else return the life that it began."""
    index = max(runner.worker_index or 0, 1)
    if index in states:
        runner.set_sampling_state(states[index])
        return index, None
    life = lives.get(index, 0) + 1
    runner.begin_life(life)
    return index, life
