"""Symmetries found in random play: those that are declared, moved ones, and none where none are."""

from typing import Any

import numpy as np
import pytest

from rolecast.core.types import Float, Seeds
from rolecast.envs.found_symmetries import find_symmetries, proposals
from rolecast.envs.predator_prey.task import PredatorPreyTask
from rolecast.envs.random_play import Moments, moments, play_at_random
from rolecast.envs.registry import make_task
from rolecast.envs.spec import TaskSpec
from rolecast.envs.symmetry import SignedPlaces, Symmetry, apply_places, index_and_sign
from rolecast.policies.registry import make_policy

PLAYED_STEPS = 16_000


def moved_entries(symmetries: tuple[Symmetry, ...]) -> set[tuple[SignedPlaces, SignedPlaces]]:
    return {(each.observation, each.action) for each in symmetries}


def closed(symmetries: tuple[Symmetry, ...]) -> set[SignedPlaces]:
    """Return all elements of the group, as signed permutations of observation and action."""

    def whole(one: Symmetry) -> SignedPlaces:
        size = len(one.observation)
        moved = [place + size if place > 0 else place - size for place in one.action]
        return one.observation + tuple(moved)

    group = {tuple(range(1, 1 + len(whole(symmetries[0]))))}
    while True:
        images = (apply_places(whole(one), each) for one in symmetries for each in group)
        grown = group | {tuple(map(int, image)) for image in images}
        if len(grown) == len(group):
            return group
        group = grown


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_the_square_of_predator_prey_is_found(seed: int) -> None:
    """All eight that move an action, and no others; seed 2 finds four of them, 19 of 20 all."""
    task = make_task("pred_prey_3")
    found = find_symmetries(task, env_steps=PLAYED_STEPS, seed=seed)
    declared = task.spec.symmetries[:2]  # mirror x, exchange x and y
    assert closed(found.symmetries) == closed(declared)
    assert len(closed(declared)) == 8
    assert PLAYED_STEPS <= found.env_steps <= 1.2 * PLAYED_STEPS


@pytest.mark.slow
def test_a_reflection_that_permutes_legs_and_signs_is_found() -> None:
    """Of the ant: 27 entries and 8 motors, none of which is free to change its sign alone."""
    task = make_task("ant")
    found = find_symmetries(task, env_steps=PLAYED_STEPS, seed=0)
    assert moved_entries(found.symmetries) == moved_entries(task.spec.symmetries)


def test_an_environment_of_gymnasium_has_one_that_nobody_declared() -> None:
    found = find_symmetries(make_task("gym:Pendulum-v1"), env_steps=PLAYED_STEPS, seed=0)
    assert moved_entries(found.symmetries) == {((1, -2, -3), (-1,))}


@pytest.mark.parametrize("task_id", ["hopper", "gym:MountainCarContinuous-v0"])
def test_none_is_found_where_there_is_none(task_id: str) -> None:
    found = find_symmetries(make_task(task_id), env_steps=PLAYED_STEPS, seed=0)
    assert found.symmetries == ()
    assert found.env_steps > 0


def test_a_push_to_one_side_leaves_the_mirror_of_the_other() -> None:
    """The wind breaks mirror x and the exchange; mirror y is still one."""

    class Windy(PredatorPreyTask):
        def step(self, actions: Float) -> Any:
            wind = np.array([0.3, 0.0])
            return super().step(np.clip(0.7 * np.asarray(actions) + wind, -1.0, 1.0))

    found = find_symmetries(Windy(3), env_steps=PLAYED_STEPS, seed=0)
    assert [each.action for each in found.symmetries] == [(1, -2)]


def test_entries_in_another_order_and_sign_give_the_moved_group() -> None:
    """Nothing depends on pairs (x, y) that stand side by side."""
    places = tuple(
        int(place)
        for place in np.random.default_rng(4).permutation(np.arange(1, 17))
        * np.random.default_rng(5).choice([-1, 1], 16)
    )

    class Shuffled(PredatorPreyTask):
        def reset(self, seeds: Seeds) -> Float:
            return apply_places(places, super().reset(seeds))

        def step(self, actions: Float) -> Any:
            observations, *rest = super().step(actions)
            return apply_places(places, observations), *rest

    found = find_symmetries(Shuffled(3), env_steps=PLAYED_STEPS, seed=0)
    mirrors = [each for each in found.symmetries if each.action in {(-1, 2), (1, -2)}]
    assert len(mirrors) == 2
    index, _ = index_and_sign(places)
    for each in mirrors:
        negative = np.flatnonzero(np.array(each.observation) < 0)
        axis = 0 if each.action == (-1, 2) else 1
        assert set(index[negative]) == set(range(axis, 16, 2))


