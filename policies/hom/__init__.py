"""`hom`, the higher-order model: role assignment, role interaction, message passing.

Sections 4.1 to 4.3 of the paper (Algorithms 1 to 3, equations 2 and 3), in this order:
`config` (settings, nets, sizes), `assignment` (Algorithm 1), `interaction` (Algorithm 2 and
equation 3), `policy` (Algorithm 3), `relaxation` (for Hessians); `*_fused` are the compiled twins.
"""
