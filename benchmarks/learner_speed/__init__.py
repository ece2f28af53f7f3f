"""Updates a second of our learners beside RLlib's and bare torch."""
