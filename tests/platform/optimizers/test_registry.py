"""Optimisers are found by name, and what does not exist is answered with what does."""

import dataclasses
import math
from typing import Any

import pytest

from rolecast.core.errors import ConfigError, RequestError
from rolecast.platform.optimizers.registry import (
    make_optimizer,
    optimizer_config,
    optimizer_config_class,
    optimizer_names,
)
from tests.platform.optimizers.conftest import NAMES


def test_all_names_are_listed() -> None:
    assert set(optimizer_names()) >= set(NAMES)
    assert optimizer_names() == sorted(optimizer_names())


@pytest.mark.parametrize("name", NAMES)
def test_settings_are_frozen_and_by_keyword(name: str) -> None:
    config = optimizer_config(name)
    assert dataclasses.is_dataclass(config)
    for field in dataclasses.fields(config):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(config, field.name, None)
    with pytest.raises(TypeError):
        optimizer_config_class(name)(1)


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(
        RequestError, match="optimizer 'cmase' does not exist; did you mean 'cmaes'"
    ):
        make_optimizer("cmase", dimension=3)


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_setting_is_answered_with_the_nearest(name: str) -> None:
    """Where there is any: random search has no setting."""
    known = [field.name for field in dataclasses.fields(optimizer_config_class(name))]  # type: ignore[arg-type]  # by contract
    nearest = f"; did you mean '{known[0]}'" if known else ""
    with pytest.raises(RequestError, match=f"does not exist{nearest}"):
        make_optimizer(name, dimension=3, **{f"{known[0] if known else 'setting'}x": 1})


