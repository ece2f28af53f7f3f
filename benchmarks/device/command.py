"""`rolecast bench export` and `serve`: what a policy costs where it is used."""

from typing import Annotated

from rolecast.benchmarks.options import (
    Fresh,
    Out,
    Quick,
    folder_of,
    only_option,
    run_table,
    write_results,
)
from rolecast.platform.cli.output import Json, warn


def device_costs(
    *,
    only: Annotated[list[str] | None, only_option("policy, core")] = None,
    quick: Quick = False,
    fresh: Fresh = False,
    out: Out = None,
    json: Json = False,
) -> None:
    """Measure exported policies on emulated cores, and compare their bits; an hour of one core.

    A finished policy on a core is kept in export.json and not measured again.
    """
    from rolecast.benchmarks.device.cost_table import DEVICE_TABLE, device_runs

    runs, folder = device_runs(quick=quick), folder_of(out, quick=quick)
    run_table(DEVICE_TABLE, runs, only, folder, processes=1, json=json, fresh=fresh)


def service_speed(*, quick: Quick = False, out: Out = None, json: Json = False) -> None:
    """Measure requests a second and answering times of `rolecast serve` on loopback; a minute."""
    from rolecast.benchmarks.speed.serving import measure_service, service_page

    results = measure_service(quick=quick, note=warn)
    folder = folder_of(out, quick=quick)
    write_results(folder, "serve", results, service_page(results), json=json)
