# %% [markdown]
# # Bayesian optimisation against MARL under sparse reward
# One experiment runs a search and a learner on the same task, with the same budget, and scores
# both on the same held-out episodes. Here the team is paid in each step (dense), or once in 25
# steps, at the end of its episode (sparse).
#
# ## The experiment is a value
# Every combination of task, reward, method and seed is a trial.

# %%
import rolecast
from rolecast import Experiment, LearnerMethod, SearchMethod

EXPERIMENT = Experiment(
    name="sparse",
    tasks=("pred_prey_3",),
    rewards=("dense", "sparse=25"),
    methods=(
        SearchMethod(optimizer="local_gp"),
        LearnerMethod(algorithm="facmac", settings={"size": "small"}),
    ),
    seeds=1,
    env_steps=10_000,
    test_episodes=200,
)
for plan in EXPERIMENT.trials():
    print(plan.trial)

# %% [markdown]
# ## Run it
# On the command line: `rolecast compare my_experiment.py --workers 2 --out runs/sparse`, where the
# file holds the lines above.

# %%
rolecast.compare(EXPERIMENT, workers=2, out="runs/sparse")

# %% [markdown]
# ## Read it
# `runs/sparse/report.html` holds the curves. `read_comparison` gives all reports of all trials as
# a table; the last report of a trial is its result.

# %%
reports = rolecast.read_comparison("runs/sparse").rows.sort_values("env_steps")
results = reports.groupby(["method", "reward"]).last()
print(results[["env_steps", "test_return", "test_return_stderr"]].round(1).to_string())

# %% [markdown]
# The search finds the same policy under both rewards: it sees the sum of an episode, and the last
# step pays what the others earned.

# %%
searched = results.loc["local_gp", "test_return"]
assert searched["dense"] == searched["sparse=25"]

# %% [markdown]
# The learner reads each step. At this budget it has learned next to nothing in either case, and
# one seed says nothing about who is better. With 200,000 steps and up to five seeds, under reward
# that is sparse, late, false or lost: [the dial](../results/dial.md).
#
# Next: [comparisons](../comparison.md), with what happens to a trial that crashes;
# [sparse, delayed, malformed reward](../rewards.md).
