"""DDPG: deep deterministic policy gradient (Lillicrap et al. 2016)."""
