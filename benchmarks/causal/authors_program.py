"""One search of MCBO by its authors' code; a program for an interpreter that can run that code.

`python authors_program.py REQUEST.json ANSWER.json`: see `rolecast.benchmarks.causal.authors` for
both files. What is replaced of the authors' code is done in `replace`, and nowhere else.
"""

import json
import sys
import time
import types
import warnings
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch


class RoundLog(types.ModuleType):
    """In place of wandb, which the authors' loop logs its rounds to."""

    def __init__(self) -> None:
        super().__init__("wandb")
        self.average = float("nan")

    def log(self, values: Mapping[str, Any], **_: Any) -> None:
        """Keep the average expected reward of all evaluations so far."""
        if "average_score" in values:
            self.average = float(values["average_score"])


def replace(trial: Any, request: Mapping[str, Any]) -> None:
    """Replace what a comparison needs: initial data, seed, and starts where they are too many."""
    design, seed = torch.tensor(request["design"]), request["seed"]
    trial.generate_initial_design = lambda *_: design
    # The authors' loop begins with torch.seed(), by which its seeds change nothing.
    torch.seed = partial(torch.manual_seed, seed)  # type: ignore[assignment]
    if request["starts"] is not None:
        nets = trial.eta_network
        nets.train = partial(nets.train, reinits=request["starts"])


def reward(nodes: torch.Tensor, **_: Any) -> torch.Tensor:
    """Return the last node, [...], of all nodes, [..., nodes]."""
    return nodes[..., -1]


def search(request: Mapping[str, Any]) -> dict[str, Any]:
    """Search with the authors' code; return the answer."""
    repository, log = Path(request["repository"]), RoundLog()
    sys.path[:0] = [str(repository), str(repository / "scripts")]
    sys.modules["wandb"] = log
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    objective = import_module("botorch.acquisition.objective").GenericMCObjective
    trial = import_module("mcbo.mcbo_trial")
    task = getattr(import_module("functions"), request["environment"])(**request["options"])
    np.random.seed(request["seed"])  # noqa: NPY002 - the authors' code draws from it
    replace(trial, request)
    start = time.process_time()
    trial.mcbo_trial(
        algo_profile={
            "algo": request["algorithm"],
            "seed": request["seed"],
            "n_bo_iter": request["rounds"],
            "beta": request["beta"],
            "batch_size": request["batch_size"],
        },
        env_profile=task.get_env_profile(),
        function_network=lambda points: task.evaluate(X=points),
        network_to_objective_transform=objective(reward),
    )
    seconds = time.process_time() - start
    return {"average": log.average, "seconds": seconds}


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    asked, answer = map(Path, sys.argv[1:])
    answer.write_text(json.dumps(search(json.loads(asked.read_text()))))
