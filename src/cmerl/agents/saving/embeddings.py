"""The schema of embeddings in a saved agent, where the log was dropped; docs/reference/formats.md documents it."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from cmerl.errors import InputError
from cmerl.growing import Arrays, part
from cmerl.validation.schema import (
    ArraySchema,
    check_arrays,
    check_names,
    either,
    flag,
    flags,
    floats,
    number,
    one_of,
    plain,
    table,
    whole,
    wholes,
)

MOST_ACTIONS = 10**5
LARGEST = 1e15  # of any number that is learned from
KERNEL = either(one_of("auto"), plain(depth=12, most=2000, largest=LARGEST))


def transition_schemas(n: str, d: int, e: int) -> dict[str, ArraySchema]:
    """Arrays of n transitions with d numbers of a state and e of an action."""
    return {
        "Z": floats(n, d + e),
        "next_states": floats(n, d),
        "rewards": floats(n),
        "terminated": flags(n),
    }


def check_embeddings(arrays: Arrays, d: int, e: int, actions: int, count: int) -> None:
    """Embeddings as they are, where the log was dropped."""
    own = {name: arrays[name] for name in arrays if name.startswith("memory.")}
    schemas = {
        "memory.about": ArraySchema("u", (None,), 0, 255),
        "memory.starts": floats(None, d),
        **_kept_value(d),
    }
    none_kept = not any(name.startswith("memory.value.") for name in own)
    check_arrays(own, schemas, {}, list(_kept_value(d)) if none_kept else [])
    about = read_json(own["memory.about"].tobytes(), "memory.about")
    if isinstance(about, dict):
        about.pop("saturated", None)  # of a rule that was retired
        about = {"depth": None, "least": None, **about}  # files of earlier versions do not say
    table(
        n=whole(1, 2**53),
        backend=one_of("compressed", "displacement"),
        search=one_of(None, "fitted", "plan"),
        depth=either(one_of(None), whole(1, 2**31)),
        reasons=plain(depth=1, most=100),
        promised=number(),
        compared=flag,
        least=either(one_of(None), number()),
        kernel=KERNEL,
        value_kernel=KERNEL,
    )(about, "memory.about")
    if "auto" in (about["kernel"], about["value_kernel"]):
        raise InputError("memory.about must name the kernels that the embeddings have")
    names = {name.split(".")[1] for name in arrays if name.startswith("embedding.")}
    if names != {str(i) for i in range(count)}:
        raise InputError(f"the file must hold {count} embeddings, not {len(names)}")
    check = _check_compressed if about["backend"] == "compressed" else _check_displacement
    for i in range(count):
        check(part(arrays, f"embedding.{i}"), d, e, actions)


def _kept_value(d: int) -> dict[str, ArraySchema]:
    """The terminal value that was kept; files of earlier versions have none."""
    schemas = {
        "landmarks": floats("v", d),
        "lengthscales": floats(d, least=1e-15),
        "coef": floats("v", 2),
        "values": floats("v"),
        "numbers": floats(4),
        "centre": floats(d),
        "scale": floats(d, least=1e-15),
    }
    return {f"memory.value.{name}": schema for name, schema in schemas.items()}


def _check_displacement(arrays: Arrays, d: int, e: int, actions: int) -> None:
    fit = {"lengthscales": floats(None, least=1e-15), "numbers": floats(2)}
    of_reward = fit
    if "shape.reward.action_lengthscales" in arrays:  # rewards are a sum
        scales = {"state_lengthscales": floats(d, least=1e-15), "action_lengthscales": floats(None, least=1e-15)}
        of_reward = {**scales, "numbers": floats(3)}
    schemas = {
        "counts": wholes(None),
        "depths": wholes(None, most=1000),  # of a rule that was retired
        "centre": floats(d),
        "scale": floats(d, least=1e-15),
        "shape.at_next": flags(1),
        **{f"data.{name}": schema for name, schema in transition_schemas("k", d, e).items()},
        **{f"shape.{column}.{name}": schema for column in range(d) for name, schema in fit.items()},
        **{f"shape.reward.{name}": schema for name, schema in of_reward.items()},
    }
    optional = ["depths", *(name for name in schemas if name.startswith("shape.") and name != "shape.at_next")]
    sizes: dict[str, int] = {}
    check_arrays(arrays, schemas, sizes, optional)
    if len(arrays["counts"]) not in (4, 5) or not sizes["k"] or not 1 <= arrays["counts"][3] <= 1000:
        raise InputError("array 'counts' of a displacement must hold its transitions, fits and repeat")


def _check_compressed(arrays: Arrays, d: int, e: int, actions: int) -> None:
    check_names({"counts": 0} if "counts" in arrays else {}, {"counts": 0}, "an embedding")
    wholes(4).check(arrays["counts"], "counts", {})
    regressions = int(arrays["counts"][3])
    if not 1 <= regressions <= MOST_ACTIONS:
        raise InputError(f"array 'counts' of a compressed embedding names {regressions} regressions")
    split = "actions" in arrays
    columns = d if split else d + e
    schemas = {
        "counts": wholes(4),
        "chosen": wholes(None),
        "next_residual_sum": floats(1),
        "actions": floats(regressions, e),
        "sample.counts": wholes(2),
        **{f"sample.{name}": schema for name, schema in transition_schemas("sampled", d, e).items()},
        **{f"raw.{name}": schema for name, schema in transition_schemas("raw", d, e).items()},
        **_dictionary("landmarks", "m", d),
    }
    for g in range(regressions):
        at, p = f"moments.{g}", f"p{g}"
        schemas |= {
            f"{at}.sums": floats(3, special=True),
            **_growing(f"{at}.gram", p, p),
            **_growing(f"{at}.cross", None, None),
            **_growing(f"{at}.linear", 3, p),
            **_dictionary(f"{at}.features", p, columns),
            **_growing(f"tracker.{g}.W", p, "q"),
            f"tracker.{g}.solved": wholes(1),
            f"tracker.{g}.variance": floats("q"),
        }
    optional = ["actions", *(name for name in schemas if re.match(r"(sample|raw)\.[Znrt]|tracker\.", name))]
    sizes: dict[str, int] = {}
    check_arrays(arrays, schemas, sizes, optional)
    _check_sizes(arrays, sizes, regressions, 1 if split else max(actions, 1))


def _check_sizes(arrays: Arrays, sizes: dict[str, int], regressions: int, actions: int) -> None:
    """What must fit together."""
    for name, array in arrays.items():
        if name.endswith(".capacity"):
            content = arrays.get(name.removesuffix("capacity") + "content")
            if content is None or any(
                not have <= room <= 2 * have + 64 for have, room in zip(content.shape, array, strict=True)
            ):
                raise InputError(f"array {name!r} must be a little more than the shape of the content")
        if name.endswith("factor.L.content") and not np.all(np.diagonal(array) > 0):
            raise InputError(f"array {name!r} must have a positive diagonal")
    for g in range(regressions):
        rows, columns = arrays[f"moments.{g}.cross.content"].shape
        if rows > sizes["m"] or columns not in (0, sizes[f"p{g}"]) or (rows and not columns):
            raise InputError(f"array 'moments.{g}.cross.content' does not fit {sizes['m']} landmarks")
        if f"tracker.{g}.solved" in arrays and int(arrays[f"tracker.{g}.solved"][0]) != sizes[f"p{g}"]:
            raise InputError(f"array 'tracker.{g}.solved' must be {sizes[f'p{g}']}")
    tracked = sum(name.startswith("tracker.") for name in arrays)
    if tracked not in (0, 4 * regressions):
        raise InputError("the file must hold all trackers, or none")
    if "q" in sizes and sizes["q"] != actions * sizes["m"]:
        raise InputError(f"the trackers must have {actions * sizes['m']} columns, not {sizes['q']}")


def _growing(name: str, rows: int | str | None, columns: int | str | None) -> dict[str, ArraySchema]:
    return {f"{name}.content": floats(rows, columns), f"{name}.capacity": wholes(2, least=16, most=10**7)}


def _dictionary(name: str, points: str, columns: int) -> dict[str, ArraySchema]:
    return {
        f"{name}.points": floats(points, columns),
        f"{name}.growth": floats(1, least=1.0),
        **_growing(f"{name}.factor.L", points, points),
        f"{name}.factor.inverses": floats(None),
        f"{name}.factor.jitter": floats(1, least=0.0),
    }


def read_json(content: bytes | str, place: str, most: int = 10**8) -> Any:
    """JSON that fits into memory and into the stack, or one sentence on why it does not."""
    if len(content) > most:
        raise InputError(f"{place} is longer than {most} bytes")
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise InputError(f"{place} is not JSON") from None
