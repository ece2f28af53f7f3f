"""Contract of an optimiser as a test class: inherit it, define `make`, and let pytest collect it.

Example:
    class TestMine(OptimizerContract):
        def make(self, seed: int = 0) -> Optimizer:
            return MyConfig().build(dimension=self.dimension, seed=seed)
"""

import copy
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from rolecast.core.encoding import from_bytes, to_bytes
from rolecast.core.errors import RequestError
from rolecast.core.types import Float
from rolecast.platform.optimizers.protocol import Explains, Optimizer, Paced, SharesEpisodes


class OptimizerContract:
    """Tests that every optimiser passes, whatever is asked and told in whatever order."""

    dimension: ClassVar[int] = 6
    """D of the optimisers that `make` returns, at least 2."""

    def make(self, seed: int = 0) -> Optimizer:
        """Return a fresh optimiser of `dimension` dimensions.

        Raises:
            NotImplementedError: the inheriting class does not define it.
        """
        raise NotImplementedError("define make(seed) in the class that inherits OptimizerContract")

    def test_candidates_have_their_shape_and_stay_in_the_cube(self) -> None:
        sizes = [5, 1, 17, 2, 40]
        for batch, q in zip(asked_by(self.make(), sizes), sizes, strict=True):
            assert batch.shape == (q, self.dimension)
            assert batch.dtype == np.float64
            assert batch.min() >= 0.0
            assert batch.max() <= 1.0

    def test_episodes_are_shared_within_a_batch_with_a_candidate_before(self) -> None:
        optimizer = self.make()
        if isinstance(optimizer, SharesEpisodes):
            for q in (5, 1, 8):
                optimizer.ask(q)
                rows = optimizer.episode_rows()
                assert rows.shape == (q,)
                assert ((rows >= 0) & (rows <= np.arange(q))).all()

    def test_no_candidate_repeats_one_before(self) -> None:
        asked = np.concatenate(asked_by(self.make(), [6] * 15))
        assert len(np.unique(asked, axis=0)) == len(asked)

    def test_two_asks_in_a_row_share_no_candidate(self) -> None:
        optimizer = self.make()
        asked_by(optimizer, [8])
        asked = np.concatenate([optimizer.ask(3) for _ in range(4)])
        assert len(np.unique(asked, axis=0)) == 12

    def test_the_same_seed_asks_the_same_and_another_seed_another(self) -> None:
        """The centre of the cube is excepted, which a search may ask for with any seed."""
        one, same, other = (
            np.concatenate(asked_by(self.make(seed), [7, 7, 7])) for seed in (1, 1, 2)
        )
        np.testing.assert_array_equal(one, same)
        drawn = one[(one != 0.5).any(-1)]
        assert len(drawn) >= len(one) - 1
        assert not (drawn[:, None] == other).all(-1).any()

    def test_tells_come_in_any_order_and_of_points_never_asked(self) -> None:
        optimizer, rng = self.make(), np.random.default_rng(0)
        optimizer.tell(rng.random((3, self.dimension)), np.array([1.0, 2.0, 3.0]))
        asked = optimizer.ask(12)
        for part in (asked[9:], asked[:2], rng.random((5, self.dimension)), asked[2:9]):
            optimizer.tell(part, slope(part), None if len(part) == 5 else np.zeros(len(part)))
            assert optimizer.best().shape == (self.dimension,)
        assert optimizer.ask(4).shape == (4, self.dimension)

    def test_arrays_that_were_told_may_be_changed_afterwards(self) -> None:
        optimizer = self.make()
        asked = optimizer.ask(8)
        returns, errors = slope(asked), np.ones(8)
        optimizer.tell(asked, returns, errors)
        state = copy.deepcopy(optimizer.state_dict())
        asked[:], returns[:], errors[:] = 0.5, 1e6, 7.0
        optimizer.best()[:] = 0.25
        require_same_state(optimizer.state_dict(), state)

    def test_the_incumbent_is_in_the_cube_and_does_not_wander_by_itself(self) -> None:
        optimizer = self.make()
        asked_by(optimizer, [10] * 4)
        best = optimizer.best()
        assert best.shape == (self.dimension,)
        assert ((best >= 0.0) & (best <= 1.0)).all()
        np.testing.assert_array_equal(optimizer.best(), best)

    def test_there_is_no_incumbent_before_the_first_tell(self) -> None:
        optimizer = self.make()
        require_refusal(optimizer.best, "needs at least one evaluation")
        optimizer.ask(3)
        require_refusal(optimizer.best, "needs at least one evaluation")

    def test_returns_that_are_all_alike_harm_nothing(self) -> None:
        for value, stderr in ((0.0, 0.0), (0.7, None), (-3.0, 0.2)):
            optimizer = self.make()
            for _ in range(4):
                errors = None if stderr is None else np.full(8, stderr)
                optimizer.tell(optimizer.ask(8), np.full(8, value), errors)
            assert np.isfinite(optimizer.ask(8)).all(), (value, stderr)
            assert np.isfinite(optimizer.best()).all(), (value, stderr)

    def test_a_single_evaluation_is_enough_to_go_on(self) -> None:
        optimizer = self.make()
        optimizer.tell(np.full((1, self.dimension), 0.3), np.array([2.0]))
        assert optimizer.best().shape == (self.dimension,)
        assert optimizer.ask(2).shape == (2, self.dimension)

    def test_a_wrong_tell_is_refused_and_changes_nothing(self) -> None:
        points, paid = np.full((2, self.dimension), 0.5), np.array([1.0, 2.0])
        cases: Sequence[tuple[tuple[Float, ...], str]] = [
            ((points, np.array([1.0, np.nan])), r"returns\[1\] is nan; expected a finite number"),
            ((points, np.array([-np.inf, 1.0])), r"returns\[0\] is -inf; expected a finite"),
            ((points * np.nan, paid), "outside"),
            ((points + 0.6, paid), "outside"),
            ((points - 0.6, paid), "outside"),
            ((points[:, 1:], paid), "expected shape"),
            ((points[0], paid), "expected shape"),
            ((points, paid[:1]), "tell.returns is .*expected shape"),
            ((points, paid[:, None]), "tell.returns is .*expected shape"),
            ((points, paid, np.ones(3)), "tell.stderrs is .*expected shape"),
            ((points, paid, np.array([1.0, -1.0])), "negative or infinite"),
            ((points, paid, np.array([np.inf, 1.0])), "negative or infinite"),
        ]
        optimizer = self.make()
        asked_by(optimizer, [8, 8])
        state = copy.deepcopy(optimizer.state_dict())
        for arguments, message in cases:
            require_refusal(optimizer.tell, message, *arguments)
            require_same_state(optimizer.state_dict(), state)

    def test_a_wrong_batch_size_is_refused_and_changes_nothing(self) -> None:
        optimizer = self.make()
        for sizes in ([], [8]):
            asked_by(optimizer, sizes)
            state = copy.deepcopy(optimizer.state_dict())
            for q in (0, -2, 1.5):
                require_refusal(optimizer.ask, f"ask.q is {q}; expected an integer >= 1", q)
                require_same_state(optimizer.state_dict(), state)

    def test_a_restored_optimizer_asks_what_the_original_would_have(self) -> None:
        """It forgets what it knew, and neither of the two changes the state afterwards."""
        original, restored = self.make(0), self.make(1)
        asked_by(original, [7] * 5, hill)
        asked_by(restored, [15] * 3)
        state, best, explained = original.state_dict(), original.best(), explained_by(original)
        kept = read_back(original)
        expected = asked_by(original, [7] * 4, hill)
        restored.load_state_dict(state)
        np.testing.assert_array_equal(restored.best(), best)
        assert explained_by(restored) == explained
        require_same_state(asked_by(restored, [7] * 4, hill), expected)
        require_same_state(state, kept)

    def test_a_state_before_the_first_tell_is_enough_to_go_on(self) -> None:
        """Fresh, and with candidates pending."""
        for asks in (0, 1):
            original, restored = self.make(0), self.make(1)
            for _ in range(asks):
                original.ask(9)
            restored.load_state_dict(read_back(original))
            require_same_state(asked_by(original, [7] * 3), asked_by(restored, [7] * 3))
        original.ask(5)
        restored.load_state_dict(read_back(original))
        np.testing.assert_array_equal(original.ask(5), restored.ask(5))

    def test_a_state_amid_a_batch_changes_nothing_and_is_enough_to_go_on(self) -> None:
        unsaved, saved, restored = self.make(0), self.make(0), self.make(1)
        for each in (unsaved, saved):
            asked_by(each, [9, 9])
            asked = each.ask(9)
            each.tell(asked[:3], slope(asked[:3]), np.full(3, 0.1))
        restored.load_state_dict(read_back(saved))
        for each in (unsaved, saved, restored):
            each.tell(asked[3:], slope(asked[3:]), np.full(6, 0.1))
        expected = [*asked_by(unsaved, [9, 9]), unsaved.best()]
        for each in (saved, restored):
            require_same_state([*asked_by(each, [9, 9]), each.best()], expected)
            assert explained_by(each) == explained_by(unsaved)

    def test_explanations_are_named_numbers(self) -> None:
        optimizer = self.make()
        asked_by(optimizer, [8, 8])
        explained = explained_by(optimizer)
        assert all(type(name) is str and type(value) is float for name, value in explained.items())


