"""`rolecast.search` and `rolecast.resume`: from a request to a finished run in its folder."""

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

from rolecast.core.errors import ConfigError, RequestError
from rolecast.core.files import in_shell, write_bytes
from rolecast.core.rounding import with_error
from rolecast.envs.trust import (
    remember_task,
    remember_use,
    require_trust,
    require_trusted,
    same_task,
)
from rolecast.platform.search.asynchronous import AsynchronousSearch
from rolecast.platform.search.backend import Backend, backend_for
from rolecast.platform.search.loggers.protocol import (
    Told,
    TrialCallback,
    checked_callbacks,
    set_up,
)
from rolecast.platform.search.loop import Search
from rolecast.platform.search.planning.config import (
    CALLABLE_PREFIX,
    OWN_ADDRESSES,
    SearchConfig,
    with_budget,
)
from rolecast.platform.search.planning.continuation import recorded_options
from rolecast.platform.search.planning.plan import (
    Plan,
    TaskSource,
    described,
    make_plan,
    remarks,
    run_record,
)
from rolecast.platform.search.planning.request import request_text
from rolecast.platform.search.progress import Progress, Silent
from rolecast.platform.search.records.history import Kind
from rolecast.platform.search.records.run_folder import RunFolder
from rolecast.platform.search.result import SearchResult, held_out_metrics, result_of
from rolecast.policies.artefact import save_policy

RUNS_FOLDER: Final = Path("runs")
"""Where runs without a folder of their own are put."""


class SearchInterrupted(KeyboardInterrupt):
    """Ctrl-C ended a search; every whole batch is kept. The message says how to resume."""


def search(
    task: TaskSource,
    *,
    progress: Progress | None = None,
    callbacks: Sequence[TrialCallback] = (),
    **settings: Any,
) -> SearchResult:
    """Search the weights of a policy for a task.

    Args:
        task: task id, or a callable that makes a task of your own (a PettingZoo or Gymnasium
            environment); with workers it must be picklable by cloudpickle.
        progress: shows the search; nothing is shown when None.
        callbacks: told of every batch, such as `named_loggers(["wandb"])` or a logger of Tune.
        settings: fields of `SearchConfig`: policy, optimizer, env_steps or evaluations, episodes,
            batch_size, seed, workers, out, and so on.
    Raises:
        RequestError: the request is wrong; nothing was run.
        RunError: the task or the optimiser failed; what was computed is kept.
        SearchInterrupted: Ctrl-C; what was computed is kept.
    """
    callbacks = checked_callbacks(callbacks)
    name = task if isinstance(task, str) else CALLABLE_PREFIX + _callable_name(task)
    plan = make_plan(_config(name, settings), None if isinstance(task, str) else task)
    out = Path(plan.config.out) if plan.config.out else _free_folder(plan)
    plan = replace(plan, config=replace(plan.config, out=str(out)))
    progress = progress or Silent()
    with ExitStack() as refused:
        refused.callback(plan.task.close)
        # An unreachable cluster is found before a folder is made, and so is a logger's store.
        backend = backend_for(plan, progress.note)
        refused.callback(backend.close)
        set_up(callbacks, progress.note)
        folder = RunFolder.create(out, run_record(plan))
        refused.callback(folder.release)
        _remember(plan)
        refused.pop_all()
    return run_to_end(plan, folder, backend, progress, callbacks)


