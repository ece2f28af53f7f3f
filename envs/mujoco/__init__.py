"""MuJoCo bodies as tasks of one agent or of many, stepped side by side on threads."""
