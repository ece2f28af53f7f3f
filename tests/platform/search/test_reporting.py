from pathlib import Path

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from rolecast.platform.search.reporting import Events


def test_tensorboard_shows_curves_over_env_steps(tmp_path: Path) -> None:
    events = Events(tmp_path)
    for step in (100, 250):
        events.write({"env_steps": step, "best_return": step / 10, "test_return": float("nan")})
    events.close()
    shown = EventAccumulator(str(tmp_path))
    shown.Reload()
    points = shown.Scalars("best_return")
    assert [(point.step, point.value) for point in points] == [(100, 10.0), (250, 25.0)]
    assert "test_return" not in shown.Tags()["scalars"]
