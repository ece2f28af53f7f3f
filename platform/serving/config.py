"""Settings of `rolecast serve`, said once for Python and the command line."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rolecast.core.errors import ConfigError

LARGEST_PORT: Final = 65535


@dataclass(frozen=True, kw_only=True)
class ServeConfig:
    """Where a policy is served."""

    port: int = 8000
    """Port of HTTP; 0 takes a free one."""

    host: str = "127.0.0.1"
    """Address at which HTTP listens. The default answers this machine alone; 0.0.0.0 answers all.
    There is no authentication. An address of IPv6 has no brackets."""

    address: str | None = None
    """Ray cluster: auto, or host:port. Default: that of RAY_ADDRESS; else one that starts here."""

    replicas: int = 1
    """Processes that answer."""

    verify: Path | None = None
    """Ed25519 public key that must have signed the policy, and each one that replaces it."""

    def __post_init__(self) -> None:
        if type(self.port) is not int or not 0 <= self.port <= LARGEST_PORT:
            expected = f"an integer from 0 to {LARGEST_PORT}"
            raise ConfigError("serve.port", self.port, expected)
        if not isinstance(self.host, str) or not self.host.strip():
            raise ConfigError("serve.host", self.host, "an address or a name of this machine")
        if type(self.replicas) is not int or self.replicas < 1:
            raise ConfigError("serve.replicas", self.replicas, "an integer >= 1")
