"""What cannot be served is refused before Ray starts."""

import socket
from pathlib import Path

import pytest

from rolecast.core.errors import ConfigError, RequestError
from rolecast.platform.serving.config import ServeConfig
from rolecast.platform.serving.run import serving


def test_a_port_in_use_is_refused(small_run: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with (
            pytest.raises(RequestError, match=rf"port {port} of 127\.0\.0\.1 cannot be used"),
            serving(small_run, ServeConfig(port=port)),
        ):
            pass


def test_a_folder_without_a_policy_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="holds no policy"), serving(tmp_path):
        pass


def test_a_missing_extra_is_named(small_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rolecast.platform.serving.run.find_spec", lambda name: None)
    with pytest.raises(RequestError, match=r"pip install 'rolecast\[serve\]'"), serving(small_run):
        pass


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ({"port": 70000}, r"serve\.port is 70000; expected an integer from 0 to 65535"),
        ({"replicas": 0}, r"serve\.replicas is 0"),
    ],
)
def test_a_wrong_setting_is_named(setting: dict[str, int], expected: str) -> None:
    with pytest.raises(ConfigError, match=expected):
        ServeConfig(**setting)  # type: ignore[arg-type]
