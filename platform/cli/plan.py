"""`rolecast plan`: what a search would take with so many workers, and what limits it."""

from typing import Annotated, Final

import typer

from rolecast.platform.cli.documented import option_text
from rolecast.platform.cli.output import Json, print_json, print_table, say, warn
from rolecast.platform.cli.search import Settings, search_option
from rolecast.platform.cli.settings import parse_settings

Workers = Annotated[
    list[int] | None,
    typer.Option(
        min=0, help=option_text("Workers; repeatable. Default: 0, 1, 2, 4 and so on to 64.")
    ),
]

EARLY_END: Final = 0.9
"""Share of their full length below which episodes end early."""


def plan(
    task: Annotated[str, typer.Argument(metavar="TASK", help="Task id.")],
    *,
    workers: Workers = None,
    policy: Annotated[str | None, search_option("policy")] = None,
    optimizer: Annotated[str | None, search_option("optimizer")] = None,
    env_steps: Annotated[int | None, search_option("env_steps")] = None,
    evaluations: Annotated[int | None, search_option("evaluations")] = None,
    episodes: Annotated[int | None, search_option("episodes")] = None,
    batch_size: Annotated[int | None, search_option("batch_size")] = None,
    settings: Settings = None,
    json: Json = False,
) -> None:
    """Forecast the time of a search by the number of workers; takes some ten seconds.

    Episodes and the optimiser are timed here, and a cluster of such cores is simulated.

    Example: rolecast plan drone_delivery_3 --evaluations 1500 --episodes 256 --workers 64
    """
    from rolecast.platform.search.costs import measure
    from rolecast.platform.search.forecast import forecast, with_larger_batches
    from rolecast.platform.search.planning.config import SearchConfig
    from rolecast.platform.search.planning.plan import described, make_plan

    parts = parse_settings(settings or [])
    given = {
        "policy": policy,
        "optimizer": optimizer,
        "env_steps": env_steps,
        "evaluations": evaluations,
        "episodes": episodes,
        "batch_size": batch_size,
    }
    config = SearchConfig(
        task=task,
        task_options=parts["task"],
        policy_options=parts["policy"],
        optimizer_settings=parts["optimizer"],
        **{name: value for name, value in given.items() if value is not None},  # type: ignore[arg-type]  # each is of its type
    )
    made = make_plan(config)
    warn(described(made))
    warn("timing episodes and the optimiser ...")
    costs = measure(made)
    found = forecast(made, costs, workers or [0, 1, 2, 4, 8, 16, 32, 64])
    most = max(found, key=lambda each: each.workers)
    larger = with_larger_batches(made, costs, most)
    made.task.close()
    if json:
        print_json(
            {
                "task": made.task.spec.id,
                "episode_s": costs.episode_s,
                "episode_steps": costs.episode_steps,
                "optimizer_s": costs.optimizer_s,
                "structure_s": costs.structure_s,
                "forecasts": [each.to_json() for each in found],
                "larger_batch": larger
                and {"batch_size": larger[0], "forecast": larger[1].to_json()},
            }
        )
        return
    full = made.budget.episode_steps
    ends_early = costs.episode_steps < EARLY_END * full
    say(
        f"an episode takes {costs.episode_s * 1e3:.3g} ms of a core, "
        f"the optimiser {costs.optimizer_s * 1e3:.3g} ms a batch, "
        f"finding the structure {costs.structure_s:.1f} s"
    )
    longest = ("s, full length",) if ends_early else ()
    print_table(
        ("workers", "seconds", *longest, "speed-up", "efficiency", "limited by"),
        [
            (
                str(each.workers or "one thread"),
                f"{each.total_s:.1f}",
                *(f"{each.full_length_s:.1f}" for _ in longest),
                f"{each.speed_up:.2f}",
                f"{each.efficiency:.0%}",
                each.limit,
            )
            for each in found
        ],
    )
    if larger:
        size, expected = larger
        say(
            f"With --batch-size {size}, {most.workers} workers would take {expected.total_s:.1f} "
            f"s, or {most.total_s / expected.total_s:.1f} times the env steps in "
            f"{most.total_s:.1f} s. Returns of the two: docs/cluster.md."
        )
    if ends_early:
        say(
            f"Episodes last {costs.episode_steps:.0f} env steps at first. The second column of "
            f"seconds is of episodes of full length, {full:,} env steps."
        )
    say(
        "Start and the held-out test come on top; workers: Ray actors, a core each; "
        "threads, where a search has them, take about as long."
    )
