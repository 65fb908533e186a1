"""The manifest of a run: everything needed to repeat it."""

from __future__ import annotations

import datetime
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from cmerl.experiments.spec import Spec

FORMAT = 1
PACKAGES = ("cmerl", "numpy", "scipy", "gymnasium", "loky", "pydantic", "safetensors", "threadpoolctl")


def make_manifest(spec: Spec, command: str) -> dict[str, Any]:
    """The manifest of a run that is about to begin.

    Args:
        spec: what is run.
        command: what to type to run it again.
    """
    return {
        "format": FORMAT,
        "spec": spec.model_dump(mode="json"),
        "seeds": spec.seed_list,
        "command": command,
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "versions": versions(spec),
        "blas": blas(),
        "threads": 1,
        "jitter": None,  # the largest that any factorisation needed; known at the end
    }


def versions(spec: Spec) -> dict[str, str]:
    """Of Python, of the libraries that decide bits, and of the allowed environment modules."""
    found = {"python": platform.python_version(), "platform": platform.platform()}
    engine = ("ray",) if spec.engine == "ray" else ()
    for package in (*PACKAGES, *engine, *spec.allow_env_modules):
        try:
            found[package] = version(package.partition(".")[0])
        except PackageNotFoundError:  # a module of the user's own, or one whose package has another name
            continue
    return found


def blas() -> list[dict[str, Any]]:
    """The linear algebra libraries in this process."""
    import scipy.linalg  # noqa: F401 - loads them
    from threadpoolctl import threadpool_info

    names = ("user_api", "internal_api", "version", "threading_layer", "architecture")
    found = [{name: lib.get(name) for name in names} | {"file": _base(lib)} for lib in threadpool_info()]
    return sorted(found, key=lambda lib: str(lib["file"]))


def _base(lib: dict[str, Any]) -> str:
    return os.path.basename(str(lib.get("filepath", "")))
