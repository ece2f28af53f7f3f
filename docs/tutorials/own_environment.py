# %% [markdown]
# # From your environment to a policy
# A search needs an environment with Gymnasium's `reset` and `step`, nothing else. Here a point on
# a line must come to rest at a target that changes from episode to episode.

# %%
import gymnasium
import numpy as np

import rolecast


class Reach(gymnasium.Env):
    """A mass on a line; the force is in [-2, 2], the reward is paid near the target."""

    observation_space = gymnasium.spaces.Dict(
        position=gymnasium.spaces.Box(-3, 3, (1,)),
        velocity=gymnasium.spaces.Box(-3, 3, (1,)),
        target=gymnasium.spaces.Box(-1, 1, (1,)),
    )
    action_space = gymnasium.spaces.Box(-2, 2, (1,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state, self.steps = np.zeros(2), 0
        self.target = self.np_random.uniform(-1, 1)
        return self.observation(), {}

    def observation(self):
        values = {"position": self.state[0], "velocity": self.state[1], "target": self.target}
        return {name: np.array([value], np.float32) for name, value in values.items()}

    def step(self, action):
        velocity = np.clip(self.state[1] + 0.1 * action[0], -3, 3)
        self.state = np.array([np.clip(self.state[0] + 0.1 * velocity, -3, 3), velocity])
        self.steps += 1
        reward = float(abs(self.state[0] - self.target) < 0.1)
        return self.observation(), reward, False, self.steps == 50, {}


# %% [markdown]
# ## Check it
# The reward is sparse: 1 in each of the 50 steps that end within 0.1 of the target. `check_task`
# plays some episodes and says what a search would stumble over. On the command line this is
# `rolecast check-task python:my_module:Reach`.

# %%
from rolecast.envs.check import check_task

for check in check_task(Reach).checks:
    print("ok" if check.ok else "FAILED", check.name)

# %% [markdown]
# ## Search
# 200 evaluations of four episodes each, in this process. A longer search needs only a larger
# `evaluations`; `workers` spreads the episodes over processes.

# %%
result = rolecast.search(
    task=Reach, policy="linear", evaluations=200, episodes=4, seed=0, workers=0, out="runs/reach"
)
by_chance = rolecast.evaluate("random", Reach, episodes=200)
found = rolecast.evaluate("runs/reach", Reach, episodes=200)
print(f"random actions: {by_chance.episode_return_mean:.1f}")
print(f"found:          {found.episode_return_mean:.1f} +- {found.episode_return_stderr:.1f} of 50")

# %% [markdown]
# ## Use the policy
# `for_env` flattens the Dict as the search did, and maps actions to the bounds of your space.

# %%
env = Reach()
policy = rolecast.load_policy("runs/reach").for_env(env)
observation, _ = env.reset(seed=3)
total, truncated = 0.0, False
while not truncated:
    observation, reward, _, truncated, _ = env.step(policy.step(observation))
    total += reward
print(f"one episode: {total:.0f} of 50 steps at the target")

# %% [markdown]
# Next: [more on own environments](../bring_your_own.md), [a policy on a
# microcontroller](microcontroller.md).
