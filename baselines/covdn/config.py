"""Settings of COVDN."""

from rolecast.baselines.comix.config import COMIXConfig


class COVDNConfig(COMIXConfig):
    """COVDN: COMIX whose joint value is the sum of the utilities.

    Example:
        >>> COVDNConfig().environment("pred_prey_3").mixer
        'sum'
    """

    NAME = "covdn"

    def __init__(self, algo_class: type | None = None) -> None:
        """Set the defaults."""
        super().__init__(algo_class)
        self.mixer = "sum"
