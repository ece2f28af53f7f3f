"""Ray actors: they hold and forward, and compute nothing themselves."""
