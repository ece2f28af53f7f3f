"""Settings of COVDN, and the algorithm that they build."""

from rolecast.baselines.comix.config import COMIXConfig
from rolecast.baselines.rllib.algorithm import OffPolicy


class COVDNConfig(COMIXConfig):
    """COVDN: COMIX whose joint value is the sum of the utilities.

    Example:
        >>> COVDNConfig().environment("pred_prey_3").mixer
        'sum'
    """

    NAME = "covdn"

    def __init__(self, algo_class: type | None = None) -> None:
        """Set the defaults."""
        super().__init__(algo_class or COVDN)
        self.mixer = "sum"


class COVDN(OffPolicy):
    """RLlib's Algorithm of COVDN."""

    @classmethod
    def get_default_config(cls) -> COVDNConfig:
        """Return the settings of COVDN."""
        return COVDNConfig()
