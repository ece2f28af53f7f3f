# %% [markdown]
# # A black box with a known graph
# Some functions are a sum of terms that each read a few inputs: a plant of separate stages, a
# portfolio, a chain of joints. If you know which inputs belong together, say so.
#
# ## A function of 12 inputs
# The noise-free test function sums one term for each pair of neighbours.

# %%
import numpy as np

import rolecast

DIMENSION = 12
CLIQUES = tuple((first, first + 1) for first in range(DIMENSION - 1))


def value(points):
    terms = (
        np.cos(7 * points[:, a] - 3 * points[:, b]) - (points[:, a] - 0.3) ** 2 for a, b in CLIQUES
    )
    return sum(terms)


# %% [markdown]
# ## Ask and tell
# The same loop for three optimisers: one that knows the graph, one that does not, and CMA-ES.


# %%
def best_after(count, name, seed, **settings):
    optimizer = rolecast.make_optimizer(name, dimension=DIMENSION, seed=seed, **settings)
    for _ in range(count // 10):
        candidates = optimizer.ask(10)
        optimizer.tell(candidates, value(candidates))
    return float(value(optimizer.best()[None])[0])


CONTESTANTS = {
    "known graph": {"name": "dss_gp_ucb", "cliques": CLIQUES},
    "no graph": {"name": "gp_ucb"},
    "cmaes": {"name": "cmaes"},
}
for label, settings in CONTESTANTS.items():
    values = [best_after(100, seed=seed, **settings) for seed in range(3)]
    print(f"{label:12} {np.median(values):6.2f}  ({', '.join(f'{each:.2f}' for each in values)})")

# %% [markdown]
# Higher is better; each row is the median of three seeds after 100 evaluations. A graph that is
# wrong costs little: one term over all inputs competes with the cliques by evidence. More on
# where a graph helps, and where it does not: [structure](../structure.md).
