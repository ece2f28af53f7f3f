"""A search as a Ray Tune trainable, with the one metric vocabulary."""
