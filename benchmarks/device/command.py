"""`rolecast bench export`: what exported policies cost on emulated cores."""

from rolecast.benchmarks.options import Fresh, Out, Quick, folder_of, run_table
from rolecast.platform.cli.output import Json


def device_costs(
    *, quick: Quick = False, fresh: Fresh = False, out: Out = None, json: Json = False
) -> None:
    """Measure exported policies on emulated cores: flash, RAM, stack, instructions; minutes.

    A finished policy on a core is kept in export.json and not measured again.
    """
    from rolecast.benchmarks.device.cost_table import DEVICE_TABLE, device_runs

    runs, folder = device_runs(quick=quick), folder_of(out, quick=quick)
    run_table(DEVICE_TABLE, runs, None, folder, processes=1, json=json, fresh=fresh)
