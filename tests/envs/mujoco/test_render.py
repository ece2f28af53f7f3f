import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

from rolecast.core.errors import RequestError
from rolecast.envs.registry import make_env, make_task


@pytest.mark.usefixtures("screen")
@pytest.mark.parametrize("task_id", ["hopper", "manyagent_ant_3"])
def test_the_picture_shows_the_body_move(task_id: str) -> None:
    task = make_task(task_id)
    task.reset(np.array([1, 2], dtype=np.uint64))
    before = task.frame(1)  # type: ignore[attr-defined]
    for _ in range(8):
        task.step(np.ones((2, task.spec.agents, task.spec.action_size)))
    after = task.frame(1)  # type: ignore[attr-defined]
    assert before.shape == (288, 384, 3)
    assert before.dtype == np.uint8
    assert 0 < (before != after).mean() < 0.5
    task.close()


@pytest.mark.usefixtures("screen")
def test_an_environment_draws_itself_on_request() -> None:
    env = make_env("swimmer", render_mode="rgb_array")
    env.reset(seed=0)
    assert env.render().std() > 10
    env.close()


DRAWN_FIRST = """
import numpy as np
from rolecast.envs.registry import make_task
task = make_task("hopper")
task.reset(np.array([1], dtype=np.uint64))
task.frame()
import triton
"""


@pytest.mark.skipif(find_spec("triton") is None, reason="needs the package triton")
@pytest.mark.usefixtures("screen")
def test_torch_may_load_triton_after_a_picture() -> None:
    """Its LLVM met that of OSMesa: a search for structure after a film ended the process."""
    ended = subprocess.run([sys.executable, "-c", DRAWN_FIRST], capture_output=True, check=False)
    assert ended.returncode == 0, ended.stderr.decode()


def test_a_machine_that_draws_nothing_says_so_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MUJOCO_GL", "off")
    task = make_task("hopper")
    task.reset(np.array([1], dtype=np.uint64))
    with pytest.raises(RequestError, match="nothing off screen here: off: ") as refused:
        task.frame()  # type: ignore[attr-defined]
    assert "\n" not in str(refused.value)
