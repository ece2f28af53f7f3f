"""Modules that have moved: their old names import for one more release, with a warning."""

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from types import MappingProxyType, ModuleType
from typing import Final

MOVED_MODULES: Final = MappingProxyType(
    {
        "rolecast.baselines.facmac.critic": "rolecast.baselines.facmac.module",
        "rolecast.baselines.maddpg.critics": "rolecast.baselines.maddpg.module",
        "rolecast.baselines.ppo.gae": "rolecast.baselines.ppo.learner",
        "rolecast.baselines.ppo.runner": "rolecast.baselines.ppo.sampler",
        "rolecast.envs.compiled": "rolecast.core.compiled",
        "rolecast.envs.counter_random": "rolecast.core.counter_random",
        "rolecast.envs.errors": "rolecast.core.errors",
        "rolecast.envs.face": "rolecast.envs.faces.pettingzoo",
        "rolecast.envs.gym_face": "rolecast.envs.faces.gymnasium",
        "rolecast.envs.gym_vector": "rolecast.envs.faces.gymnasium_vector",
        "rolecast.envs.rules": "rolecast.core.validation",
        "rolecast.platform.reports.yardsticks": "rolecast.platform.search.records.measurements",
        "rolecast.platform.search.budget": "rolecast.platform.search.planning.budget",
        "rolecast.platform.search.config": "rolecast.platform.search.planning.config",
        "rolecast.platform.search.files": "rolecast.core.files",
        "rolecast.platform.search.history": "rolecast.platform.search.records.history",
        "rolecast.platform.search.journal": "rolecast.platform.search.records.journal",
        "rolecast.platform.search.measurements": "rolecast.platform.search.records.measurements",
        "rolecast.platform.search.metrics": "rolecast.platform.search.records.metrics",
        "rolecast.platform.search.plan": "rolecast.platform.search.planning.plan",
        "rolecast.platform.search.policy_hints": "rolecast.platform.search.planning.policy_hints",
        "rolecast.platform.search.request_check": "rolecast.platform.search.planning.request",
        "rolecast.platform.search.request_file": "rolecast.platform.search.planning.request",
        "rolecast.platform.search.run_folder": "rolecast.platform.search.records.run_folder",
        "rolecast.platform.search.seeds": "rolecast.core.seeds",
        "rolecast.platform.surrogate.additive_kernel": (
            "rolecast.platform.surrogate.clique_sum.gpytorch_kernel"
        ),
        "rolecast.platform.tuning.method": "rolecast.platform.tuning.learner",
    }
)
"""Old name to new name, of modules that documentation has printed or that plug-ins import."""

SPLIT_MODULES: Final = MappingProxyType(
    {
        "rolecast.platform.search.run_folder": (
            "rolecast.platform.search.records.frames",
            ("read_history", "read_incumbents"),
        ),
    }
)
"""Old name of a moved module to a second new module, and what of the old one is there."""


class MovedModuleFinder(MetaPathFinder, Loader):
    """Imports a module under its old name."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a spec for an old name; None for all others."""
        return spec_from_loader(fullname, self) if fullname in MOVED_MODULES else None

    def exec_module(self, module: ModuleType) -> None:
        """Put the module of the new name in the place of the old one, with all that this had."""
        new_name = MOVED_MODULES[module.__name__]
        second, names = SPLIT_MODULES.get(module.__name__, ("", ()))
        besides = f", and {', '.join(names)} of {second}" if names else ""
        warnings.warn(
            f"{module.__name__} is now {new_name}{besides}; "
            "the old name goes with the next release",
            DeprecationWarning,
            stacklevel=2,
        )
        moved = import_module(new_name)
        for name in names:
            setattr(moved, name, getattr(import_module(second), name))
        sys.modules[module.__name__] = moved
