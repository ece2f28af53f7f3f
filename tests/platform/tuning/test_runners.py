"""What a search reports as a trial: the steps that its budget paid."""

from pathlib import Path

from rolecast.platform.search.backend import backend_for
from rolecast.platform.search.planning.config import SearchConfig
from rolecast.platform.search.planning.plan import make_plan
from rolecast.platform.search.records.frames import read_history
from rolecast.platform.tuning.record import TrialFolder
from rolecast.platform.tuning.runners import SearchRunner


def test_the_steps_of_a_report_are_with_those_in_which_symmetries_were_found(
    tmp_path: Path,
) -> None:
    config = SearchConfig(
        task="pred_prey_3",
        policy_options={"symmetries": "found"},
        optimizer="random",
        env_steps=60_000,
        episodes=20,
        batch_size=50,
        confirm_share=0.0,
        workers=0,
        test_episodes=2,
    )
    plan = make_plan(config)
    runner = SearchRunner(plan, backend_for, 1, TrialFolder(tmp_path))
    try:
        report, _ = runner.advance(1)
    finally:
        runner.close()
    played = plan.config.random_play_steps
    spent = read_history(tmp_path / "run")["env_steps"].iloc[-1]
    assert report.env_steps == played + spent <= config.env_steps
    assert played > 0