def explained_by(optimizer: Optimizer) -> dict[str, float]:
    """Return what an optimiser explains of itself; nothing where it does not."""
    return dict(optimizer.explain()) if isinstance(optimizer, Explains) else {}


def slope(points: Float) -> Float:
    """Return -|x|^2 of points [q, D]: its maximum is the corner at 0, where clipping repeats."""
    return np.asarray(-np.square(points).sum(1))


def hill(points: Float) -> Float:
    """Return -|x - 0.3|^2 of points [q, D], with a ripple that is noise to a model."""
    return np.asarray(slope(points - 0.3) + 0.1 * np.sin(1e4 * points.sum(1)))


def asked_by(
    optimizer: Optimizer, sizes: Sequence[int], function: Callable[[Float], Float] = slope
) -> list[Float]:
    """Ask for batches of these sizes and tell a function of them.

    Args:
        optimizer: asked; one with a schedule is told that each batch is a twentieth of the budget.
        sizes: q of each batch.
        function: from points [q, D] to returns [q], told with standard error 0.1.
    Returns:
        The batches [q, D].
    """
    asked = []
    for batch, q in enumerate(sizes):
        if isinstance(optimizer, Paced):
            optimizer.pace(0.05 * batch)
        asked.append(optimizer.ask(q))
        optimizer.tell(asked[-1], function(asked[-1]), np.full(q, 0.1))
    return asked


