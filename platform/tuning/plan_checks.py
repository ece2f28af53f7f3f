"""Refusals before a comparison begins: trials that cannot run, and memory that is not there."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager

from rolecast.core.errors import ConfigError, RequestError
from rolecast.envs.episode_length import typical_steps
from rolecast.platform.search.planning.plan import make_plan
from rolecast.platform.tuning.experiment import Experiment, TrialPlan
from rolecast.platform.tuning.learner import ChecksMemory, MethodFactory, method_factory
from rolecast.platform.tuning.methods import SearchMethod
from rolecast.platform.tuning.rewards import task_with_reward
from rolecast.platform.tuning.runners import search_config


def check_experiment(experiment: Experiment, methods: Mapping[str, MethodFactory]) -> None:
    """Refuse what would fail later: unknown names, wrong settings, tasks that do not fit.

    Raises:
        RequestError: as a sentence that names the method and the task.
    """
    for plan in _distinct(experiment.trials()):
        with _named(plan):
            with closing(task_with_reward(plan.task, plan.reward)) as task:
                steps = typical_steps(task)
            if experiment.env_steps < steps:
                expected = f"at least {steps}, an episode"
                raise ConfigError("Experiment.env_steps", experiment.env_steps, expected)
            method = experiment.method(plan.method)
            if isinstance(method, SearchMethod):
                make_plan(search_config(experiment, plan, method), play=False).task.close()
            else:
                method_factory(method.algorithm, methods).check(task.spec, method.settings)


def check_memory(
    experiment: Experiment, plans: Sequence[TrialPlan], methods: Mapping[str, MethodFactory]
) -> None:
    """Refuse learners that the memory of this machine cannot hold, each trial by itself.

    Args:
        experiment: what is compared.
        plans: trials that are to run.
        methods: learners that were given with it, by name.
    Raises:
        RequestError: as a sentence that names the method and the task.
    """
    for plan in _distinct(plans):
        method = experiment.method(plan.method)
        if isinstance(method, SearchMethod):
            continue
        factory = method_factory(method.algorithm, methods)
        if isinstance(factory, ChecksMemory):
            with _named(plan):
                with closing(task_with_reward(plan.task, plan.reward)) as task:
                    spec = task.spec
                factory.check_memory(spec, method.settings, experiment.env_steps)


def _distinct(plans: Sequence[TrialPlan]) -> Sequence[TrialPlan]:
    """Return the first trial of each task, reward and method: seeds do not matter."""
    first: dict[tuple[str, str, str], TrialPlan] = {}
    for plan in plans:
        first.setdefault((plan.task, plan.reward, plan.method), plan)
    return [*first.values()]


@contextmanager
def _named(plan: TrialPlan) -> Iterator[None]:
    """Say of which trial a refusal is."""
    try:
        yield
    except RequestError as error:
        raise RequestError(f"{plan.method} on {plan.task}, {plan.reward}: {error}") from error
