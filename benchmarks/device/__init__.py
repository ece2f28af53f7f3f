"""Costs of exported policies on emulated cores, beside those of others."""
