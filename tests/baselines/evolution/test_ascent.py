"""ClipUp by hand, Adam against torch's, and both from a saved state."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from rolecast.baselines.evolution.ascent import Adam, Ascent, ClipUp


def test_clipup_steps_as_its_paper_says() -> None:
    """Velocity 0.9 v + 0.3 g / |g|, its length cut to 0.5: three steps by hand."""
    ascent = ClipUp(2, step_size=0.3, max_speed=0.5, momentum=0.9)
    np.testing.assert_allclose(ascent.step(np.array([0.0, 8.0])), [0.0, 0.3])
    uncut = np.array([0.18, 0.51])
    found = ascent.step(np.array([3.0, 4.0]))
    np.testing.assert_allclose(found, 0.5 * uncut / np.hypot(0.18, 0.51))
    found = ascent.step(np.array([-1e9, 0.0]))
    np.testing.assert_allclose(found, 0.9 * 0.5 * uncut / np.hypot(0.18, 0.51) - [0.3, 0.0])


def test_without_a_gradient_clipup_coasts() -> None:
    ascent = ClipUp(2, step_size=0.3, max_speed=0.5, momentum=0.9)
    ascent.step(np.array([1.0, 0.0]))
    np.testing.assert_allclose(ascent.step(np.zeros(2)), [0.27, 0.0])


def test_adam_steps_as_that_of_torch() -> None:
    rng, point = np.random.default_rng(0), torch.zeros(5, dtype=torch.float64, requires_grad=True)
    theirs, ours, place = torch.optim.Adam([point], lr=0.03), Adam(5, step_size=0.03), np.zeros(5)
    for _ in range(20):
        gradient = rng.standard_normal(5)
        point.grad = torch.from_numpy(-gradient)
        theirs.step()
        place += ours.step(gradient)
    np.testing.assert_allclose(place, point.detach().numpy(), rtol=1e-9)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ClipUp(3, step_size=0.1, max_speed=0.2, momentum=0.5),
        lambda: Adam(3, step_size=0.1),
    ],
    ids=["clipup", "adam"],
)
def test_an_ascent_goes_on_from_its_state(make: Callable[[], Ascent]) -> None:
    one, other = make(), make()
    one.step(np.array([1.0, 2.0, 3.0]))
    other.load_state_dict(one.state_dict())
    np.testing.assert_array_equal(one.step(np.ones(3)), other.step(np.ones(3)))
