"""The experiment engine: methods side by side as trials of Ray Tune, one metric vocabulary."""
