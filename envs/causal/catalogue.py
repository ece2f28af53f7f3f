"""The six tasks of the MCBO paper: graphs as in its figure 3, equations as in the authors' code.

The paper prints no equations; the authors' public code (github.com/ssethz/mcbo) has them, and so do
Aglietti et al. (2020) for ToyGraph and PSAGraph, Astudillo and Frazier (2021) for the others. All
are maximised: the rewards of ToyGraph and PSAGraph are the origin's with a changed sign.
"""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from rolecast.core.errors import ConfigError, RequestError
from rolecast.core.types import Float
from rolecast.envs.causal.graph import ActionRange, CausalGraph, CausalNode, NodeNoise
from rolecast.envs.causal.problem import PAPER_SOURCE, CausalProblem, CausalTask
from rolecast.envs.causal.simulators import Mechanism

NoisyNode = tuple[str, tuple[str, ...], tuple[str, ...], str, Mechanism]
"""Name, parents, actions, equation in words, and mechanism."""


def _problem(
    nodes: list[NoisyNode],
    noise: NodeNoise | Mapping[str, NodeNoise],
    summary: str,
    **interventions: Any,
) -> CausalProblem:
    """Return the problem of nodes whose noise is alike, or is given by name."""
    of_node = noise if isinstance(noise, Mapping) else dict.fromkeys((n[0] for n in nodes), noise)
    graph = CausalGraph(
        nodes=tuple(
            CausalNode(
                name=name,
                parents=parents,
                actions=actions,
                noise=of_node.get(name, NodeNoise()),
                mechanism=words,
            )
            for name, parents, actions, words, _ in nodes
        ),
        **interventions,
    )
    return CausalProblem(graph, {name: law for name, *_, law in nodes}, summary=summary)


def _actions(count: int) -> tuple[ActionRange, ...]:
    """Return actions a0, a1, ... in [0, 1]."""
    return tuple(ActionRange(name=f"a{k}") for k in range(count))


def _normal(deviation: float) -> NodeNoise:
    return NodeNoise(kind="normal", scale=deviation) if deviation else NodeNoise()


def toy_graph() -> CausalProblem:
    """ToyGraph: hard interventions on one of two nodes of a chain, unit noise at every node."""
    return _problem(
        [
            ("X0", (), (), "w", lambda _: np.zeros(1)),
            ("X1", ("X0",), (), "exp(-X0) + w", lambda x: np.exp(-x["X0"])),
            (
                "Y",
                ("X1",),
                (),
                "exp(-X1 / 20) - cos X1 + w",
                lambda x: np.exp(-x["X1"] / 20.0) - np.cos(x["X1"]),
            ),
        ],
        _normal(1.0),
        "one node of a chain is set",
        do=(ActionRange(name="X0", low=-5, high=5), ActionRange(name="X1", low=-5, high=20)),
        sets=((), ("X0",), ("X1",)),
    )


def _logistic(x: Float) -> Float:
    return np.asarray(1.0 / (1.0 + np.exp(-x)))


def psa_graph() -> CausalProblem:
    """PSAGraph: doses of aspirin and statin against the prostate-specific antigen."""
    return _problem(
        [
            ("age", (), (), "U(55, 75)", lambda _: np.full(1, 65.0)),
            ("bmi", ("age",), (), "27 - 0.01 age + w", lambda x: 27.0 - 0.01 * x["age"]),
            (
                "aspirin",
                ("age", "bmi"),
                (),
                "sigmoid(-8 + 0.10 age + 0.03 bmi)",
                lambda x: _logistic(-8.0 + 0.10 * x["age"] + 0.03 * x["bmi"]),
            ),
            (
                "statin",
                ("age", "bmi"),
                (),
                "sigmoid(-13 + 0.10 age + 0.20 bmi)",
                lambda x: _logistic(-13.0 + 0.10 * x["age"] + 0.20 * x["bmi"]),
            ),
            (
                "cancer",
                ("age", "bmi", "aspirin", "statin"),
                (),
                "sigmoid(2.2 - 0.05 age + 0.01 bmi - 0.04 statin + 0.02 aspirin)",
                lambda x: _logistic(
                    2.2
                    - 0.05 * x["age"]
                    + 0.01 * x["bmi"]
                    - 0.04 * x["statin"]
                    + 0.02 * x["aspirin"]
                ),
            ),
            (
                "Y",
                ("age", "bmi", "aspirin", "statin", "cancer"),
                (),
                "-(6.8 + 0.04 age - 0.15 bmi - 0.60 statin + 0.55 aspirin + cancer) + w",
                lambda x: (
                    -6.8
                    - 0.04 * x["age"]
                    + 0.15 * x["bmi"]
                    + 0.60 * x["statin"]
                    - 0.55 * x["aspirin"]
                    - x["cancer"]
                ),
            ),
        ],
        {
            "age": NodeNoise(kind="uniform", scale=10.0),
            "bmi": _normal(0.7),
            "Y": _normal(0.4),
        },
        "doses of two drugs against an antigen",
        do=(ActionRange(name="aspirin"), ActionRange(name="statin")),
        sets=((), ("aspirin",), ("statin",), ("aspirin", "statin")),
    )


