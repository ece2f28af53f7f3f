"""Target policy smoothing, which TD3 and MATD3 share."""

from types import MappingProxyType
from typing import ClassVar

from torch import Tensor

from rolecast.baselines.rllib.learner import Net, OffPolicyLearner
from rolecast.core.validation import NOT_NEGATIVE, Rules


class SmoothingSettings:
    """Settings of target policy smoothing."""

    RULES: ClassVar[Rules] = MappingProxyType(
        {"target_noise": NOT_NEGATIVE, "target_noise_clip": NOT_NEGATIVE}
    )

    target_noise: float
    """Deviation of the noise on target actions."""

    target_noise_clip: float
    """Largest size of that noise."""


class TargetSmoothing(OffPolicyLearner[Net]):
    """Learner whose critics are taught the values of noisy target actions.

    Source: Fujimoto, van Hoof and Meger (2018), section 5.3.
    """

    def smoothed(self, actions: Tensor) -> Tensor:
        """Return a' = clip(pi' + clip(N(0, sigma), -c, c), -1, 1) for target actions pi'."""
        clip = self.config.target_noise_clip
        noise: Tensor = self.noise(actions) * self.config.target_noise
        return (actions + noise.clamp_(-clip, clip)).clamp_(-1.0, 1.0)
