import pytest

from rolecast.platform.tuning.failures import why

TRACEBACK = """Failure # 1 (occurred at 2026-01-01_00-00-00)
\x1b[36mray::run()\x1b[39m (pid=1)
  File "a.py", line 1, in b
    raise ValueError
ValueError: too early
"""
LOST = """Failure # 2 (occurred at 2026-01-01_00-00-01)
The actor died unexpectedly before finishing this task.
\tclass_name: ComparisonTrial
"""


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (TRACEBACK, "ValueError: too early"),
        (TRACEBACK + LOST, "The actor died unexpectedly before finishing this task."),
        (LOST + TRACEBACK, "ValueError: too early"),
        ("Failure # 1 (occurred at now)\n", "no message"),
    ],
)
def test_the_last_failure_is_told_on_one_line(text: str, sentence: str) -> None:
    assert why(text) == sentence
