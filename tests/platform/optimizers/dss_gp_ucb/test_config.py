"""Settings of DSS-GP-UCB: what each does to the search, and what cannot be."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rolecast.core.errors import ConfigError
from rolecast.core.types import Float
from rolecast.platform.optimizers.dss_gp_ucb.config import DssGpUcbConfig
from rolecast.platform.optimizers.dss_gp_ucb.structure_settings import STRUCTURE_KINDS
from rolecast.platform.optimizers.protocol import Optimizer
from rolecast.platform.optimizers.registry import make_optimizer, optimizer_config

SCHEDULE: dict[str, Any] = {
    "radius": 0.3,
    "final_radius": 0.1,
    "evaluations": 100,
    "narrowing": "schedule",
    "lengthscale": "cloud",
}
CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "local": {"configuration": "local"},
    "paper": {"configuration": "paper", "pool": 64},
}
REACHES: list[dict[str, Any]] = [SCHEDULE, {}]


def asked_by(name: str, **settings: Any) -> np.ndarray:
    """Return what a search of five noisy batches asks for in six dimensions."""
    optimizer, rng = make_optimizer(name, dimension=6, seed=4, **settings), np.random.default_rng(0)
    asked = []
    for _ in range(5):
        asked.append(optimizer.ask(12))
        points = asked[-1]
        returns = points[:, 0] * points[:, 1] + points[:, 2] + 0.02 * rng.normal(size=12)
        optimizer.tell(points, returns, np.full(12, 0.02))
    return np.concatenate(asked)


@pytest.mark.parametrize(
    ("cliques", "message"),
    [
        ((), r"cliques is \(\); expected at least one clique, or none at all"),
        (3, "cliques is 3; expected at least one clique, or none at all"),
        (((0, 1), ()), r"cliques is \(\); expected cliques of at least one dimension, each once"),
        (((0, 1, 0),), r"cliques is \(0, 1, 0\); expected cliques of .* each once"),
        (((0, 6),), r"cliques is \(0, 6\); expected dimensions from 0 to 5"),
        (((-1, 2),), r"cliques is \(-1, 2\); expected dimensions from 0 to 5"),
        (((0, 1.5),), r"cliques is \(0, 1.5\); expected cliques that are tuples of integers"),
        (((0, "a"),), "expected cliques that are tuples of integers"),
        ((1, 2), "cliques is 1; expected cliques that are tuples of integers"),
    ],
)
@pytest.mark.parametrize("configuration", ["local", "paper"])
def test_bad_cliques_are_one_sentence(cliques: Any, message: str, configuration: str) -> None:
    config = optimizer_config("dss_gp_ucb", cliques=cliques, configuration=configuration)
    with pytest.raises(ConfigError, match=message) as caught:
        config.build(dimension=6, seed=0)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "settings",
    [
        {"edge_cap": 1.5},
        {"clique_cap": True},
        {"structure_policies": 2.0},
        {"max_points": 10.5, "configuration": "paper"},
        {"pool": 2.5, "configuration": "paper"},
    ],
)
def test_a_count_is_an_integer(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"expected an? (integer|power of 2)"):
        optimizer_config("dss_gp_ucb", **settings)


@pytest.mark.parametrize("reach", REACHES)
def test_without_cliques_it_is_the_local_search(reach: dict[str, Any]) -> None:
    plain = asked_by("local_gp", **reach)
    np.testing.assert_array_equal(asked_by("dss_gp_ucb", **reach), plain)


def test_cliques_without_an_effect_on_the_local_search_are_refused() -> None:
    """Those of a policy are no setting of the user: its Hessians may have no edge."""
    alone = ((0,), (1,), (2,))
    policy = DssGpUcbConfig(groups=(0, 0, 1)).with_structure({"cliques": alone})
    policy.build(dimension=3, seed=0)
    with pytest.raises(ConfigError, match=r"cliques is .*; expected one of two or more dimensions"):
        make_optimizer("dss_gp_ucb", dimension=3, configuration="local", cliques=alone)


@pytest.mark.parametrize("configuration", ["local", "paper"])
@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        *(({"structure": kind}, "'found' or 'none'") for kind in ("blocks", "random", "full")),
        ({"structure_source": "policy"}, "'returns'"),
    ],
)
def test_a_black_box_has_no_structure_of_a_policy(
    configuration: str, settings: dict[str, Any], expected: str
) -> None:
    (name,) = settings
    message = f"UcbConfig.{name} is .*; expected {expected} for a black box"
    with pytest.raises(ConfigError, match=message):
        make_optimizer("dss_gp_ucb", dimension=6, configuration=configuration, **settings)
    if configuration == "local":
        with pytest.raises(ConfigError, match=message):
            DssGpUcbConfig(**settings).build(dimension=6, seed=0)
        DssGpUcbConfig(groups=(0,) * 6, **settings).build(dimension=6, seed=0)


def test_without_cliques_the_global_search_is_gp_ucb() -> None:
    of_paper = asked_by("dss_gp_ucb", configuration="paper", pool=16, beta=0.3)
    np.testing.assert_array_equal(of_paper, asked_by("gp_ucb", pool=16, beta=0.3))


def test_a_dimension_in_no_clique_is_one_of_its_own_in_the_global_search() -> None:
    some = asked_by("dss_gp_ucb", configuration="paper", pool=16, cliques=((0, 1), (3, 4)))
    all_named = asked_by(
        "dss_gp_ucb", configuration="paper", pool=16, cliques=((0, 1), (3, 4), (2,), (5,))
    )
    np.testing.assert_array_equal(some, all_named)


@pytest.mark.parametrize("structure", STRUCTURE_KINDS)
@pytest.mark.parametrize("configuration", ["local", "paper"])
def test_structure_is_found_from_a_first_cloud_of_the_search(
    structure: str, configuration: str
) -> None:
    cloud = {"radius": 0.2, "final_radius": 0.1} if configuration == "local" else {}
    config: Any = optimizer_config(
        "dss_gp_ucb",
        structure=structure,
        configuration=configuration,
        structure_policies=40,
        **cloud,
    )
    design = config.initial_design(dimension=50, seed=3)
    if structure == "none":
        assert design is None
        return
    assert design is not None
    assert design.shape == (40, 50)
    assert ((design >= 0.0) & (design <= 1.0)).all()
    again = config.initial_design(dimension=50, seed=3)
    assert again is not None
    np.testing.assert_array_equal(design, again)
    # Root mean square distance from the middle: the radius, or sqrt(50 / 12) where uniform.
    distance = np.sqrt(np.square(design - 0.5).sum(1).mean())
    assert distance == pytest.approx(0.2 if configuration == "local" else 2.041, rel=0.1)


def test_cliques_that_are_given_are_not_searched_for() -> None:
    config = DssGpUcbConfig(cliques=((0, 1),))
    assert config.initial_design(dimension=3, seed=0) is None


def test_found_cliques_become_a_setting() -> None:
    config = DssGpUcbConfig(edge_cap=7).with_structure({"cliques": [[0, 2], [1]]})
    assert config == DssGpUcbConfig(cliques=((0, 2), (1,)))
    assert config.surrogate_cliques() == ((0, 2), (1,))


@pytest.mark.parametrize("configuration", [None, "local", "paper"])
@pytest.mark.parametrize(
    "setting",
    [
        {"structure": "none"},
        {"structure": "full"},
        {"structure_source": "returns"},
        {"structure_score": "signed"},
        {"balance": True},
        {"edge_cap": 1},
        {"clique_cap": 1},
        {"clique_size": 2},
        {"structure_policies": 4},
    ],
)
def test_settings_of_the_search_for_cliques_are_refused_beside_given_ones(
    configuration: str | None, setting: dict[str, Any]
) -> None:
    (name,) = setting
    with pytest.raises(ConfigError, match=rf"\.{name} is .* where cliques are given, for none"):
        optimizer_config("dss_gp_ucb", configuration=configuration, cliques=((0, 1),), **setting)


def test_the_global_search_proposes_the_batches_of_the_paper() -> None:
    proposal = optimizer_config("dss_gp_ucb", configuration="paper").proposal(100_000)
    assert (proposal.episodes, proposal.batch_size) == (32, 15)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"configuration": "paper", "radius": 0.2},
            r"PaperDssGpUcbConfig.radius is 0.2; expected configuration 'local', which alone has",
        ),
        (
            {"configuration": "paper", "device": "cuda"},
            r"PaperDssGpUcbConfig.device is 'cuda'; expected configuration 'local', which alone",
        ),
        ({"pool": 64}, r"DssGpUcbConfig.pool is 64; expected configuration 'paper', which alone"),
    ],
)
def test_a_setting_of_the_other_configuration_is_refused_by_name(
    settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        optimizer_config("dss_gp_ucb", **settings)
    assert "\n" not in str(caught.value)


def told_of_pairs(optimizer: Optimizer, batches: int, seed: int = 0) -> list[np.ndarray]:
    """Ask and tell a sum over pairs of 8 dimensions; return what was asked, and the incumbent."""
    rng, asked = np.random.default_rng(seed), []
    for _ in range(batches):
        asked.append(optimizer.ask(20))
        waves = np.cos(6.0 * asked[-1][:, ::2] * asked[-1][:, 1::2] + np.arange(4))
        optimizer.tell(asked[-1], waves.sum(1) + 0.05 * rng.normal(size=20))
    return [*asked, optimizer.best()]


@pytest.mark.parametrize("configuration", ["local", "paper"])
def test_a_black_box_without_cliques_has_its_pairs_found_in_the_returns(configuration: str) -> None:
    optimizer = make_optimizer("dss_gp_ucb", dimension=8, **CONFIGURATIONS[configuration])
    told_of_pairs(optimizer, 13)
    edges = optimizer.state_dict()["process"]["finder"]["edges"]
    # In the order of belief; a last round may bring one too many.
    assert {tuple(edge) for edge in edges[:4].tolist()} == {(0, 1), (2, 3), (4, 5), (6, 7)}
    assert len(edges) <= 5


@pytest.mark.parametrize("configuration", ["local", "paper"])
def test_a_search_that_has_found_pairs_goes_on_from_its_state(configuration: str) -> None:
    original, restored = (
        make_optimizer("dss_gp_ucb", dimension=8, seed=seed, **CONFIGURATIONS[configuration])
        for seed in (0, 1)
    )
    told_of_pairs(original, 10)
    restored.load_state_dict(original.state_dict())
    for one, same in zip(
        told_of_pairs(original, 3, seed=1), told_of_pairs(restored, 3, seed=1), strict=True
    ):
        np.testing.assert_array_equal(one, same)


def test_pairs_are_not_looked_for_where_that_is_not_wanted() -> None:
    optimizer = make_optimizer("dss_gp_ucb", dimension=8, structure="none")
    told_of_pairs(optimizer, 6)
    assert "structure_edges" not in optimizer.explain()  # type: ignore[attr-defined]


class Steps:
    """A policy whose actions are steps: it has no `relaxed_act`."""


def test_a_policy_that_cannot_be_differentiated_leaves_its_pairs_to_the_returns() -> None:
    design, states = np.full((16, 3), 0.5), np.zeros((16, 1, 2))
    policy: Any = Steps()
    assert DssGpUcbConfig().find_structure(policy, design, states) is None
    with pytest.raises(ConfigError, match="structure_source is 'policy'; expected returns"):
        DssGpUcbConfig(structure_source="policy").find_structure(policy, design, states)


def test_pairs_that_are_looked_for_in_returns_need_no_initial_design() -> None:
    config = DssGpUcbConfig(structure_source="returns")
    assert config.initial_design(dimension=3, seed=0) is None
    assert config.finder_settings() is not None


def chain(points: Float) -> Float:
    """A sum over dimensions and over pairs of neighbours."""
    waves = np.sin(6.0 * points + np.arange(10)).sum(1)
    return np.asarray(waves + (points[:, :-1] * points[:, 1:]).sum(1))


def ridge(points: Float) -> Float:
    """A wave along the sum of all inputs, in which any number of them interact."""
    return np.asarray(np.cos(2.0 * points.sum(1)))


@pytest.mark.parametrize("configuration", ["local", "paper"])
@pytest.mark.parametrize(("function", "pairs"), [(chain, 1.0), (ridge, 0.0)])
def test_evidence_takes_all_pairs_for_a_sum_and_not_for_a_wave(
    configuration: str, function: Callable[[Float], Float], pairs: float
) -> None:
    optimizer = make_optimizer("dss_gp_ucb", dimension=10, **CONFIGURATIONS[configuration])
    points = np.random.default_rng(0).random((90, 10))
    for part in np.split(points, 6):
        optimizer.tell(part, function(part))
    believed = optimizer.explain()  # type: ignore[attr-defined]
    assert believed["structure_pairs"] == pairs
    assert (believed["structure_share"] > 0.0) == bool(pairs)


def test_a_policy_has_no_cliques_unless_they_are_asked_for() -> None:
    """Nor the initial design for them; a black box has no groups, and looks for pairs."""
    black_box, policy = DssGpUcbConfig(), DssGpUcbConfig(groups=(0, 0, 1))
    assert policy.structure_used == "none"
    assert policy.initial_design(dimension=3, seed=0) is None
    assert policy.finder_settings() is None
    assert black_box.structure_used == "found"
    assert black_box.finder_settings() is not None
    settings: tuple[dict[str, Any], ...] = ({"structure": "found"}, {"structure_source": "policy"})
    for named in settings:
        found = DssGpUcbConfig(groups=(0, 0, 1), **named)
        design = found.initial_design(dimension=3, seed=0)
        assert design is not None
        assert design.shape == (16, 3)
