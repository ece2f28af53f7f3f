"""Where an experiment comes from: a name of `rolecast.tune_configs`, or a file of the user's."""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, Final

from rolecast.core.errors import ConfigError, RequestError, first_line, unknown_name
from rolecast.core.locks import is_taken
from rolecast.platform.tuning.experiment import EXPERIMENT_FILE, Experiment
from rolecast.platform.tuning.learner import MethodFactory
from rolecast.platform.tuning.methods import LearnerMethod, SearchMethod

CONFIGS_PACKAGE: Final = "rolecast.tune_configs"
"""Package whose `EXPERIMENTS` names its modules, each with an `EXPERIMENT`."""

EXPERIMENT_PARTS: Final[Mapping[str, type[Any]]] = MappingProxyType(
    {each.__name__: each for each in (Experiment, SearchMethod, LearnerMethod)}
)
"""What a file makes an experiment of, by name."""

UNEXPECTED_ARGUMENT: Final = re.compile(
    r"(\w+)\.__init__\(\) got an unexpected keyword argument '(\w+)'"
)
"""What Python says of a setting that does not exist."""

_LOADED_AS: Final = "rolecast_experiment_file"
"""Name of a user's module while it runs; it stays in no table, so that Ray sends it by value."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """An experiment, with the methods that only its author has."""

    experiment: Experiment
    """What is compared."""

    methods: Mapping[str, MethodFactory] = field(default_factory=dict)
    """Further learning methods by name."""


def experiment_names() -> tuple[str, ...]:
    """Return the names of the experiments that come with this project."""
    names: tuple[str, ...] = import_module(CONFIGS_PACKAGE).EXPERIMENTS
    return names


def load_experiment(name: str | Path) -> Request:
    """Return an experiment.

    Args:
        name: from `experiment_names()`, or the path of a Python file that has an `EXPERIMENT`, and
            `METHODS` (name to `MethodFactory`) where it brings some.
    Raises:
        RequestError: no such experiment, a file that fails, or one that has none.
    """
    require_experiment(name)
    if str(name).endswith(".py"):
        return _of_module(_run(Path(name)), str(name))
    return _of_module(import_module(f"{CONFIGS_PACKAGE}.{name}"), str(name))


def require_experiment(name: str | Path) -> None:
    """Refuse what is neither a name nor a file, before anything is loaded for it.

    Raises:
        RequestError: names what there is.
    """
    if not str(name).endswith(".py"):
        if str(name) not in experiment_names():
            raise unknown_name("experiment", str(name), experiment_names())
    elif not Path(name).is_file():
        raise RequestError(f"{name} does not exist; expected a Python file with an EXPERIMENT")


def require_new_folder(path: str | Path) -> None:
    """Refuse a folder that exists or lies below a file, for a comparison that begins.

    Raises:
        RequestError: says so, and that another comparison there can go on.
    """
    above = next(each for each in Path(path).absolute().parents if each.exists())
    if not above.is_dir():
        raise RequestError(f"--out {path} cannot be made: {above} is no folder")
    if is_taken(Path(path)):
        hint = " or --resume" if (Path(path) / EXPERIMENT_FILE).is_file() else ""
        raise RequestError(f"--out {path} exists; expected a path that does not{hint}")


def _of_module(module: ModuleType, where: str) -> Request:
    experiment = getattr(module, "EXPERIMENT", None)
    if not isinstance(experiment, Experiment):
        raise ConfigError(f"EXPERIMENT of {where}", experiment, "an Experiment")
    methods = getattr(module, "METHODS", {})
    if not isinstance(methods, Mapping):
        raise ConfigError(f"METHODS of {where}", methods, "a mapping of names to factories")
    return Request(experiment=experiment, methods=methods)


def _run(path: Path) -> ModuleType:
    """Run a user's file; modules beside it can be imported."""
    spec = spec_from_file_location(_LOADED_AS, path)
    if spec is None or spec.loader is None:
        raise RequestError(f"{path} cannot be read as Python; expected a file with an EXPERIMENT")
    module = module_from_spec(spec)
    beside = str(path.resolve().parent)
    if beside not in sys.path:
        sys.path.insert(0, beside)
    sys.modules[_LOADED_AS] = module
    try:
        spec.loader.exec_module(module)
    except RequestError as error:
        raise RequestError(f"{path}: {error}") from error
    except Exception as error:
        what = first_line(error)
        if mistyped := UNEXPECTED_ARGUMENT.match(what):
            of, name = mistyped.groups()
            if of in EXPERIMENT_PARTS:
                known = [each.name for each in fields(EXPERIMENT_PARTS[of])]
                raise RequestError(
                    f"{path}: {unknown_name(f'{of} setting', name, known)}"
                ) from error
        raise RequestError(f"{path} raises {type(error).__name__}: {what}") from error
    finally:
        del sys.modules[_LOADED_AS]
    return module
