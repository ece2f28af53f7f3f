"""MuJoCo robots as tasks with one or several agents, stepped in parallel on threads."""
