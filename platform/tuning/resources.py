"""What a trial asks Ray for."""

from collections.abc import Mapping
from typing import Any

from ray.tune import PlacementGroupFactory

from rolecast.platform.optimizers.protocol import gpus
from rolecast.platform.optimizers.registry import optimizer_config
from rolecast.platform.tuning.methods import Method, SearchMethod


def search_gpus(optimizer: str, settings: Mapping[str, Any]) -> int:
    """Return how many GPUs a search with this optimiser needs."""
    return gpus(optimizer_config(optimizer, **settings))


def method_gpus(method: Method) -> int:
    """Return how many GPUs a trial of a method needs; learners ask RLlib for theirs."""
    if isinstance(method, SearchMethod):
        return search_gpus(method.optimizer, method.optimizer_settings)
    return 0


def trial_resources(workers: int, gpus: int = 0) -> PlacementGroupFactory:
    """Return one CPU for a trial and one for each of its workers, and GPUs where its optimiser is.

    Args:
        workers: rollout actors; with none, the trial's own process holds the optimiser.
        gpus: of the optimiser.
    """
    own, cpu = {"CPU": 1.0}, [{"CPU": 1.0}] * workers
    if not gpus:
        return PlacementGroupFactory([own, *cpu])
    if not workers:
        return PlacementGroupFactory([{**own, "GPU": float(gpus)}])
    return PlacementGroupFactory([own, {"GPU": float(gpus)}, *cpu])
