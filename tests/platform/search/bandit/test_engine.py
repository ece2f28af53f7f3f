"""The engine: noise by agent and round."""

import numpy as np

from rolecast.platform.search.bandit import engine


def test_noise_depends_on_agent_and_round_alone() -> None:
    whole = engine.standard_noise(1, *engine.queries_from(0, 27, 3))
    some = engine.standard_noise(1, *engine.queries_from(7, 11, 3))
    np.testing.assert_array_equal(some, whole[7:18])
    own = engine.standard_noise(1, np.full(9, 2), np.arange(9))
    np.testing.assert_array_equal(own, whole[2::3])
    assert len(np.unique(whole)) == 27
