"""What cannot be served is refused before Ray starts."""

import socket
from pathlib import Path
from typing import Any

import pytest

from rolecast.core.errors import ConfigError, RequestError
from rolecast.platform.serving.config import LARGEST_PORT, ServeConfig
from rolecast.platform.serving.run import _free_port, serving


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
        ({"host": ""}, r"serve\.host is ''; expected an address or a name of this machine"),
    ],
)
def test_a_wrong_setting_is_named(setting: dict[str, Any], expected: str) -> None:
    with pytest.raises(ConfigError, match=expected):
        ServeConfig(**setting)


@pytest.mark.parametrize("host", ["192.0.2.1", "no such host", "x" * 70, "2001:db8::1"])
def test_a_host_that_is_not_of_this_machine_is_blamed_and_not_the_port(
    small_run: Path, host: str
) -> None:
    expected = rf"serve\.host is '{host}'; expected an address or a name of this machine \("
    with pytest.raises(ConfigError, match=expected), serving(small_run, ServeConfig(host=host)):
        pass


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_a_free_port_of_both_kinds_of_address_is_found(host: str) -> None:
    if host == "::1" and not Path("/proc/net/if_inet6").is_file():
        pytest.skip("needs IPv6")
    assert 0 < _free_port(ServeConfig(host=host, port=0)) <= LARGEST_PORT
