"""Tasks: batched simulators, their PettingZoo and Gymnasium faces, and their registry."""
