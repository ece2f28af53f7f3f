"""FACMAC: factored multi-agent centralised policy gradients (Peng et al. 2021)."""
