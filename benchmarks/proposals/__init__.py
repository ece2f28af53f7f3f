"""How long every optimiser computes for a batch."""
