"""What all off-policy learners here share: joint transitions, replay, sampling, update loop."""
