"""Kernels of tasks and policies on CUDA: they compile here, and play as those of the CPU do."""

from types import SimpleNamespace
from typing import Any

import numba
import numpy as np
import pytest

from rolecast.core.errors import ConfigError
from rolecast.core.kernel_address import at_step
from rolecast.core.lane_arrays import lane_array
from rolecast.core.types import LANE_COUNT, KernelCalls
from rolecast.envs.registry import make_task
from rolecast.envs.spec import BatchedTask
from rolecast.platform.rollout.compiled_episodes import play_compiled
from rolecast.platform.rollout.played import Episodes
from rolecast.policies.protocol import Policy, PolicyKernels
from rolecast.policies.registry import make_policy

pytest.importorskip("numba_cuda", reason="needs the extra: pip install 'rolecast[cuda]'")
from numba import cuda

HOPPER_CHIP = (9, 0)

BLOCKS = 4


def calls_of(task: BatchedTask, policy: Policy) -> KernelCalls:
    spec = task.spec
    episodes = task.lanes().start(np.arange(BLOCKS * LANE_COUNT, dtype=np.uint64))  # type: ignore[attr-defined]
    actions = lane_array(BLOCKS, spec.agents, spec.action_size)
    weights = lane_array(BLOCKS, policy.space.size)
    actor = policy.lanes()
    assert isinstance(actor, PolicyKernels)
    acting = actor.calls(weights, episodes.observations, actions)
    return (*acting, *episodes.calls(actions))


def three_episodes(task: BatchedTask, policy: Policy) -> Episodes:
    return Episodes(
        task=task,
        policy=policy,
        weights=np.zeros((1, policy.space.size)),
        candidate=np.zeros(3, dtype=np.int64),
        seeds=np.arange(3, dtype=np.uint64),
        summed=None,
    )


def source_of(kernel: Any) -> Any:
    return kernel.py_func


@pytest.fixture
def any_chip(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let parts of kernels compile where there is no device to ask for its kind."""
    from numba.cuda import dispatcher

    if not cuda.is_available():
        chip = SimpleNamespace(compute_capability=HOPPER_CHIP)
        monkeypatch.setattr(dispatcher, "get_current_device", lambda: chip)


@pytest.mark.usefixtures("any_chip")
@pytest.mark.parametrize(
    ("task_id", "policy"), [("pred_prey_3", "hom"), ("drone_delivery_3", "mlp")]
)
def test_kernels_compile_for_cuda_without_double_precision_or_calls(
    task_id: str, policy: str
) -> None:
    import rolecast.core.simd.cuda  # noqa: F401 - tells numba-cuda of the vector types

    task = make_task(task_id)
    for kernel, arguments in at_step(calls_of(task, make_policy(policy, task)), 0):
        kinds = tuple(map(numba.typeof, arguments))
        listing, _ = cuda.compile_ptx(source_of(kernel), kinds, cc=HOPPER_CHIP)
        assert ".visible .entry" in listing
        assert ".f64" not in listing
        assert "call.uni" not in listing


@pytest.mark.skipif(not cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("policy_name", ["mlp", "hom"])
@pytest.mark.parametrize("task_id", ["pred_prey_3", "het_pred_prey_3", "drone_delivery_3"])
def test_episodes_on_cuda_are_those_of_the_cpu(task_id: str, policy_name: str) -> None:
    from rolecast.platform.rollout.cuda_episodes import CudaEpisodes

    task = make_task(task_id)
    policy = make_policy(policy_name, task)
    rng = np.random.default_rng(0)
    episodes = Episodes(
        task=task,
        policy=policy,
        weights=policy.space.weights(rng.random((20, policy.space.dimension))),
        candidate=np.repeat(np.arange(20), 50),
        seeds=np.arange(1000, dtype=np.uint64),
        summed=None,
    )
    ours, theirs = play_compiled(episodes, 0).returns, CudaEpisodes(episodes).play()
    assert np.mean(np.abs(ours - theirs) < 1e-3) > 0.9
    assert np.any(ours != ours[0])


@pytest.mark.parametrize(
    ("task_id", "policy_name", "field"),
    [("pred_prey_3", "constant", "policy"), ("pred_prey_3?delay=3", "mlp", "task")],
)
def test_what_has_no_kernels_for_cuda_is_refused(
    task_id: str, policy_name: str, field: str
) -> None:
    from rolecast.platform.rollout.cuda_episodes import CudaEpisodes

    task = make_task(task_id)
    with pytest.raises(ConfigError, match=f"^{field} is .* expected one whose kernels CUDA can"):
        CudaEpisodes(three_episodes(task, make_policy(policy_name, task)))


class OwnKernels:
    """Compiled form of a policy that needs nothing in between."""

    def workspace_rows(self, agents: int) -> int:
        return 0

    def calls(self, weights: Any, observations: Any, actions: Any) -> KernelCalls:
        return ()


@pytest.mark.parametrize(
    ("task_id", "own", "rows"),
    [
        ("pred_prey_99", False, "[0-9]+"),
        ("pred_prey_120", True, str(2 * (120 + 40) + 3 * 120)),
        ("drone_delivery_171", True, str(3 * 171)),
    ],
)
def test_kernels_of_task_or_policy_that_need_more_rows_than_a_thread_has_are_refused(
    task_id: str, own: bool, rows: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rolecast.platform.rollout.cuda_episodes import CudaEpisodes

    task = make_task(task_id)
    policy = make_policy("mlp", task)
    if own:
        monkeypatch.setattr(type(policy), "lanes", lambda self: OwnKernels())
    said = f"^rows of workspace is {rows}; expected at most 512 on CUDA$"
    with pytest.raises(ConfigError, match=said):
        CudaEpisodes(three_episodes(task, policy))
