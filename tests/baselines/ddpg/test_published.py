"""The settings of DDPG's authors are one line away, and the defaults are those of Tianshou."""

from rolecast.baselines.ddpg.config import DDPGConfig
from rolecast.baselines.ddpg.published import LILLICRAP_SETTINGS


def test_the_authors_settings_can_be_trained_with() -> None:
    config = DDPGConfig().training(**LILLICRAP_SETTINGS)
    config.check_settings()
    assert (config.actor_lr, config.tau, config.last_layer) == (1e-4, 0.001, 3e-3)


def test_the_defaults_are_tianshous() -> None:
    """examples/mujoco/mujoco_ddpg.py: 256-256, 1e-3 both, tau 0.005, batch 256, noise 0.1."""
    config = DDPGConfig()
    assert (config.actor_lr, config.critic_lr, config.tau) == (1e-3, 1e-3, 0.005)
    assert (config.critic_hidden, config.paper_hidden) == ((256, 256), (256, 256))
    assert config.train_batch_size_per_learner == 256
    assert (config.noise_process, config.exploration_noise) == ("gaussian", 0.1)