def read_back(optimizer: Optimizer) -> dict[str, Any]:
    """Return the state of an optimiser as a file keeps it: the same arrays and JSON values."""
    state = optimizer.state_dict()
    kept = from_bytes(to_bytes(state))
    require_same_state(kept, state)
    return kept


def require_refusal(call: Callable[..., object], message: str, *arguments: Any) -> None:
    """Fail unless a call raises a `RequestError` whose text matches `message`.

    Raises:
        AssertionError: it does not.
    """
    refusal: RequestError | None = None
    try:
        call(*arguments)
    except RequestError as error:
        refusal = error
    assert refusal is not None, f"{call} was not refused; expected RequestError {message!r}"
    assert re.search(message, str(refusal)), f"{refusal} does not match {message!r}"


def require_same_state(one: Any, other: Any) -> None:
    """Fail unless two states are equal to the last bit, as a file keeps them."""
    if isinstance(one, Mapping):
        assert isinstance(other, Mapping)
        assert one.keys() == other.keys()
        for key in one:
            require_same_state(one[key], other[key])
    elif isinstance(one, list | tuple):
        assert type(one) is type(other)
        for left, right in zip(one, other, strict=True):
            require_same_state(left, right)
    elif isinstance(one, np.ndarray):
        assert isinstance(other, np.ndarray)
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    else:
        left, right = (
            each.item() if isinstance(each, np.generic) else each for each in (one, other)
        )
        assert type(left) is type(right), f"{left!r} is a {type(left)}, and {right!r} is not"
        assert left == right