BAD = [
    ("gp_ucb", {"beta": 0.0}, "GpUcbConfig.beta is 0.0; expected a number > 0"),
    ("gp_ucb", {"beta": float("nan")}, "GpUcbConfig.beta is nan; expected a number > 0"),
    ("gp_ucb", {"max_points": 3}, "GpUcbConfig.max_points is 3; expected an integer >= 4"),
    ("gp_ucb", {"pool": 100}, "GpUcbConfig.pool is 100; expected a power of 2, at least 2"),
    (
        "gp_ucb",
        {"outcome_transform": "ranks"},
        "outcome_transform is 'ranks'; expected 'automatic' or 'signed_sqrt' or 'rank'",
    ),
    ("cmaes", {"radius": 0.0}, "CmaesConfig.radius is 0.0; expected a number > 0"),
    ("cmaes", {"population": 3}, "CmaesConfig.population is 3; expected an integer >= 4, or none"),
    ("cmaes", {"lr_adapt": True}, "CmaesConfig.lr_adapt is True; expected false where separable"),
    ("local_gp", {"final_radius": 9.0}, "LocalGpConfig.final_radius is 9.0; expected .*<= radius"),
    ("local_gp", {"radius": 0.3, "final_radius": 0.4}, "final_radius is 0.4; expected .*<= radius"),
    ("local_gp", {"step": 0.0}, "LocalGpConfig.step is 0.0; expected a number in .0, "),
    ("local_gp", {"narrowing": "progres"}, "narrowing is 'progres'; expected .*'progress'"),
    ("local_gp", {"lengthscale": "clouds"}, "lengthscale is 'clouds'; expected 'cloud'"),
    (
        "local_gp",
        {"averaged": 1.1},
        r"LocalGpConfig.averaged is 1.1; expected a number in \[0, 1\]",
    ),
    ("local_gp", {"window": 2.5}, "LocalGpConfig.window is 2.5; expected an integer >= 1"),
    (
        "local_gp",
        {"evaluations": True},
        "LocalGpConfig.evaluations is True; expected an integer >= 1",
    ),
    ("local_gp", {"groups": (0, 1)}, "LocalGpConfig.groups is '2 groups'; expected one for each"),
    ("dss_gp_ucb", {"configuration": "papr"}, "configuration is 'papr'; expected .*'paper'"),
    ("dss_gp_ucb", {"structure": "block"}, "structure is 'block'; expected .*'blocks'"),
    ("dss_gp_ucb", {"structure_score": "sign"}, "score is 'sign'; expected 'rms' or 'signed'"),
    ("local_gp", {"ties": (0, 0)}, r"ties is \(0, 0\); expected signed integers, not all of them"),
    ("dss_gp_ucb", {"edge_cap": 0}, "DssGpUcbConfig.edge_cap is 0; expected an integer >= 1"),
    ("dss_gp_ucb", {"clique_size": 1}, "DssGpUcbConfig.clique_size is 1; expected an integer >= 2"),
    (
        "dss_gp_ucb",
        {"pool": 3, "configuration": "paper"},
        "PaperDssGpUcbConfig.pool is 3; expected a power of 2",
    ),
    ("turbo", {"trust_regions": 0}, "TurboConfig.trust_regions is 0; expected an integer >= 1"),
    ("turbo", {"trust_regions": None}, "TurboConfig.trust_regions is None; expected an integer"),
    ("turbo", {"candidates": 0}, "TurboConfig.candidates is 0; expected an integer >= 1"),
    ("turbo", {"centre": "means"}, "centre is 'means'; expected 'mean' or 'observed'"),
    ("turbo", {"initial": 1}, "TurboConfig.initial is 1; expected an integer >= 2"),
    ("logei", {"max_points": 3}, "LogEiConfig.max_points is 3; expected an integer >= 4"),
    ("logei", {"fit_steps": 0}, "LogEiConfig.fit_steps is 0; expected an integer >= 1"),
    ("logei", {"refit": 0.9}, "LogEiConfig.refit is 0.9; expected a number >= 1"),
    ("logei", {"outcome_transform": "ranks"}, "transform is 'ranks'; expected .*'rank'"),
    ("logei", {"restarts": 0}, "LogEiConfig.restarts is 0; expected an integer >= 1"),
    ("logei", {"raw_samples": 1}, "LogEiConfig.raw_samples is 1; expected >= restarts, 2"),
    ("logei", {"draws": 1.5}, "LogEiConfig.draws is 1.5; expected an integer >= 1"),
    ("linebo", {"direction": "descend"}, "direction is 'descend'; expected .*'descent'"),
    ("linebo", {"queries": 0}, "LineBoConfig.queries is 0; expected an integer >= 1"),
    ("linebo", {"probes": 0}, "LineBoConfig.probes is 0; expected an integer >= 1, or none"),
    ("linebo", {"beta": 0.0}, "LineBoConfig.beta is 0.0; expected a number > 0"),
    ("alebo", {"embedding": 0}, "AleboConfig.embedding is 0; expected an integer >= 1"),
    ("alebo", {"matrices": 0}, "AleboConfig.matrices is 0; expected an integer >= 1"),
    ("baxus", {"evaluations": 0}, "BaxusConfig.evaluations is 0; expected an integer >= 1"),
    ("baxus", {"evaluations": None}, "BaxusConfig.evaluations is None; expected an integer >= 1"),
    ("baxus", {"candidates": 0}, "BaxusConfig.candidates is 0; expected an integer >= 1"),
    ("gibo", {"samples": 0}, "GiboConfig.samples is 0; expected an integer >= 1"),
    ("gibo", {"memory": 1}, "GiboConfig.memory is 1; expected an integer >= 2, or none"),
    ("gibo", {"step": 0.0}, "GiboConfig.step is 0.0; expected a number > 0"),
    ("gibo", {"width": -0.1}, "GiboConfig.width is -0.1; expected a number > 0"),
    ("rducb", {"edges": 0.0}, r"RducbConfig.edges is 0.0; expected a number in \(0, 1\]"),
    ("rducb", {"zooms": 0}, "RducbConfig.zooms is 0; expected an integer >= 1"),
    ("treebo", {"resolution": 1}, "TreeboConfig.resolution is 1; expected an integer >= 2"),
    ("treebo", {"exploration": 0.0}, "TreeboConfig.exploration is 0.0; expected a number > 0"),
    ("treebo", {"lengthscale": -1.0}, "TreeboConfig.lengthscale is -1.0; expected a number > 0"),
    ("treebo", {"learn_every": 0}, "TreeboConfig.learn_every is 0; expected an integer"),
    ("treebo", {"gibbs_steps": 0}, "TreeboConfig.gibbs_steps is 0; expected an integer"),
    ("pgpe", {"ascent": "clipupp"}, "ascent is 'clipupp'; expected 'clipup' or 'adam'"),
    ("pgpe", {"population": 7}, "PgpeConfig.population is 7; expected an even integer"),
    ("pgpe", {"momentum": 1.0}, r"PgpeConfig.momentum is 1.0; expected a number in \[0, 1\)"),
    ("pgpe", {"max_speed": 0.0}, "PgpeConfig.max_speed is 0.0; expected a number > 0"),
    ("pgpe", {"spread_rate": -1.0}, "PgpeConfig.spread_rate is -1.0; expected a number >= 0"),
    ("snes", {"population": 3}, "SnesConfig.population is 3; expected an integer >= 4"),
    ("snes", {"radius": 0.0}, "SnesConfig.radius is 0.0; expected a number > 0, or none"),
    ("snes", {"mean_rate": -1.0}, "SnesConfig.mean_rate is -1.0; expected a number > 0"),
    ("snes", {"spread_rate": -1.0}, "SnesConfig.spread_rate is -1.0; expected a number >= 0"),
    ("openai_es", {"step_size": 0.0}, "OpenAiEsConfig.step_size is 0.0; expected a number"),
    ("openai_es", {"decay": -1.0}, "OpenAiEsConfig.decay is -1.0; expected a number >= 0"),
    ("ars", {"step_size": 0.0}, "ArsConfig.step_size is 0.0; expected a number > 0"),
    ("ars", {"top_share": 0.0}, r"ArsConfig.top_share is 0.0; expected a number in \(0, 1\]"),
]


