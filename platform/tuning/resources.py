"""What a trial asks Ray for."""

from ray.tune import PlacementGroupFactory

from rolecast.core.threads import available_cores
from rolecast.platform.optimizers.protocol import device_of
from rolecast.platform.optimizers.registry import optimizer_config
from rolecast.platform.tuning.methods import Method, SearchMethod


def method_device(method: Method) -> str:
    """Return where the optimiser of a method computes; learners ask RLlib for their GPUs."""
    if isinstance(method, SearchMethod):
        return device_of(optimizer_config(method.optimizer, **method.optimizer_settings))
    return "cpu"


def cluster_cpus(trials: int | None, workers: int) -> int:
    """Return the CPUs of a cluster that is started here, in which at least one trial has room.

    Args:
        trials: how many run at once; None is as many as this machine has cores for.
        workers: rollout actors of each.
    """
    each = 1 + workers
    return max(available_cores(), each) if trials is None else trials * each


def trial_resources(workers: int, device: str = "cpu") -> PlacementGroupFactory:
    """Return one CPU for a trial and one for each of its workers, and a GPU for its optimiser.

    Args:
        workers: rollout actors; with none, the trial's own process holds the optimiser.
        device: where the optimiser computes.
    """
    own, gpu, cpu = {"CPU": 1.0}, {"GPU": 1.0}, [{"CPU": 1.0}] * workers
    if device == "cpu":
        return PlacementGroupFactory([own, *cpu])
    return PlacementGroupFactory([own, gpu, *cpu] if workers else [{**own, **gpu}])
