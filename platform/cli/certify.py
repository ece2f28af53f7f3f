"""`rolecast certify`: a lower bound on what a found policy earns."""

from pathlib import Path
from typing import Annotated

import typer

from rolecast.platform.cli.documented import field_texts
from rolecast.platform.cli.former_policy import tell_of_former_policy
from rolecast.platform.cli.output import Json, patience, print_json, say
from rolecast.platform.cli.trust import Trust
from rolecast.platform.deployment.config import CertifyConfig

_FIELD_TEXTS = field_texts(CertifyConfig)


def certify(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a run, or its policy/.")],
    *,
    episodes: Annotated[int, typer.Option(help=_FIELD_TEXTS["episodes"])] = CertifyConfig.episodes,
    confidence: Annotated[
        float, typer.Option(help=_FIELD_TEXTS["confidence"])
    ] = CertifyConfig.confidence,
    returns_within: Annotated[
        tuple[float, float] | None, typer.Option(help=_FIELD_TEXTS["returns_within"])
    ] = None,
    seed: Annotated[int, typer.Option(help=_FIELD_TEXTS["seed"])] = CertifyConfig.seed,
    sign: Annotated[
        Path | None, typer.Option(help="Ed25519 private key by which policy.json is signed anew.")
    ] = None,
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Bound the mean return of a found policy from below, and store the bound with it.

    Example: rolecast certify runs/hunt --episodes 10000 --confidence 0.99
    """
    from dataclasses import asdict

    from rolecast.platform.deployment.certify import certify as certify_policy
    from rolecast.policies.certificate import RETURN_NAME, bound_text

    config = CertifyConfig(
        episodes=episodes, confidence=confidence, returns_within=returns_within, seed=seed
    )
    tell_of_former_policy(folder)
    with patience(f"playing {episodes} episodes; with many agents that takes minutes"):
        found = certify_policy(folder, config, sign=sign, trust=trust)
    if json:
        print_json(asdict(found))
        return
    for name, bound in ((RETURN_NAME, found.episode_return), *found.rates.items()):
        say(
            f"{name} in {found.task}: at least {bound_text(name, bound.at_least)} with confidence "
            f"{found.confidence:g} ({bound.mean:.4g} over {found.episodes} episodes; "
            f"{bound.method})"
        )
