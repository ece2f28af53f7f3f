"""COVDN: COMIX with a plain sum in place of the mixing network (Peng et al. 2020)."""