def resume(
    out: str | Path,
    *,
    env_steps: int | str | None = None,
    evaluations: int | str | None = None,
    task: TaskSource | None = None,
    workers: int | None = None,
    threads: int | None = None,
    address: str | None = None,
    step_timeout: float | None = None,
    failed_episodes: str | None = None,
    progress: Progress | None = None,
    callbacks: Sequence[TrialCallback] = (),
    trust: bool = False,
) -> SearchResult:
    """Continue a search as if it had never stopped, or extend a finished one.

    Args:
        out: folder of the run.
        env_steps: new budget, or "+N" for N more; None leaves the budget as it is.
        evaluations: the same in evaluations; at most one of the two.
        task: the run's task again: the callable if it was begun with one, or the id, which is then
            made though it may run any code.
        workers: as in `SearchConfig`; None is as many as the run had.
        threads: as in `SearchConfig`; None is as many as the run had.
        address: as in `SearchConfig`; None is the run's.
        step_timeout: as in `SearchConfig`; None is the run's.
        failed_episodes: as in `SearchConfig`; None is the run's.
        progress: shows the search; nothing is shown when None.
        callbacks: told of every batch, such as `named_loggers(["wandb"])` or a logger of Tune.
        trust: make the run's task and use its cluster, though they may run any code (`envs.trust`).
    Raises:
        RequestError: no run is there, it is damaged, not trusted, or another process writes it.
        RunError: the task or the optimiser failed; what was computed is kept.
        SearchInterrupted: Ctrl-C; what was computed is kept.
    """
    callbacks = checked_callbacks(callbacks)
    folder = RunFolder.open(out)
    run = folder.read_run()
    if not isinstance(run.get("search"), dict):
        raise RequestError(f"{folder.run_file} is damaged: it has no settings")
    config = SearchConfig.from_json(run["search"])
    config = replace(config, policy_options={**recorded_options(run), **config.policy_options})
    source = _trusted_source(config, task, trust=trust)
    if address is None and config.address not in OWN_ADDRESSES:
        require_trusted("cluster", str(config.address), trust=trust)
    folder.lock()
    with ExitStack() as refused:
        refused.callback(folder.release)
        last, spent = folder.read_end()  # refused now, a damaged file costs no search
        folder.read_summary()
        folder.read_state()
        used = {
            "env_steps": config.random_play_steps + spent.env_steps,
            "evaluations": spent.evaluations,
        }
        config = with_budget(config, used, {"env_steps": env_steps, "evaluations": evaluations})
        config = replace(
            config,
            out=str(folder.path),
            workers=config.workers if workers is None else workers,
            threads=config.threads if threads is None else threads,
            address=address or config.address,
            step_timeout=config.step_timeout if step_timeout is None else step_timeout,
            failed_episodes=(
                config.failed_episodes if failed_episodes is None else failed_episodes
            ),
        )
        plan = make_plan(config, source, begun=True)
        refused.callback(plan.task.close)
        if last is not None and last.kind is Kind.CONFIRM and (env_steps or evaluations):
            plan.budget.require_further(spent)
        progress = progress or Silent()
        backend = backend_for(plan, progress.note)
        refused.callback(backend.close)
        set_up(callbacks, progress.note)
        _remember(plan)
        refused.pop_all()
    record = {**run, **run_record(plan), "versions": run.get("versions", {})}
    return run_to_end(plan, folder, backend, progress, callbacks, record=record)


def _trusted_source(
    config: SearchConfig, task: TaskSource | None, *, trust: bool
) -> Callable[..., Any] | None:
    """Return the callable of a run's task, None where it has an id; refuse what is not trusted."""
    if callable(task):
        return task
    if task is not None and not same_task(task, config.task, config.task_options):
        raise ConfigError("task", task, f"the run's, {config.task!r} with its options")
    if not config.task.startswith(CALLABLE_PREFIX):
        require_trust(config.task, config.task_options, trust=trust or task is not None)
    return None


def _remember(plan: Plan) -> None:
    """Note what this user has used, so that the folder of the run may name it."""
    if isinstance(plan.source, str):
        remember_task(plan.source, plan.config.task_options)
    remember_task(plan.task.spec.id)
    if plan.config.address not in OWN_ADDRESSES:
        remember_use("cluster", str(plan.config.address))


def finish(plan: Plan, folder: RunFolder, search: Search) -> SearchResult:
    """Test the incumbent on unseen seeds, and write policy and summary."""
    shares, score = search.time_shares(), search.test()  # shares are of searching alone
    spent, config = search.spent, plan.config
    summary = {
        "task": plan.task.spec.id,
        "policy": config.policy,
        "optimizer": config.optimizer,
        "seed": config.seed,
        "budget": {"unit": plan.budget.unit, "total": plan.budget.total},
        "env_steps": plan.budget.env_steps(spent),
        "policy_evaluations": spent.evaluations,
        "best_return": search.seen.best_return,
        "test_return": score[0],
        "test_stderr": score[1],
        "test_episodes": plan.test_episodes,
        "wall_time_s": search.seen.wall_time_s,
        "time_shares": shares,
        "workers": search.workers,
    }
    weights = plan.policy.space.weights(search.incumbent, search.statistics)
    folder.require_held()
    save_policy(
        folder.policy_folder,
        plan.policy,
        weights,
        plan.task.spec,
        summary,
        statistics=search.statistics,
        disk=folder.disk,
    )
    folder.write_summary(summary)
    return result_of(folder, search.incumbent, summary)


