"""PPO for one agent or a team, on RLlib's own loss."""
