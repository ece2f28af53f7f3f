"""Search for symmetries of a task that declares none, in the moments of random play.

A symmetry leaves the moments of random play as they are. Mirrors come first: entries that are
correlated must change sign together, so each connected part of their graph that has an action and
no mean is one. Exchanges of two such parts follow, entry by entry in their order; then any signed
permutation that moves an action, by backtracking. What is found has to hold on fresh episodes,
for each agent alone. It is a proposal: a search accepts or refuses it by returns, as it does with
a declaration.

Limits: symmetries that move no action are not looked for, and an entry that random play never
changes stays where it is.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rolecast.core.types import Float
from rolecast.envs.random_play import (
    BLOCK_EPISODES,
    LONGEST_EPISODE,
    Moments,
    moments,
    play_at_random,
)
from rolecast.envs.spec import BatchedTask
from rolecast.envs.symmetry import SignedPlaces, Symmetry, index_and_sign
from rolecast.envs.symmetry_check import GREATEST_DEVIATION

TEST_SHARE: Final = 0.25
"""Share of the env steps that are fresh, on which symmetries have to hold."""

LEAST_CORRELATION: Final = 5.0
"""Standard errors from which on two entries belong together, and a mean is not 0."""

MISFIT_BOUNDS: Final = (3.0, 3.5, 4.0, 4.5, 5.0)
"""Greatest misfits of a permutation, in standard errors; the first with a solution counts."""

BACKTRACKING_STEPS: Final = 2000
"""Maximum assignments tried for one image of one action at one bound."""

SignedImages = NDArray[np.bool_]
"""Images [m, 2 m] that each entry may have: +1 to +m, then -1 to -m."""


@dataclass(frozen=True, kw_only=True)
class FoundSymmetries:
    """Symmetries found, and what it took."""

    symmetries: tuple[Symmetry, ...]
    """Generators, none if nothing held."""

    env_steps: int
    """Steps of the random episodes."""


def find_symmetries(task: BatchedTask, *, env_steps: int, seed: int) -> FoundSymmetries:
    """Look for symmetries in random play; the task's running episodes are replaced.

    Args:
        task: any batched task.
        env_steps: of the random play, about; 8,000 are few, 30,000 enough for the tasks here.
        seed: of the random play.
    Raises:
        RunError: the task failed.
    """
    spec = task.spec
    rng = np.random.SeedSequence(seed).generate_state(2)
    tested = round(TEST_SHARE * env_steps)
    first = play_at_random(task, env_steps=env_steps - tested, seed=int(rng[0]))
    fresh = play_at_random(task, env_steps=tested, seed=int(rng[1]))
    alone = range(spec.agents) if spec.agents > 1 else ()
    tests = [moments(fresh), *(moments(fresh, agent) for agent in alone)]
    kept = list[SignedPlaces]()
    for places in proposals(moments(first), spec.observation_size, kept):
        index, signs = index_and_sign(places)
        if max(test.misfit(index, signs) for test in tests) < GREATEST_DEVIATION:
            kept.append(places)
    return FoundSymmetries(
        symmetries=tuple(_named(places, spec.observation_size) for places in kept),
        env_steps=first.env_steps + fresh.env_steps,
    )


def least_play(task: BatchedTask) -> int:
    """Return the env steps that `find_symmetries` may need however few are asked for."""
    return 2 * BLOCK_EPISODES * min(LONGEST_EPISODE, task.spec.horizon)


def proposals(
    found: Moments, observed: int, kept: Sequence[SignedPlaces]
) -> Iterator[SignedPlaces]:
    """Yield signed permutations of entries that the moments allow, the simplest first.

    Args:
        found: of m entries.
        observed: do, the first of which are the observation.
        kept: what came of those before; no action is moved to where these move it.
    """
    size = found.means.shape[1]
    same = np.arange(1, size + 1)
    single, pairs = found.significances()
    parts = [
        part
        for part in _connected(pairs > LEAST_CORRELATION)
        if part[-1] >= observed and not (single[part] > LEAST_CORRELATION).any()
    ]
    for part in parts:
        mirrored = same.copy()
        mirrored[part] *= -1
        yield tuple(mirrored.tolist())
    for one, other in combinations(parts, 2):
        if len(one) == len(other):
            exchanged = same.copy()
            exchanged[one], exchanged[other] = same[other], same[one]
            if found.misfit(*index_and_sign(tuple(exchanged.tolist()))) < MISFIT_BOUNDS[-1]:
                yield tuple(exchanged.tolist())
    searches = [_Backtracking(found, observed, bound) for bound in MISFIT_BOUNDS]
    for entry, image in product(range(observed, size), repeat=2):
        for sign in (1, -1):
            if _reaches(entry + 1, sign * (image + 1), kept):
                continue
            solutions = (search.completed(entry, image, sign) for search in searches)
            solution = next((places for places in solutions if places is not None), None)
            if solution is not None:
                yield solution


def _connected(edges: NDArray[np.bool_]) -> list[NDArray[np.int64]]:
    """Return the connected parts of a graph [m, m], each sorted."""
    parts, left = [], set(range(len(edges)))
    while left:
        part, waiting = set[int](), [min(left)]
        while waiting:
            entry = waiting.pop()
            if entry in left:
                left.remove(entry)
                part.add(entry)
                waiting += np.flatnonzero(edges[entry]).tolist()
        parts.append(np.array(sorted(part)))
    return parts


def _reaches(entry: int, image: int, kept: Sequence[SignedPlaces]) -> bool:
    """Return whether generators can bring a signed entry, from 1, to a signed image."""
    seen, waiting = set[int](), [entry]
    while waiting:
        at = waiting.pop()
        if at not in seen:
            seen.add(at)
            waiting += [int(np.sign(at)) * places[abs(at) - 1] for places in kept]
    return image in seen


def _named(places: SignedPlaces, observed: int) -> Symmetry:
    """Return the symmetry of places of observation and action entries together."""
    action = tuple(int(np.sign(place)) * (abs(place) - observed) for place in places[observed:])
    name = f"found, actions {', '.join(map(str, action))}"
    return Symmetry(name=name, observation=places[:observed], action=action)


class _Backtracking:
    """Signed permutations whose moments agree within a bound, entry by entry."""

    def __init__(self, found: Moments, observed: int, bound: float) -> None:
        self._found, self._bound = found, bound
        self._size = found.means.shape[1]
        acts = np.arange(self._size) >= observed
        alike = np.tile(acts[:, None] == acts[None], 2)
        twice = np.concatenate([found.means, -found.means], axis=1)
        alike &= self._near(found.means, twice, found.mean_errors)
        own = np.einsum("kii->ki", found.products)
        errors = np.einsum("kii->ki", found.product_errors)
        self._alike = alike & self._near(own, np.tile(own, 2), errors)
        self._left = 0

    def completed(self, entry: int, image: int, sign: int) -> SignedPlaces | None:
        """Return a signed permutation that moves an entry to an image with a sign, or None."""
        chosen = image if sign > 0 else image + self._size
        if not self._alike[entry, chosen]:
            return None
        self._left = BACKTRACKING_STEPS
        images = self._extended({entry: chosen}, self._filtered(self._alike, entry, chosen))
        if images is None:
            return None
        places = [0] * self._size
        for moved, found in images.items():
            target, negative = found % self._size, found >= self._size
            places[target] = -(moved + 1) if negative else moved + 1
        return tuple(places)

    def _near(self, values: Float, images: Float, errors: Float) -> SignedImages:
        """Return where values [K, m] equal images [K, 2 m] within the bound, for all K."""
        apart = np.abs(values[:, :, None] - images[:, None])
        limit = self._bound * np.hypot(errors[:, :, None], np.tile(errors, 2)[:, None])
        return np.asarray((apart < limit).all(0))

    def _filtered(self, allowed: SignedImages, entry: int, image: int) -> SignedImages:
        """Return what other entries may still become once an entry has an image."""
        target, sign = image % self._size, 1.0 if image < self._size else -1.0
        kept = allowed.copy()
        kept[:, [target, target + self._size]] = False
        for products, errors in (
            (self._found.products, self._found.product_errors),
            (self._found.products.swapaxes(1, 2), self._found.product_errors.swapaxes(1, 2)),
        ):
            moved = sign * products[:, :, target]
            apart = np.abs(
                products[:, :, entry, None] - np.concatenate([moved, -moved], axis=1)[:, None]
            )
            limit = np.hypot(errors[:, :, entry, None], np.tile(errors[:, :, target], 2)[:, None])
            kept &= (apart < self._bound * limit).all(0)
        return kept

    def _extended(self, images: dict[int, int], allowed: SignedImages) -> dict[int, int] | None:
        """Return images of all entries, those given among them; entries stay where they can."""
        left = [entry for entry in range(self._size) if entry not in images]
        if not left:
            return images
        self._left -= 1
        counts = allowed[left].sum(1)
        if self._left < 0 or not counts.all():
            return None
        entry = left[int(counts.argmin())]
        options = np.flatnonzero(allowed[entry]).tolist()
        options.sort(key=lambda image: image != entry)
        for image in options:
            whole = self._extended({**images, entry: image}, self._filtered(allowed, entry, image))
            if whole is not None:
                return whole
        return None
