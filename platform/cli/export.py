"""`rolecast export`: a found policy as source code for a device."""

from pathlib import Path
from typing import Annotated, Any, Final

import typer

from rolecast.core.errors import RequestError
from rolecast.platform.cli.documented import field_texts
from rolecast.platform.cli.former_policy import tell_of_former_policy
from rolecast.platform.cli.output import Json, patience, print_json, say, warn
from rolecast.platform.cli.trust import Trust
from rolecast.platform.deployment.config import ExportConfig

_FIELD_TEXTS = field_texts(ExportConfig)

OF_A_CHECK: Final = ("folder", "check", "verify", "json")
"""Parameters that have an effect with --check."""


def export(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a run, or its policy/.")],
    *,
    target: Annotated[str, typer.Option(help=_FIELD_TEXTS["target"])] = ExportConfig.target,
    out: Annotated[Path | None, typer.Option(help="Folder to make; it must not exist.")] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Check the files of an exported DIR, and export none.")
    ] = False,
    one_agent: Annotated[
        bool, typer.Option("--one-agent/--agents-on-one-device", help=_FIELD_TEXTS["one_agent"])
    ] = ExportConfig.one_agent,
    weights: Annotated[str, typer.Option(help=_FIELD_TEXTS["weights"])] = ExportConfig.weights,
    max_loss: Annotated[float, typer.Option(help=_FIELD_TEXTS["max_loss"])] = ExportConfig.max_loss,
    compiler: Annotated[str, typer.Option(help=_FIELD_TEXTS["compiler"])] = ExportConfig.compiler,
    core: Annotated[list[str] | None, typer.Option(help=_FIELD_TEXTS["cores"])] = None,
    sign: Annotated[
        Path | None,
        typer.Option(help="Ed25519 private key by which manifest.json and policy.json are signed."),
    ] = None,
    verify: Annotated[
        Path | None, typer.Option(help="With --check: public key that signed the manifest.")
    ] = None,
    task: Annotated[
        str | None, typer.Option(help="Of a comparison with several: pred_prey_3?sparse=5.")
    ] = None,
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Export a found policy to C for a microcontroller, equal bit by bit to its reference.

    DIR may also be a comparison, for its winner, or work/TRIAL of its learner: --target onnx writes
    the network.

    Example: rolecast export runs/hunt --target c99 --out firmware
    """
    if check:
        _refuse_unused(context)
        from rolecast.platform.deployment.manifest import check_export

        found = check_export(folder, verify)
        if json:
            print_json(found)
        else:
            say(f"{folder} has the {len(found['files'])} files that its manifest was written for")
        return
    for name, other, idle in (
        ("max_loss", "float32 weights", weights == "float32"),
        ("compiler", "micropython", target == "micropython"),
    ):
        if idle and _is_given(context, name):
            raise RequestError(f"--{name.replace('_', '-')} has no effect with {other}")
    if verify is not None:
        raise RequestError("--verify has nothing to verify; expected --check with it")
    if out is None:
        raise RequestError("no folder to make is named; expected --out PATH")
    from rolecast.platform.deployment.export import export_policy
    from rolecast.platform.deployment.learner import export_learner, is_trial
    from rolecast.platform.deployment.winner import is_comparison, winning_trial

    config = ExportConfig(
        target=target,  # type: ignore[arg-type]  # checked when built
        weights=weights,  # type: ignore[arg-type]  # checked when built
        one_agent=one_agent,
        max_loss=max_loss,
        compiler=compiler,
        cores=tuple(dict.fromkeys(core or ())),
    )
    if is_comparison(folder):
        trial = winning_trial(folder, task)
        folder = trial.run if trial.run.is_dir() else trial.path
        warn(f"the winner's best trial is {trial.path.name}")
    elif task is not None:
        raise RequestError(f"--task has no choice in {folder}; expected a comparison's folder")
    tell_of_former_policy(folder)
    write = export_learner if is_trial(folder) else export_policy
    with patience("comparing the program with its reference; with many agents it takes minutes"):
        manifest = write(folder, out, config, sign=sign, trust=trust)
    if json:
        print_json({"out": str(out), **manifest})
        return
    policy, equal = manifest["policy"], _checked(manifest["check"])
    say(f"{policy['name']} with {policy['parameters']} parameters is in {out}: {equal}")
    for name, found in manifest["check"].get("cores", {}).items():
        say(
            f"{name} in emulation: {found['vectors_equal_bit_by_bit']} vectors are equal bit by "
            f"bit; a step takes {found['instructions_of_a_step']:,} instructions, "
            f"{found['flash_bytes']:,} B of flash, {found['static_memory_bytes']:,} B of memory "
            f"and {found['stack_bytes']:,} B of stack"
        )
    if manifest["loss_of_return"] is not None:
        share = manifest["loss_of_return"]["share"]
        lost = f"{share:.2%}" if share > 0.0 else "nothing"
        say(f"{weights} weights lose {lost} of the mean return")


def _refuse_unused(context: typer.Context) -> None:
    """Refuse options that are of an export, where one is checked.

    Raises:
        RequestError: names the first.
    """
    for each in context.command.params:
        if each.name not in OF_A_CHECK and _is_given(context, each.name or ""):
            raise RequestError(
                f"{each.opts[0]} has no effect with --check; expected DIR, --verify or --json "
                "beside it"
            )


def _is_given(context: typer.Context, name: str) -> bool:
    """Return whether an option stands on the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _checked(check: dict[str, Any]) -> str:
    """Return what a manifest says of the check, in words."""
    if "vectors_equal_bit_by_bit" in check:
        text = (
            f"{check['vectors_equal_bit_by_bit']} vectors are equal bit by bit under "
            f"{check['compiler']}"
        )
        if "onnx" in check and check["onnx"]["vectors_equal_bit_by_bit"] is None:
            text += "; the ONNX model was not compared, for onnxruntime is not installed"
        return text
    if "interpreters" in check:
        return (
            f"{check['vectors_equal_to_float64']} vectors are equal to float64 within "
            f"{check['largest_difference_allowed']:g} under {', '.join(check['interpreters'])}; "
            f"main_test.py has {check['vectors_stored'] or 'none'} of them, for boards with float32"
        )
    model = check["onnx"]
    if model["vectors_equal"] is None:
        return "not compared, for onnxruntime is not installed"
    return (
        f"{model['vectors_equal']} of {model['vectors_drawn']} vectors are equal within "
        f"{model['largest_difference_allowed']:g} in ONNX Runtime"
    )
