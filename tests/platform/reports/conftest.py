"""Comparisons as their runner writes them, of made-up returns."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.methods import LearnerMethod, Method, SearchMethod
from tests.conftest import write_comparison

METHODS: tuple[Method, ...] = (
    SearchMethod(optimizer="dss_gp_ucb", policy="mlp"),
    SearchMethod(optimizer="cmaes", policy="mlp"),
    LearnerMethod(algorithm="ddpg", settings={"size": "small"}),
    LearnerMethod(algorithm="sac", settings={"size": "small"}),
    *(SearchMethod(optimizer="snes", label=f"one_of_many_searches_{k}") for k in range(20)),
)

MakeComparison = Callable[..., Path]


@pytest.fixture
def make_comparison(tmp_path: Path) -> MakeComparison:
    """Return a function that writes the folder of a comparison on `hopper`.

    Its arguments: `ends`, method and reward to the end return of each seed; `lost`, trial names to
    what becomes of them ("failed", "failed at once", "running", "not begun"); `skipped`, points
    that a method does not report.
    """

    def make(
        ends: Mapping[tuple[str, str], Sequence[float]],
        *,
        lost: Mapping[str, str] | None = None,
        skipped: Mapping[str, Sequence[int]] | None = None,
        points: int = 4,
        tasks: Sequence[str] = ("hopper",),
    ) -> Path:
        used = {method for method, _ in ends}
        experiment = Experiment(
            name="made_up",
            summary="Made-up returns",
            tasks=tuple(tasks),
            rewards=tuple(dict.fromkeys(reward for _, reward in ends)),
            methods=tuple(each for each in METHODS if each.label in used),
            seeds=max(map(len, ends.values())),
            env_steps=1000 * points,
            points=points,
        )
        rows = []
        plans = []
        for plan in experiment.trials():
            returns = ends.get((plan.method, plan.reward), ())
            if plan.seed >= len(returns):
                continue
            plans.append(vars(plan))
            fate = (lost or {}).get(plan.trial, "ok")
            gone = (skipped or {}).get(plan.method, ())
            rows += _rows(vars(plan), returns[plan.seed], fate, points, gone)
        told = {
            "experiment": experiment.to_json(),
            "trials": plans,
            "versions": {"rolecast": "0.1.0", "ray": "2.60.0"},
            "command": ["rolecast", "compare", "made_up"],
        }
        write_comparison(tmp_path / "out", told, pd.DataFrame(rows))
        return tmp_path / "out"

    return make


def _rows(
    plan: dict[str, Any], end: float, fate: str, points: int, skipped: Sequence[int]
) -> list[dict[str, Any]]:
    """Return the reports of a trial whose return rises evenly to its end."""
    if fate == "not begun":
        return []
    status = fate.split()[0]
    error = "OSError: the lever broke" if status == "failed" else ""
    if fate == "failed at once":
        return [{**plan, "status": status, "error": error}]
    last = points if status == "ok" else points // 2
    seconds = 5.0 if plan["method"] in {"dss_gp_ucb", "cmaes"} else 9.0
    return [
        {
            **plan,
            "parameters": 263,
            "status": status,
            "error": error,
            "point": point,
            "done": status == "ok" and point == points,
            "env_steps": 1000 * point + plan["seed"],
            "policy_evaluations": 10 * point,
            "test_return": end * point / points,
            "test_return_stderr": 1.0,
            "wall_time_s": seconds * point + plan["seed"],
        }
        for point in range(1, last + 1)
        if point not in skipped
    ]


@pytest.fixture
def noisy_ends() -> dict[tuple[str, str], list[float]]:
    """End returns of five seeds of four methods under three rewards."""
    random = np.random.default_rng(0)
    middles = {"dss_gp_ucb": (1000, 1000, 1000), "cmaes": (700, 650, 720),
               "ddpg": (600, 400, 200), "sac": (2700, 900, 500)}  # fmt: skip
    return {
        (method, reward): [float(each) for each in random.normal(middle, 150, 5)]
        for method, values in middles.items()
        for reward, middle in zip(("dense", "sparse=100", "delay=100"), values, strict=True)
    }
