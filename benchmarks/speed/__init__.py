"""Speed of the tasks, the surrogate and the learners beside that of other software."""
