import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rolecast.core.seeds import Purpose, derived_seed, episode_seeds


@given(root=st.integers(0, 2**40), index=st.integers(0, 2**31), few=st.integers(1, 20))
def test_the_first_seeds_do_not_depend_on_how_many_follow(root: int, index: int, few: int) -> None:
    many = episode_seeds(root, Purpose.SEARCH, index, 64)
    np.testing.assert_array_equal(episode_seeds(root, Purpose.SEARCH, index, few), many[:few])


def test_no_two_episodes_of_a_search_share_a_seed() -> None:
    """False alarm: about 1e-8, two of 600,000 draws of 64 bits that coincide."""
    kinds = [
        episode_seeds(root, purpose, index, 100)
        for root in range(4)
        for purpose in Purpose
        for index in range(300)
    ]
    seeds = np.concatenate(kinds)
    assert len(np.unique(seeds)) == len(seeds)


def test_a_derived_seed_fits_a_signed_integer() -> None:
    assert all(0 <= derived_seed(root, Purpose.POLICY) < 2**63 for root in range(100))
