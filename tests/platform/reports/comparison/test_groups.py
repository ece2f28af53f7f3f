"""Places of a curve are of the same trials as its values."""

from collections.abc import Sequence

import numpy as np

from rolecast.platform.reports.comparison.groups import MethodTrials, Trace, Trial


def trial(
    seed: int, points: Sequence[int], seconds: Sequence[float], evaluations: Sequence[float] = ()
) -> Trial:
    at = np.array(points, dtype=float)
    return Trial(
        name=f"seed{seed}",
        task="hopper",
        reward="dense",
        method="dss_gp_ucb",
        policy="mlp",
        seed=seed,
        status="ok",
        error="",
        parameters=1,
        reports={
            "point": at,
            "env_steps": 1000.0 * at,
            "policy_evaluations": np.array(evaluations or np.full(len(at), np.nan)),
            "wall_time_s": np.array(seconds, dtype=float),
            "test_return": at,
            "test_return_stderr": np.zeros(len(at)),
        },
    )


def trace(*trials: Trial) -> Trace:
    cell = MethodTrials(task="hopper", reward="dense", method="dss_gp_ucb", trials=[*trials])
    return cell.traces["mean"]


def test_a_curve_of_trials_that_report_at_other_points_does_not_run_backwards() -> None:
    """A slow trial reports at points 1, 2 and 4, a fast one at 1, 3 and 4."""
    found = trace(trial(0, [1, 2, 4], [100, 200, 400]), trial(1, [1, 3, 4], [10, 30, 40]))
    assert list(found.wall_time_s) == [55.0, 110.0, 165.0, 220.0]
    assert list(found.env_steps) == [1000.0, 2000.0, 3000.0, 4000.0]
    assert list(found.seeds) == [2, 2, 2, 2]
    assert np.isnan(found.policy_evaluations).all()


def test_a_place_is_of_the_trials_that_have_come_so_far() -> None:
    found = trace(trial(0, [1, 2], [10, 20]), trial(1, [2, 3], [200, 300]))
    assert list(found.wall_time_s) == [10.0, 110.0, 300.0]
    assert list(found.seeds) == [1, 2, 1]


def test_where_all_trials_report_everywhere_a_place_is_their_mean_to_the_last_bit() -> None:
    draws = np.random.default_rng(0).lognormal(size=(2, 5, 7)).cumsum(axis=-1)
    trials = [
        trial(seed, range(1, 8), draws[0, seed].tolist(), draws[1, seed].tolist())
        for seed in range(5)
    ]
    found = trace(*trials)
    seconds, evaluations = (np.stack(list(each), axis=-1).mean(axis=-1) for each in draws)
    np.testing.assert_array_equal(found.wall_time_s, seconds)
    np.testing.assert_array_equal(found.policy_evaluations, evaluations)
