"""SAC: soft actor-critic with automatic entropy (Haarnoja et al. 2018)."""