def test_backtracking_finds_a_hidden_permutation() -> None:
    """Moments that one signed permutation leaves, with other entries all different."""
    places: SignedPlaces = (2, 1, -3, 5, 4, -6)
    index, signs = index_and_sign(places)
    rng = np.random.default_rng(0)
    means, products = rng.normal(1.0, 1.0, (3, 6)), rng.normal(1.0, 1.0, (3, 6, 6))
    means = means + means[:, index] * signs
    products = products + products[:, index][:, :, index] * np.outer(signs, signs)
    found = Moments(
        means=means,
        mean_errors=np.full(means.shape, 0.01),
        products=products,
        product_errors=np.full(products.shape, 0.01),
    )
    assert found.misfit(index, signs) < 1e-6
    assert set(proposals(found, 3, [])) == {places}


def test_moments_are_means_over_steps_and_episodes() -> None:
    """By hand, from one agent's entries."""
    play = play_at_random(make_task("pred_prey_3"), env_steps=3_000, seed=1)
    steps, episodes, agents, size = play.entries.shape
    assert (steps, agents, size) == (25, 3, 18)
    assert play.env_steps == steps * episodes >= 3_000
    by_episode = np.array(
        [
            np.mean(
                [np.outer(play.entries[t, e, 1], play.entries[t, e, 1]) for t in range(steps)], 0
            )
            for e in range(episodes)
        ]
    )
    made = moments(play, agent=1)
    np.testing.assert_allclose(made.products[0], by_episode.mean(0), atol=1e-12)
    errors = by_episode.std(0, ddof=1) / np.sqrt(episodes)
    np.testing.assert_allclose(made.product_errors[0], errors, atol=1e-9)
    held = play.entries[:4, :, :, 16:]
    assert (held == held[:1]).all()
    assert np.abs(play.entries[..., 16:]).max() <= 1.0


def test_steps_after_the_end_do_not_count() -> None:
    play = play_at_random(make_task("hopper"), env_steps=1_000, seed=0)
    ended = play.weights == 0.0
    assert ended.any()
    assert (play.entries[ended] == 0.0).all()
    np.testing.assert_allclose(play.weights.sum(0), 1.0)
    assert play.env_steps == int((~ended).sum())


def test_weights_follow_what_was_found() -> None:
    task = make_task("pred_prey_3")
    found = find_symmetries(task, env_steps=PLAYED_STEPS, seed=0)
    given = [vars(each) for each in found.symmetries]
    ties = make_policy("hom", task, symmetries=given).space.ties
    assert ties is not None
    assert ties.max() == 61  # by the square alone; 57 with the exchange of landmarks
    assert make_policy("hom", task, symmetries=[]).space.ties is None


class Counting:
    """Shows its steps, in one array for all of them or in one of its own each."""

    spec = TaskSpec(id="counting", agents=1, observation_size=1, action_size=1, horizon=4)

    def __init__(self, *, in_place: bool) -> None:
        self._in_place = in_place

    def reset(self, seeds: Seeds) -> Float:
        self._seen = np.zeros((len(seeds), 1, 1))
        return self._seen

    def step(self, actions: Float) -> Any:
        if not self._in_place:
            self._seen = self._seen.copy()
        self._seen += 1.0
        ended = self._seen[:, 0, 0] == self.spec.horizon
        return self._seen, np.zeros(len(actions)), ended, {}

    def close(self) -> None:
        """Nothing."""


@pytest.mark.parametrize("in_place", [False, True])
def test_a_task_may_write_the_next_step_into_the_same_array(in_place: bool) -> None:
    play = play_at_random(Counting(in_place=in_place), env_steps=1, seed=0)
    np.testing.assert_array_equal(play.entries[:, 0, 0, 0], [0.0, 1.0, 2.0, 3.0])
    np.testing.assert_array_equal(play.changes[:, 0, 0, 0], 1.0)