def dropwave(noise: int = 0, noise_seen_only: int = 0) -> CausalProblem:
    """Drop-wave: the radius of a point, and a wave of it; noise of deviation 0.1.

    Differs: the authors' noisy variant computes Y from the radius without noise, which is not the
    model of their figure 3; `noise_seen_only=1` does the same, for comparison with their curves.
    """

    def radius(x: Mapping[str, Float]) -> Float:
        return np.asarray(np.hypot(10.24 * x["a0"] - 5.12, 10.24 * x["a1"] - 5.12))

    def wave(x: Mapping[str, Float]) -> Float:
        r = radius(x) if noise_seen_only else x["X0"]
        return np.asarray((1.0 + np.cos(12.0 * r)) / (2.0 + 0.5 * r**2))

    return _problem(
        [
            ("X0", (), ("a0", "a1"), "|10.24 a - 5.12|", radius),
            ("Y", ("X0",), (), "(1 + cos 12 X0) / (2 + X0^2 / 2)", wave),
        ],
        _normal(0.1 * noise),
        "a wave of the distance from a centre",
        actions=_actions(2),
    )


def alpine2(noise: int = 0) -> CausalProblem:
    """Alpine2: a chain of six products; unit noise at every node."""

    def factor(place: int, x: Mapping[str, Float]) -> Float:
        v = 10.0 * x[f"a{place}"]
        before = x[f"X{place - 1}"] if place else -1.0
        return np.asarray(np.sqrt(v) * np.sin(v) * before)

    last = 5
    nodes: list[NoisyNode] = []
    for k in range(last + 1):
        parents = (f"X{k - 1}",) if k else ()
        before = f"X{k - 1}" if k else "(-1)"
        words = f"sqrt(v) sin(v) {before}, v = 10 a{k}"
        nodes.append((_chained(k, last), parents, (f"a{k}",), words, partial(factor, k)))
    return _problem(
        nodes, _normal(float(noise)), "a product of six waves", actions=_actions(last + 1)
    )


def rosenbrock(noise: int = 0) -> CausalProblem:
    """Rosenbrock: a chain of four sums over five actions; unit noise at every node."""

    def partial_sum(place: int, x: Mapping[str, Float]) -> Float:
        v, after = (4.0 * (x[f"a{place + k}"] - 0.5) for k in (0, 1))
        before = x[f"X{place - 1}"] if place else 0.0
        return np.asarray(before - 100.0 * (after - v**2) ** 2 - (1.0 - v) ** 2)

    last = 3
    nodes: list[NoisyNode] = []
    for k in range(last + 1):
        parents = (f"X{k - 1}",) if k else ()
        words = f"{'X' + str(k - 1) if k else '0'} - 100 (v{k + 1} - v{k}^2)^2 - (1 - v{k})^2"
        actions = (f"a{k}", f"a{k + 1}")
        nodes.append((_chained(k, last), parents, actions, words, partial(partial_sum, k)))
    return _problem(
        nodes, _normal(float(noise)), "a valley in five dimensions, as sums", actions=_actions(5)
    )


def _chained(place: int, last: int) -> str:
    """Return the name of a node of a chain."""
    return "Y" if place == last else f"X{place}"


def ackley() -> CausalProblem:
    """Ackley: two means of six actions, and their sum of exponentials; without noise."""
    names = [f"a{k}" for k in range(6)]

    def mean_square(x: Mapping[str, Float]) -> Float:
        return np.asarray(np.mean([(4.0 * (x[n] - 0.5)) ** 2 for n in names], axis=0))

    def mean_cosine(x: Mapping[str, Float]) -> Float:
        v = [np.cos(2.0 * np.pi * 4.0 * (x[n] - 0.5)) for n in names]
        return np.asarray(np.mean(v, axis=0))

    def reward(x: Mapping[str, Float]) -> Float:
        root = np.sqrt(np.maximum(x["X0"], 0.0))
        return np.asarray(20.0 * np.exp(-0.2 * root) + np.exp(x["X1"]) - 20.0 - np.e)

    everything = tuple(names)
    return _problem(
        [
            ("X0", (), everything, "mean v^2, v = 4 a - 2", mean_square),
            ("X1", (), everything, "mean cos(2 pi v)", mean_cosine),
            ("Y", ("X0", "X1"), (), "20 exp(-0.2 sqrt X0) + exp X1 - 20 - e", reward),
        ],
        NodeNoise(),
        "many waves over a bowl, by two means",
        actions=_actions(6),
    )


CAUSAL_PROBLEMS: Final[Mapping[str, tuple[Callable[..., CausalProblem], tuple[str, ...]]]] = (
    MappingProxyType(
        {
            "causal:toy": (toy_graph, ()),
            "causal:psa": (psa_graph, ()),
            "causal:dropwave": (dropwave, ("noise", "noise_seen_only")),
            "causal:alpine2": (alpine2, ("noise",)),
            "causal:rosenbrock": (rosenbrock, ("noise",)),
            "causal:ackley": (ackley, ()),
        }
    )
)
"""Id to problem and options."""


def make_causal(name: str, task_id: str, options: Mapping[str, Any]) -> CausalTask:
    """Return a task of the catalogue.

    Args:
        name: of `CAUSAL_PROBLEMS`.
        task_id: with its options.
        options: by name.
    Raises:
        RequestError: an option is unknown, or has a wrong value.
    """
    build, known = CAUSAL_PROBLEMS[name]
    for option, value in options.items():
        if option not in known:
            has = f"its options are {', '.join(known)}" if known else "it has none"
            raise RequestError(f"option of task {name!r}: {option!r} does not exist; {has}")
        if type(value) is not int or value not in (0, 1):
            raise ConfigError(f"option {option!r} of task {name!r}", value, "0 or 1")
    return CausalTask(build(**options), task_id, PAPER_SOURCE)
