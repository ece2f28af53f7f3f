"""MATD3: MADDPG with the twin critics of TD3 (Ackermann et al. 2019)."""
