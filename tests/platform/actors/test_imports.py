"""What an actor loads is what it needs: each one starts, on every machine, before it can work."""

from typing import Any, Final, cast

import numpy as np
import pytest

from rolecast.platform.actors.assignment import packed, unpacked
from rolecast.platform.actors.optimizer_actor import OptimizerActor
from rolecast.platform.actors.rollout_actor import RolloutActor
from rolecast.platform.optimizers.local_gp.config import LocalGpConfig
from rolecast.platform.rollout.chunks import Chunk
from rolecast.platform.search.planning.config import SearchConfig
from rolecast.platform.search.planning.plan import make_plan
from rolecast.platform.search.session import BatchRequest

NEVER_NEEDED: Final = frozenset(
    {"torch", "gpytorch", "botorch", "ray.rllib", "ray.tune", "pandas", "matplotlib", "networkx",
     "scipy.stats", "tensorboard", "gymnasium", "pettingzoo", "mujoco"}
)  # fmt: skip
"""By a search of a compiled task, in any actor."""

NOT_BY_ROLLOUTS: Final = NEVER_NEEDED | {"scipy.optimize", "safetensors"}

pytestmark = pytest.mark.usefixtures("ray_cluster")


def in_new_process(actor: Any, *arguments: Any) -> Any:
    """Start an actor in a process that has run nothing before: variables of its own make one."""
    fresh = {"env_vars": {"ROLECAST_TEST_PROCESS": actor.__class__.__name__}}
    return cast("Any", actor).options(runtime_env=fresh).remote(*arguments)


def loaded(handle: Any) -> set[str]:
    """Return the modules that an actor's process has loaded."""
    import ray

    def modules(_: object) -> list[str]:
        import sys

        return sorted(sys.modules)

    return set(ray.get(handle.__ray_call__.remote(modules)))


@pytest.mark.parametrize("policy", ["hom", "mlp"])
def test_a_rollout_actor_of_a_compiled_task_loads_little(policy: str) -> None:
    import ray

    plan = make_plan(SearchConfig(task="pred_prey_3", policy=policy, env_steps=20_000))
    chunk = Chunk(
        first=0,
        episode=0,
        labels=("evaluation 0",),
        candidates=np.full((1, plan.policy.space.dimension), 0.5),
        seeds=np.arange(16, dtype=np.uint64)[None],
        compiled=True,
    )
    actor = in_new_process(RolloutActor, "pred_prey_3", {}, plan.policy)
    reply = unpacked(ray.get(actor.evaluate.remote(packed([chunk]))))
    found = loaded(actor)
    ray.kill(actor)
    plan.task.close()
    assert np.isfinite(reply.results[0].returns).all()
    assert "numba" in found
    assert sorted(found & NOT_BY_ROLLOUTS) == []


def test_an_optimizer_actor_loads_no_learning_library() -> None:
    import ray

    actor = in_new_process(OptimizerActor, LocalGpConfig.__module__)
    ray.get(actor.build.remote(LocalGpConfig(), 12, 0))
    wanted = BatchRequest(q=4, spent=0.0)
    reply = ray.get(actor.tell_and_ask.remote(None, wanted, keep=False))
    found = loaded(actor)
    ray.kill(actor)
    assert reply.candidates.shape == (4, 12)
    assert sorted(found & NEVER_NEEDED) == []
