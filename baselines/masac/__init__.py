"""MASAC: soft actor-critic for teams, with joint twin critics (Haarnoja et al. 2018)."""
