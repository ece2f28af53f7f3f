"""MADDPG: multi-agent deep deterministic policy gradient (Lowe et al. 2017)."""
