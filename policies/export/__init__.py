"""Export of a found policy to a device: what it computes there, and the files that compute it.

- `reference`: the float32 arithmetic of every export, operation by operation.
- `tables`: the weights in the order in which a device reads them.
- `c99`: the files of the target, from the templates in `templates/`.
- `vectors`: observations and actions that a device is checked against.
"""
