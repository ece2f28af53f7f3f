"""What is said where a command takes a policy of a run that goes on."""

from pathlib import Path

from rolecast.core.files import in_shell
from rolecast.platform.cli.output import warn


def tell_of_former_policy(folder: Path) -> None:
    """Warn where the policy of a run is that of a smaller budget, which it finished before."""
    from rolecast.platform.search.records.run_folder import RunFolder

    run = RunFolder(folder)
    if run.summary_file.is_file() and run.policy_folder.is_dir() and run.read_summary() is None:
        warn(
            f"{folder} goes on: this is the policy of the smaller budget before; rolecast resume "
            f"{in_shell(folder)} brings the present one"
        )