def run_to_end(
    plan: Plan,
    folder: RunFolder,
    backend: Backend,
    progress: Progress,
    callbacks: Sequence[TrialCallback] = (),
    *,
    record: Mapping[str, Any] | None = None,
) -> SearchResult:
    """Advance a search to its end; whatever ends it, every whole batch is kept.

    A new `record` of the run is written once the optimiser has not refused what the folder has.
    """
    search: Search | None = None
    trouble = "the search has failed; what it computed is in"
    progress.start(described(plan))
    try:
        with ExitStack() as closing:  # each is closed, whatever becomes of those before
            closing.callback(folder.release)
            closing.callback(plan.task.close)
            closing.callback(backend.close)
            kind = AsynchronousSearch if plan.config.asynchronous else Search
            search = kind(plan, folder, backend, progress)
            closing.callback(search.close)
            told = Told(callbacks, folder.path, asdict(plan.config), folder.clock, search.leave_out)
            if not search.finished:
                folder.disk.remove(folder.status_file)  # of a part before this one
                if record is not None:
                    search.prepare()
            if record is not None:
                folder.write_run(record)
            request = request_text(plan.config).encode()
            write_bytes(folder.request_file, request, disk=folder.disk)
            closing.enter_context(told.running())
            if search.seen.count:
                progress.note(f"going on after {search.spent.evaluations:,} evaluations")
            else:
                for said in remarks(plan):
                    progress.note(said)
            while not search.finished:
                metrics = search.step()
                told.result(search.seen.count, metrics)
            known = folder.read_summary()
            if known is None and not hasattr(plan.task, "lanes"):  # compiled ones take no time
                progress.note(f"testing the incumbent over {plan.test_episodes} held-out episodes")
            if known is None:
                result = finish(plan, folder, search)
            else:
                result = result_of(folder, search.incumbent, known)
            trouble = "the search has its result, but did not end well; everything is in"
            score = result.test_return, result.test_stderr
            metrics = held_out_metrics(plan.budget.env_steps(search.spent), *score)
            if known is None:
                search.reporter.write(metrics)
            told.result(search.seen.count, metrics)
        progress.finish(
            f"held-out return of the incumbent {with_error(*score)}"
            f" over {plan.test_episodes} episodes; everything is in {folder.path}"
        )
    except KeyboardInterrupt:
        batches = search.seen.count if search else 0
        text = f"stopped after batch {batches}; go on with: rolecast resume {in_shell(folder.path)}"
        progress.finish(text)
        raise SearchInterrupted(text) from None
    except BaseException:
        if search and not search.seen.count:
            trouble = "the search has failed before its first batch; begin it with: rolecast resume"
        progress.finish(f"{trouble} {in_shell(folder.path)}" if search else "the search has failed")
        raise
    return result


def _config(task: str, settings: Mapping[str, Any]) -> SearchConfig:
    given = {name: value for name, value in settings.items() if value is not None}
    if isinstance(given.get("out"), Path):
        given["out"] = str(given["out"])
    return SearchConfig.from_json({**given, "task": task})


def _callable_name(task: Callable[..., Any]) -> str:
    if not callable(task):
        raise ConfigError("task", task, "an id, or a function that makes a task")
    name = getattr(task, "__qualname__", type(task).__name__)
    return f"{getattr(task, '__module__', '?')}.{name}"


def _free_folder(plan: Plan) -> Path:
    """Return runs/<task>-<optimizer>-s<seed>-<n> with the first n that is free."""
    config = plan.config
    name = re.sub(r"[^A-Za-z0-9_.]+", "-", config.task.removeprefix(CALLABLE_PREFIX)).strip("-.")
    paths = (
        RUNS_FOLDER / f"{name}-{config.optimizer}-s{config.seed}-{n}" for n in itertools.count()
    )
    return next(path for path in paths if not path.exists())
