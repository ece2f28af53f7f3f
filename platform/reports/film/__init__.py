"""Episodes as pictures and films."""
