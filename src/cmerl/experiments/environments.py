"""Environments of a spec: which modules may run, and which wrappers can be named."""

from __future__ import annotations

import inspect
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import gymnasium
from gymnasium.envs.registration import EnvSpec, load_env_creator, registry

from cmerl.agents.base import find_horizon
from cmerl.errors import CmerlError, InputError
from cmerl.experiments import own
from cmerl.experiments.spec import EnvironmentSpec, WrapperSpec
from cmerl.experiments.spec_errors import nearest

HOME_MODULES = ("gymnasium", "cmerl")

# Gymnasium's wrappers that a spec can name: those made with plain values which keep nothing from one episode to the
# next, since a run is resumed from the start of an episode.
GYMNASIUM_WRAPPERS = (
    "ClipAction",
    "ClipReward",
    "DelayObservation",
    "DiscretizeAction",
    "DiscretizeObservation",
    "FilterObservation",
    "FlattenObservation",
    "FrameStackObservation",
    "GrayscaleObservation",
    "MaxAndSkipObservation",
    "RepeatAction",
    "RescaleAction",
    "RescaleObservation",
    "ReshapeObservation",
    "ResizeObservation",
    "StickyAction",
    "TimeAwareObservation",
    "TimeLimit",
)
KEEP_STATE = ("NormalizeObservation", "NormalizeReward", "RecordVideo", "RecordEpisodeStatistics", "RenderCollection")

Environment = gymnasium.Env[Any, Any]


def make_environment(spec: EnvironmentSpec, allowed: Sequence[str] = ()) -> Environment:
    """The environment with its wrappers.

    Args:
        spec: what to make.
        allowed: modules beyond Gymnasium's and cmerl's whose code may run; they are imported.
    """
    for module in allowed:
        _import_allowed(module)
    maker = _maker(spec, allowed)
    try:
        with warnings.catch_warnings():
            # What Gymnasium says of versions and spaces was for whoever chose the environment, not for every worker.
            warnings.filterwarnings("ignore", module="gymnasium")
            env = maker(**spec.options)
    except CmerlError as error:
        raise InputError(f"environment {spec.id!r}: {error}") from error
    except Exception as error:
        raise InputError(f"environment {spec.id!r} cannot be made: {_reason(error)}") from error
    if not isinstance(env, gymnasium.Env):
        raise InputError(f"environment {spec.id!r} must be a Gymnasium environment; {type(env).__name__} is none")
    for wrapper in spec.wrappers:
        env = _wrap(env, wrapper, spec.id)
    return env


def _maker(spec: EnvironmentSpec, allowed: Sequence[str]) -> Callable[..., Any]:
    """What makes an environment: a callable of the user's own, or Gymnasium."""
    if own.is_reference(spec.id):
        maker = own.find(spec.id, allowed, "environment")
        _check_names(maker, spec.options, f"environment {spec.id!r}")
        return maker
    registered = _registered(spec.id, allowed)
    _check_options(spec, registered)
    return lambda **options: gymnasium.make(registered, **options)


def module_of(registered: EnvSpec) -> str:
    """The module whose code makes an environment."""
    entry = registered.entry_point
    return entry.partition(":")[0] if isinstance(entry, str) else str(getattr(entry, "__module__", ""))


def is_home(module: str, allowed: Sequence[str] = ()) -> bool:
    """Whether a module is Gymnasium's, cmerl's, or inside an allowed one."""
    return any(module == root or module.startswith(root + ".") for root in (*HOME_MODULES, *allowed))


def list_environments(allowed: Sequence[str] = (), pattern: str = "") -> list[tuple[str, int | None, str]]:
    """(id, horizon or None, module) of the environments that can be made here, cmerl's first.

    Args:
        allowed: modules beyond Gymnasium's and cmerl's, which are imported.
        pattern: only ids that contain it.
    """
    for module in allowed:
        _import_allowed(module)
    rows = []
    for id, found in list(registry.items()):
        module = module_of(found)
        if pattern.lower() in id.lower() and is_home(module, allowed):
            made, horizon = _made(found)
            rows += [(id, horizon, module.partition(".")[0])] if made else []
    return sorted(rows, key=lambda row: (row[2] != "cmerl", row[2], row[0]))


def _made(registered: EnvSpec) -> tuple[bool, int | None]:
    """Whether an environment can be made here, and its horizon if it has one."""
    try:
        if is_home(module_of(registered)) and not module_of(registered).startswith("gymnasium"):
            # cmerl's own can be made, and some take a second to find their optimum: the signature says enough.
            maker = load_env_creator(str(registered.entry_point))
            horizon = inspect.signature(maker).parameters.get("horizon")
            if horizon is not None and isinstance(horizon.default, int):
                return True, horizon.default
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            env: Environment = gymnasium.make(registered, disable_env_checker=True)
            env.close()
    except Exception:  # a package that is missing, or an environment that has been withdrawn
        return False, None
    try:
        return True, find_horizon(env, None)
    except InputError:
        return True, None


