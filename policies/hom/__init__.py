"""Higher-order model `hom`: role assignment, role interaction, message passing.

Sections 4.1 to 4.3 of the DSS-GP-UCB paper, Algorithms 1 to 3, equations 2 and 3. Files:
- `config`: settings; `model`: nets and sizes.
- `assignment`: Algorithm 1; `interaction`: Algorithm 2 and equation 3; `policy`: Algorithm 3.
- `relaxation`: a differentiable form, for Hessians.
- `*_fused`: compiled forms.
"""
