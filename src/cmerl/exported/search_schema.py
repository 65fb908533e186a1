"""The schema of an exported search policy."""

from __future__ import annotations

from typing import Any

from cmerl.exported.checks import need, number, shape, whole
from cmerl.exported.container import Arrays

SIZES = {
    "samples": 10**4, "kernels": 10**9, "most": 10**4,
    "rounds": 1000, "first_rounds": 1000, "elites": 10**4, "kept": 10**4,
}  # fmt: skip
LATER = {"proposals": 10**4}  # files of earlier versions lack it, and the policy
NUMBERS = ("momentum", "spread", "colour")
ABOUT = {
    "categorical", "reward_at_next", "discount", "sizes", "every", "depth", "seed", "value"
}  # fmt: skip
RETIRED = {"surprise"}  # files of earlier versions name it
FITTED = {"mean", "bounds", "least", "pessimism", "width"}
PLANNED = {"lengthscale"}


def check_search(meta: dict[str, Any], arrays: Arrays, A: int, d: int) -> None:
    """Raise one sentence unless a file holds a search over A actions from states with d numbers."""
    about: Any = meta.get("search")
    need(isinstance(about, dict) and about.get("value") in ("fitted", "plan"), "it does not say how it searches")
    fitted = about["value"] == "fitted"
    told = set(about) - RETIRED
    need(told == ABOUT | (FITTED if fitted else PLANNED), "it does not say how it searches")
    _check_sizes(about, meta["horizon"])
    e = shape(arrays, "features", (A, None), "f").shape[1]
    need("action_low" in arrays or about["categorical"], "its actions have no bounds")
    need(about["categorical"] or e == arrays["values"].shape[1], "its actions have other features")
    shape(arrays, "centre", (d,), "f")
    need(bool((shape(arrays, "unit", (d,), "f") > 0).all()), "its states have no unit")
    _check_model(arrays, d, e)
    if "policy.W" in arrays or about["sizes"].get("proposals"):
        width = A if about["categorical"] else e
        _check_regression(arrays, "policy", d, width)
        shape(arrays, "policy.mean", (width,), "f")
    if fitted:
        _check_fitted(about, arrays, d)
    else:
        _check_planned(about, arrays, d, meta["horizon"])


def _check_sizes(about: dict[str, Any], horizon: int) -> None:
    sizes = about["sizes"]
    told = isinstance(sizes, dict) and set(sizes) - set(LATER) == {*SIZES, *NUMBERS, "amplitudes"}
    need(told, "its search has no sizes")
    good = all(whole(sizes[name], 1, most) for name, most in SIZES.items())
    good = good and all(whole(sizes[name], 0, most) for name, most in LATER.items() if name in sizes)
    good = good and all(number(sizes[name]) and 0 <= sizes[name] <= 100 for name in NUMBERS)
    good = good and sizes["kept"] <= sizes["elites"] <= sizes["samples"] and sizes["momentum"] < 1
    loud = sizes["amplitudes"]
    good = good and isinstance(loud, list) and 0 < len(loud) <= 100 and all(map(number, loud))
    good = good and whole(about["depth"], 1, min(horizon, 1000)) and whole(about["every"], 1, about["depth"])
    good = good and all(isinstance(about[name], bool) for name in ("categorical", "reward_at_next"))
    good = good and number(about["discount"]) and 0 < about["discount"] <= 1
    seed = about["seed"]
    good = good and isinstance(seed, list) and len(seed) <= 100 and all(whole(part, 0, 2**128) for part in seed)
    need(good, "the sizes of its search are none")


def _check_model(arrays: Arrays, d: int, e: int) -> None:
    additive = "reward.state.W" in arrays
    if additive:
        _check_regression(arrays, "reward.state", d, 1)
    for name, columns, outputs in (("move", d + e, d), ("reward", e if additive else d + e, 1)):
        _check_regression(arrays, name, columns, outputs)
        shape(arrays, f"{name}.mean", (outputs,), "f")
    for name in ("spread", "bounds"):
        need(bool((shape(arrays, name, (d,), "f") > 0).all()), "its model has no bounds")
    least, most = shape(arrays, "pays", (2,), "f")
    need(least <= most, "its rewards have no bounds")
    if "ended" in arrays:
        n = len(shape(arrays, "ended", (None, d), "f"))
        need(n > 0, "it names no ends")
        shape(arrays, "end_rewards", (n,), "f")
        shape(arrays, "alive", (None, d), "f")
        if "end_coef" in arrays:
            shape(arrays, "end_coef", (n,), "f")
        if "limits" in arrays:
            shape(arrays, "limits", (None, 2, d), "f")


def _check_regression(arrays: Arrays, name: str, columns: int, outputs: int) -> None:
    m = shape(arrays, f"{name}.W", (2 * columns + 1, None), "f").shape[1]
    shape(arrays, f"{name}.coef", (m, outputs), "f")
    shape(arrays, f"{name}.origin", (columns,), "f")


def _check_fitted(about: dict[str, Any], arrays: Arrays, d: int) -> None:
    m = len(shape(arrays, "value.landmarks", (None, d), "f"))
    need(bool((shape(arrays, "value.scales", (d,), "f") > 0).all()), "its value has no width")
    shape(arrays, "value.coef", (m, 2), "f")
    seen = len(shape(arrays, "value.seen", (None, d), "f"))
    need(seen > 0, "it has seen nothing")
    shape(arrays, "value.known", (seen, seen), "f")
    bounds = about["bounds"]
    good = isinstance(bounds, list) and len(bounds) == 2 and all(map(number, bounds)) and bounds[0] <= bounds[1]
    need(good and all(number(about[name]) for name in ("mean", "least", "pessimism")), "its value has no bounds")
    need(number(about["width"]) and about["width"] > 0, "its value has no width")


def _check_planned(about: dict[str, Any], arrays: Arrays, d: int, horizon: int) -> None:
    m = len(shape(arrays, "value.landmarks", (None, d), "f"))
    shape(arrays, "value.coef", (horizon, m), "f")
    for name in ("mean", "cap", "shift"):
        shape(arrays, f"value.{name}", (horizon,), "f")
    need(number(about["lengthscale"]) and about["lengthscale"] > 0, "its value has no width")