def wrapper_names() -> list[str]:
    """Names that ``wrappers`` of an environment may have."""
    return sorted({*GYMNASIUM_WRAPPERS, *_own_wrappers()})


def _import_allowed(module: str) -> None:
    """Import the allowed modules; modules in the current directory are found too, as with python -m."""
    here = os.getcwd()
    root = os.path.join(here, module.partition(".")[0])
    if here not in sys.path and (os.path.isfile(f"{root}.py") or os.path.isdir(root)):
        sys.path.append(here)  # last: it shadows nothing that is installed
    try:
        import_module(module)
    except Exception as error:  # whatever a module does when it is imported
        why = f"module {module!r}, allowed with --allow-env-module, cannot be imported: {_reason(error)}"
        raise InputError(why) from error


def _reason(error: Exception) -> str:
    """The kind of an error and the first line of what it says."""
    return f"{type(error).__name__}: {str(error).strip()}".splitlines()[0]


def _registered(id: str, allowed: Sequence[str]) -> EnvSpec:
    module, _, name = id.rpartition(":")
    if module and not is_home(module, allowed):
        raise InputError(
            f"environment {id!r} would import module {module!r}: if you trust it, allow it with "
            f"--allow-env-module {module} (allow_env_modules in a spec)"
        )
    if module:
        _import_allowed(module)
    if name.endswith(".py"):
        file = name.rpartition("/")[2].removesuffix(".py")
        raise InputError(
            f"{name!r} is a file: give the id that it registers, and --allow-env-module {file} "
            "(allow_env_modules in a spec)"
        )
    if name not in registry:
        home = [known for known, entry in registry.items() if is_home(module_of(entry), allowed)]
        hint = nearest(name, home) if _close(name, home) else "see cmerl envs"
        raise InputError(
            f"there is no environment {name!r}: {hint} (if another package registers it, name its module with "
            "--allow-env-module)"
        )
    found = registry[name]
    maker = module_of(found)
    if maker == "__main__":
        raise InputError(
            f"environment {id!r} is defined in the script that runs, where workers cannot find it: put it into a "
            "module, and name that with --allow-env-module (allow_env_modules in a spec)"
        )
    if not is_home(maker, allowed):
        root = maker.partition(".")[0]
        raise InputError(
            f"environment {id!r} comes from module {root!r}, which is neither Gymnasium's nor cmerl's: if you trust "
            f"it, allow it with --allow-env-module {root} (allow_env_modules in a spec)"
        )
    return found


def _close(name: str, known: Sequence[str]) -> bool:
    return nearest(name, known).startswith("did you mean")


def _check_options(spec: EnvironmentSpec, registered: EnvSpec) -> None:
    """Name an option that the environment does not have, rather than let its constructor complain."""
    for reserved in ("max_episode_steps", "render_mode"):
        if reserved in spec.options:
            fix = "use horizon instead" if reserved == "max_episode_steps" else "leave it out"
            raise InputError(f"environment {spec.id!r}: {reserved} is not an option of a run; {fix}")
    entry: Any = registered.entry_point
    if isinstance(entry, str):
        module, _, attribute = entry.partition(":")
        try:
            entry = getattr(import_module(module), attribute)
        except Exception:
            return  # gymnasium.make says why, such as a package that is missing
    _check_names(entry, spec.options, f"environment {spec.id!r}")


def _check_names(maker: Callable[..., Any], options: dict[str, Any], who: str, skip: int = 0) -> None:
    try:
        parameters = list(inspect.signature(maker).parameters.values())[skip:]
    except ValueError:  # a builtin without a signature
        return
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return
    known = [p.name for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)]
    for option in options:
        if option not in known:
            shown = [name for name in known if name != "render_mode"]
            raise InputError(f"{who} has no option {option!r}: {nearest(option, shown)}")


def _own_wrappers() -> list[str]:
    try:
        own = import_module("cmerl.wrappers")
    except ModuleNotFoundError:
        return []
    return [
        name
        for name, value in vars(own).items()
        if isinstance(value, type) and issubclass(value, gymnasium.Wrapper) and value.__module__.startswith("cmerl.")
    ]


def _wrap(env: Environment, wrapper: WrapperSpec, id: str) -> Environment:
    who = f"environment {id!r}, wrapper {wrapper.name!r}"
    if wrapper.name in KEEP_STATE:
        raise InputError(f"{who} keeps state between episodes, so a run could not be resumed")
    if wrapper.name not in wrapper_names():
        raise InputError(f"environment {id!r}: there is no wrapper {wrapper.name!r}: {_wrapper_hint(wrapper.name)}")
    home = "cmerl.wrappers" if wrapper.name in _own_wrappers() else "gymnasium.wrappers"
    cls = getattr(import_module(home), wrapper.name)
    _check_names(cls, wrapper.options, who, skip=1)
    try:
        wrapped: Environment = cls(env, **wrapper.options)
    except Exception as error:
        raise InputError(f"{who} cannot be made: {type(error).__name__}: {str(error).strip()}") from error
    return wrapped


def _wrapper_hint(name: str) -> str:
    return nearest(name, wrapper_names())
