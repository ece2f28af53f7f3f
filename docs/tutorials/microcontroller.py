# %% [markdown]
# # A policy on a microcontroller
# A found policy has a few hundred weights, so it fits where no Python runs.
#
# ## Find one
# A small budget: this page shows the way to the device, not a good policy.

# %%
import json
import subprocess
import sys
from pathlib import Path

import rolecast

rolecast.search(
    task="pred_prey_3", policy="mlp", env_steps=60_000, seed=0, workers=0, out="runs/hunt"
)
print(rolecast.load_policy("runs/hunt").policy.space.dimension, "weights")

# %% [markdown]
# ## Write C
# On the command line: `rolecast export runs/hunt --target c99 --out firmware`.

# %%
command = ["export", "runs/hunt", "--target", "c99", "--out", "firmware"]
subprocess.run([sys.executable, "-m", "rolecast", *command], check=True)
for file in sorted(Path("firmware").iterdir()):
    print(f"{file.name:20} {file.stat().st_size:7,} bytes")

# %% [markdown]
# ## Compile and compare
# `main_test.c` holds 100 observations with their actions. The program ends with 0 if the C code
# gives the same bits.

# %%
sources = [str(file) for file in sorted(Path("firmware").glob("*.c"))]
subprocess.run(
    ["cc", "-std=c99", "-ffp-contract=off", *sources, "-Ifirmware", "-o", "check"], check=True
)
print("exit code of the check:", subprocess.run(["./check"], check=False).returncode)

# %% [markdown]
# ## What a step costs

# %%
manifest = json.loads(Path("firmware/manifest.json").read_text())
print(manifest["step"])

# %% [markdown]
# Flash, RAM and instructions on emulated cores: [results](../results/export.md). Other targets
# (integers, WebAssembly, MicroPython): [export](../export.md).
