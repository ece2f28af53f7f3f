"""Before a search: what is asked for, and the plan that it becomes."""
