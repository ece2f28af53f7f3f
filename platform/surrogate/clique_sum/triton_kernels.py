"""Triton kernels of the sum over cliques: value, gradient by clique, and its sum by dimension.

A program of the value has a tile of pairs and a loop over cliques. A program of the gradient has
rows and a clique, and a loop over columns. No two programs add to one number, so the same points
give the same bits. Points are stored by dimension, u[d * N + i].
"""

import triton
import triton.language as tl


@triton.jit  # type: ignore[untyped-decorator]
def _squared(  # type: ignore[no-untyped-def]
    u1,
    u2,
    members,
    first,
    last,
    rows,
    columns,
    N,
    M,
    HIGH: tl.constexpr,
    WIDE: tl.constexpr,
):
    """Return squared distances [HIGH, WIDE] of a tile in the dimensions of a clique."""
    squared = tl.zeros((HIGH, WIDE), u1.dtype.element_ty)
    for place in range(first, last):
        member = tl.load(members + place)
        ours = tl.load(u1 + member * N + rows, mask=rows < N, other=0.0)
        theirs = tl.load(u2 + member * M + columns, mask=columns < M, other=0.0)
        apart = ours[:, None] - theirs[None, :]
        squared += apart * apart
    return squared


@triton.jit  # type: ignore[untyped-decorator]
def value(  # type: ignore[no-untyped-def]
    u1,
    u2,
    starts,
    members,
    inverse,
    weights,
    found,
    N,
    M,
    C,
    SHARE,
    SMOOTH: tl.constexpr,
    SAME: tl.constexpr,
    BLOCK: tl.constexpr,
    HIGH: tl.constexpr,
    WIDE: tl.constexpr,
):
    """Write a tile of [N, M], summed over a share of the cliques."""
    row, column, split = tl.program_id(1), tl.program_id(0), tl.program_id(2)
    # For u2 = u1, tiles below the diagonal are mirrored later.
    if (not SAME) or (column * WIDE + WIDE > row * HIGH):
        rows, columns = row * HIGH + tl.arange(0, HIGH), column * WIDE + tl.arange(0, WIDE)
        total = tl.zeros((HIGH, WIDE), u1.dtype.element_ty)
        stop = tl.minimum(C, (split + 1) * SHARE)
        for block in range(split * SHARE, stop, BLOCK):
            # Sums of partial sums: tens of thousands of terms in one sum would cost two digits.
            part = tl.zeros((HIGH, WIDE), u1.dtype.element_ty)
            for clique in range(block, tl.minimum(stop, block + BLOCK)):
                first, last = tl.load(starts + clique), tl.load(starts + clique + 1)
                squared = _squared(u1, u2, members, first, last, rows, columns, N, M, HIGH, WIDE)
                squared *= tl.load(inverse + clique)
                weight = tl.load(weights + clique)
                if SMOOTH:
                    part += weight * tl.exp(-0.5 * squared)
                else:
                    root = tl.sqrt(5.0 * squared)
                    part += weight * ((1.0 + root + root * root / 3.0) * tl.exp(-root))
            total += part
        places = (split.to(tl.int64) * N + rows[:, None]) * M + columns[None, :]
        tl.store(found + places, total, mask=(rows < N)[:, None] & (columns < M)[None, :])


@triton.jit  # type: ignore[untyped-decorator]
def gradient(  # type: ignore[no-untyped-def]
    u1,
    u2,
    starts,
    members,
    inverse,
    weights,
    coefficients,
    cliques,
    begins,
    entries,
    in_weights,
    FIRST,
    N,
    M,
    BLOCKS,
    SMOOTH: tl.constexpr,
    GROUP: tl.constexpr,
    HIGH: tl.constexpr,
    WIDE: tl.constexpr,
):
    """Write the gradients of some rows in a group of dimensions of one clique."""
    group, row = tl.program_id(0), tl.program_id(1)
    clique, begin = tl.load(cliques + group), tl.load(begins + group)
    first, last = tl.load(starts + clique), tl.load(starts + clique + 1)
    weight, scale = tl.load(weights + clique), tl.load(inverse + clique)
    stop = tl.minimum(begin + GROUP, last)
    rows, own = row * HIGH + tl.arange(0, HIGH), tl.arange(0, GROUP)
    in_rows = tl.zeros((HIGH, GROUP), u1.dtype.element_ty)
    values = tl.zeros((HIGH,), u1.dtype.element_ty)
    for start in range(0, M, WIDE):
        columns = start + tl.arange(0, WIDE)
        squared = _squared(u1, u2, members, first, last, rows, columns, N, M, HIGH, WIDE)
        squared *= scale
        there = (rows < N)[:, None] & (columns < M)[None, :]
        places = rows[:, None].to(tl.int64) * M + columns[None, :]
        given = tl.load(coefficients + places, mask=there, other=0.0)
        if SMOOTH:
            value = tl.exp(-0.5 * squared)
            slope = -0.5 * value
        else:
            root = tl.sqrt(5.0 * squared)
            fall = tl.exp(-root)
            value = (1.0 + root + root * root / 3.0) * fall
            slope = -5.0 / 6.0 * (1.0 + root) * fall
        values += tl.sum(given * value, 1)
        factors = 2.0 * weight * scale * given * slope
        for place in range(begin, stop):
            member = tl.load(members + place)
            ours = tl.load(u1 + member * N + rows, mask=rows < N, other=0.0)
            theirs = tl.load(u2 + member * M + columns, mask=columns < M, other=0.0)
            change = tl.sum(factors * (ours[:, None] - theirs[None, :]), 1)
            in_rows += tl.where(own[None, :] == place - begin, change[:, None], 0.0)
    entry = (begin - FIRST + own)[None, :].to(tl.int64) * N + rows[:, None]
    there = (rows < N)[:, None] & (begin + own < stop)[None, :]
    tl.store(entries + entry, in_rows, mask=there)
    if begin == first:
        tl.store(in_weights + clique * BLOCKS + row, tl.sum(values, 0))


@triton.jit  # type: ignore[untyped-decorator]
def gathered(  # type: ignore[no-untyped-def]
    entries, starts, places, in_points, N, WIDE: tl.constexpr
):
    """Add the gradients of all cliques in a dimension, in fixed order."""
    dimension = tl.program_id(0).to(tl.int64)
    rows = tl.program_id(1) * WIDE + tl.arange(0, WIDE)
    there = rows < N
    total = tl.load(in_points + dimension * N + rows, mask=there, other=0.0)
    for place in range(tl.load(starts + dimension), tl.load(starts + dimension + 1)):
        total += tl.load(entries + tl.load(places + place) * N + rows, mask=there, other=0.0)
    tl.store(in_points + dimension * N + rows, total, mask=there)
