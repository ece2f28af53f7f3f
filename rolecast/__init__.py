"""Structured Bayesian optimisation of compact multi-agent policies: the public face.

Names are loaded on first use, so that `import rolecast` is quick and `load_policy` needs no Ray.
"""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from rolecast.moved import MovedModuleFinder

__version__ = "0.2.0"

_NAME_HOMES: Final = {
    "AdditiveCliqueKernel": "rolecast.platform.surrogate.clique_sum.gpytorch_kernel",
    "ablate": "rolecast.platform.search.records.ablation",
    "bandit_search": "rolecast.platform.search.bandit.run",
    "causal_search": "rolecast.platform.search.causal",
    "compare": "rolecast.platform.tuning.comparison",
    "evaluate": "rolecast.platform.search.records.evaluate",
    "Experiment": "rolecast.platform.tuning.experiment",
    "LearnerMethod": "rolecast.platform.tuning.methods",
    "LearningMethod": "rolecast.platform.tuning.learner",
    "load_policy": "rolecast.policies.artefact",
    "make_env": "rolecast.envs.registry",
    "make_optimizer": "rolecast.platform.optimizers.registry",
    "make_policy": "rolecast.policies.registry",
    "make_task": "rolecast.envs.registry",
    "make_vector_env": "rolecast.envs.faces.gymnasium_vector",
    "MethodFactory": "rolecast.platform.tuning.learner",
    "read_comparison": "rolecast.platform.tuning.comparison_folder",
    "resume": "rolecast.platform.search.run",
    "rollout": "rolecast.platform.rollout.rollout",
    "search": "rolecast.platform.search.run",
    "SearchMethod": "rolecast.platform.tuning.methods",
}
__all__ = sorted(_NAME_HOMES)

# In a source tree (a checkout, or the copy that `ray job submit --working-dir .` makes) the
# mapped folders lie beside this one; an installed package has them inside it.
_CHECKOUT_FOLDER: Final = Path(__file__).resolve().parent.parent
if (_CHECKOUT_FOLDER / "setup.py").is_file() and (_CHECKOUT_FOLDER / "core").is_dir():
    __path__.append(str(_CHECKOUT_FOLDER))

# Behind all other finders: a name that still exists is never looked up here.
sys.meta_path.append(MovedModuleFinder())


def __getattr__(name: str) -> Any:
    if name not in _NAME_HOMES:
        raise AttributeError(f"module 'rolecast' has no attribute {name!r}; it has {__all__}")
    return getattr(import_module(_NAME_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
