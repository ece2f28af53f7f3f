"""Sources of users' environments: Gymnasium ids, PettingZoo modules, Python factories."""

import sys
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, Final

import gymnasium

from rolecast.core.errors import RequestError, unknown_name

Factory = Callable[..., object]
"""Factory of an environment, from the options of a task id."""


def gymnasium_source(name: str) -> Factory:
    """Return the factory of `gym:<id>`.

    Raises:
        RequestError: Gymnasium has no such id.
    """
    if ":" not in name and name not in gymnasium.registry:
        raise unknown_name("gymnasium environment", name, gymnasium.registry)
    return partial(gymnasium.make, name, disable_env_checker=True)


def pettingzoo_source(name: str) -> Factory:
    """Return the factory of `pettingzoo:<module>`: the module's `parallel_env`.

    Raises:
        RequestError: the module cannot be imported or has no `parallel_env`.
    """
    module = _imported(name, f"pettingzoo:{name}")
    if not hasattr(module, "parallel_env"):
        raise RequestError(f"module {name!r} has no parallel_env; expected a PettingZoo module")
    factory: Factory = module.parallel_env
    return factory


def python_source(name: str) -> Factory:
    """Return the factory of `python:<module>:<factory>`.

    Raises:
        RequestError: the id is incomplete, or the module or its factory does not exist.
    """
    place, _, attribute = name.partition(":")
    if not place or not attribute:
        raise RequestError(f"task 'python:{name}' is incomplete; expected python:MODULE:FACTORY")
    found: Any = _imported(place, f"python:{name}")
    for part in attribute.split("."):
        if not hasattr(found, part):
            public = [known for known in vars(found) if not known.startswith("_")]
            raise unknown_name(f"factory of module {place!r}:", attribute, public)
        found = getattr(found, part)
    if not callable(found):
        raise RequestError(f"{attribute!r} of module {place!r} is no function; expected a factory")
    factory: Factory = found
    return factory


ENVIRONMENT_SOURCES: Final[Mapping[str, Callable[[str], Factory]]] = MappingProxyType(
    {"gym": gymnasium_source, "pettingzoo": pettingzoo_source, "python": python_source}
)
"""Prefix of an id, before the first colon, to the source of its environments."""


def _imported(name: str, task_id: str) -> ModuleType:
    """Import a module, also from the working directory.

    The working directory of an installed command is not on Python's path. It is appended, so that
    no other module is shadowed.
    """
    here = str(Path.cwd())
    top = name.partition(".")[0]
    local = (Path(here) / f"{top}.py").is_file() or (Path(here) / top).is_dir()
    if local and here not in sys.path:
        sys.path.append(here)
    try:
        return import_module(name)
    except (ImportError, ValueError) as error:
        raise RequestError(
            f"task {task_id!r} cannot be imported ({error}); expected an installed module "
            "or one in the working directory"
        ) from error
    except (Exception, SystemExit) as error:
        what = " ".join(str(error).split()) or "no message"
        raise RequestError(
            f"task {task_id!r} cannot be imported: its module raises {type(error).__name__} "
            f"({what})"
        ) from error
