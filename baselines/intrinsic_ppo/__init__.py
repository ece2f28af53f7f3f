"""PPO with a learned intrinsic reward."""
