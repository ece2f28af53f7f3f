# %% [markdown]
# # Bayesian optimisation against MARL under sparse reward
# A learner reads the reward of each step; a search reads the sum of an episode. Here a team is
# paid in each step (dense), or once in 25 steps, at the end of its episode (sparse).
#
# ## A search does not see the difference
# The last step pays what the others earned, so the same seed finds the same policy.

# %%
import rolecast
from rolecast import Experiment, LearnerMethod, SearchMethod

for name, reward in {"dense": {}, "sparse": {"sparse": 25}}.items():
    out = f"runs/{name}"
    rolecast.search(
        task="pred_prey_3", task_options=reward, env_steps=10_000, seed=0, workers=0, out=out
    )
    found = rolecast.evaluate(out, episodes=200)
    print(f"{name:6} {found.episode_return_mean:.1f} +- {found.episode_return_stderr:.1f}")

# %% [markdown]
# ## Both in one experiment
# An experiment is a value: every combination of task, reward, method and seed is a trial. All have
# the same budget, and are scored on the same held-out episodes.

# %%
EXPERIMENT = Experiment(
    name="sparse",
    tasks=("pred_prey_3",),
    rewards=("sparse=25",),
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
# On the command line: `rolecast compare my_experiment.py --workers 2 --out runs/compared`, where
# the file holds the lines above.

# %%
rolecast.compare(EXPERIMENT, workers=2, out="runs/compared")

# %% [markdown]
# ## Read it
# `runs/compared/report.html` holds the curves. `read_comparison` gives all reports of all trials as
# a table; the last report of a trial is its result.

# %%
reports = rolecast.read_comparison("runs/compared").rows.sort_values("env_steps")
results = reports.groupby("method").last()
print(results[["env_steps", "test_return", "test_return_stderr"]].round(1).to_string())

# %% [markdown]
# At this budget the learner has learned next to nothing, and one seed says nothing about who is
# better. With 200,000 steps and up to five seeds, under reward that is sparse, late, false or lost:
# [the dial](../results/dial.md).
#
# Next: [comparisons](../comparison.md), with what happens to a trial that crashes;
# [sparse, delayed, malformed reward](../rewards.md).