@pytest.mark.parametrize(("name", "settings", "message"), BAD, ids=lambda part: str(part)[:40])
def test_a_wrong_setting_is_one_sentence(name: str, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(RequestError, match=message) as caught:
        make_optimizer(name, dimension=3, **settings)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "value"),
    [("heed_start", "restart_at_centre", False), ("levelling", "outcome_transform", "rank")],
)
def test_a_renamed_setting_is_accepted_by_its_old_name_and_refused_by_both(
    old: str, new: str, value: Any
) -> None:
    assert optimizer_config("local_gp", **{old: value}) == optimizer_config(
        "local_gp", **{new: value}
    )
    with pytest.raises(ConfigError, match=f"{old} is {value!r}; expected {new} alone"):
        optimizer_config("local_gp", **{old: value, new: value})


@pytest.mark.parametrize("value", ["no such", "", math.nan, math.inf, -1, {}, [], [[]]], ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_every_setting_refuses_what_it_cannot_be(name: str, value: Any) -> None:
    """On the command line, `--set radius=nan` is the word "nan", and so is whatever is misspelt."""
    for field in dataclasses.fields(optimizer_config(name)):  # type: ignore[arg-type]  # by contract
        if isinstance(value, list) and field.name in {"groups", "cliques"}:
            continue
        with pytest.raises(RequestError, match=field.name) as caught:
            make_optimizer(name, dimension=3, **{field.name: value})
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("seed", [-1, "1", 1.5, True, None])
@pytest.mark.parametrize("name", NAMES)
def test_a_search_has_a_seed(name: str, seed: Any) -> None:
    with pytest.raises(RequestError, match=f"seed is {seed!r}; expected an integer >= 0"):
        make_optimizer(name, dimension=3, seed=seed)


@pytest.mark.parametrize("name", NAMES)
def test_no_number_stands_for_a_flag_and_no_flag_for_a_number(name: str) -> None:
    config = optimizer_config(name)
    for field in dataclasses.fields(config):  # type: ignore[arg-type]  # by contract
        flag = "bool" in str(field.type)
        with pytest.raises(RequestError, match=field.name):
            make_optimizer(name, dimension=3, **{field.name: 1 if flag else True})
