"""A state is plain data, a snapshot, and enough to go on from, for every optimiser."""

import io
import json
from collections.abc import Callable
from typing import Any

import numpy as np

from rolecast.platform.optimizers.protocol import Optimizer, Paced
from tests.platform.optimizers.conftest import Make


def run(optimizer: Optimizer, batches: int, seed: int = 0) -> list[np.ndarray]:
    """Ask and tell noisy returns for some batches; return what was asked, and the incumbent."""
    rng, asked = np.random.default_rng(seed), []
    for batch in range(batches):
        if isinstance(optimizer, Paced):
            optimizer.pace(0.1 * batch)
        asked.append(optimizer.ask(7))
        returns = 3.0 - np.square(asked[-1] - 0.3).sum(1) + 0.1 * rng.normal(size=7)
        optimizer.tell(asked[-1], returns, np.full(7, 0.1))
    return [*asked, optimizer.best()]


def assert_same(one: list[np.ndarray], other: list[np.ndarray]) -> None:
    for left, right in zip(one, other, strict=True):
        np.testing.assert_array_equal(left, right)


def require_plain(value: Any) -> None:
    """Fail on anything but arrays of numbers and JSON values."""
    if type(value) is dict:
        assert all(type(key) is str for key in value)
        for item in value.values():
            require_plain(item)
    elif type(value) is list:
        for item in value:
            require_plain(item)
    elif type(value) is np.ndarray:
        assert value.dtype.kind in "biuf"
    else:
        assert type(value) in (int, float, str, bool, type(None)), type(value)


def through_files(state: dict[str, Any]) -> dict[str, Any]:
    """Write a state as JSON and npz, and read it back."""
    arrays: list[np.ndarray] = []

    def strip(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            arrays.append(value)
            return {"array": len(arrays) - 1}
        if isinstance(value, dict):
            return {key: strip(item) for key, item in value.items()}
        return value

    def fill(value: Any) -> Any:
        if isinstance(value, dict):
            if value.keys() == {"array"}:
                return read[f"arr_{value['array']}"]
            return {key: fill(item) for key, item in value.items()}
        return value

    text, buffer = json.dumps(strip(state)), io.BytesIO()
    np.savez(buffer, *arrays)
    buffer.seek(0)
    with np.load(buffer) as read:
        restored: dict[str, Any] = fill(json.loads(text))
    return restored


def test_a_state_is_arrays_and_json_values(make: Make) -> None:
    optimizer = make()
    require_plain(optimizer.state_dict())
    run(optimizer, 4)
    optimizer.ask(3)
    require_plain(optimizer.state_dict())


def test_a_restored_optimizer_goes_on_as_the_original_would_have(make: Make) -> None:
    original, restored = make(0), make(1)
    run(original, 5)
    restored.load_state_dict(through_files(original.state_dict()))
    np.testing.assert_array_equal(original.best(), restored.best())
    assert_same(run(original, 5, seed=1), run(restored, 5, seed=1))


def test_it_can_be_restored_before_its_first_tell_and_with_candidates_pending(make: Make) -> None:
    for asks in (0, 1):
        original, restored = make(0), make(1)
        for _ in range(asks):
            original.ask(9)
        restored.load_state_dict(through_files(original.state_dict()))
        assert_same(run(original, 3), run(restored, 3))
    original.ask(5)
    restored.load_state_dict(through_files(original.state_dict()))
    np.testing.assert_array_equal(original.ask(5), restored.ask(5))


def test_a_state_is_a_snapshot_and_so_is_what_is_loaded(
    make: Make, same_state: Callable[[Any, Any], None]
) -> None:
    original, restored = make(0), make(1)
    run(original, 4)
    state = original.state_dict()
    before = through_files(state)
    rest = run(original, 3, seed=1)
    restored.load_state_dict(state)
    assert_same(run(restored, 3, seed=1), rest)
    same_state(state, before)


def test_a_restore_forgets_what_was_known(make: Make) -> None:
    original, restored = make(0), make(0)
    run(original, 3)
    run(restored, 5, seed=8)
    restored.load_state_dict(original.state_dict())
    assert_same(run(original, 2, seed=1), run(restored, 2, seed=1))
