"""Functions of known optimum."""
