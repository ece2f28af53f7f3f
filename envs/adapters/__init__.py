"""Bring your own: Gymnasium, PettingZoo and Python environments as batched tasks."""
