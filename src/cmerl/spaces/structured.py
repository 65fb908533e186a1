"""Gymnasium spaces of objects: checks, default kernels and JSON form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from cmerl.errors import InputError
from cmerl.kernels import (
    RBF,
    Delta,
    FloatArray,
    GlobalAlignment,
    Hamming,
    Kernel,
    MeanMap,
    ObjectKernel,
    Points,
    Spectrum,
    WeisfeilerLehman,
    on,
)
from cmerl.kernels.pullback import Pullback

WIDTH = 0.2  # of default kernels on numbers inside objects, times √d, in units of the declared range
LARGE = 3000  # numbers in a picture that is kept as one object and not as columns


def is_text(space: spaces.Space[Any]) -> bool:
    """Whether a space holds text: Gymnasium's Text, or one of a library's own, such as MiniGrid's missions."""
    return isinstance(space, spaces.Text) or (space.dtype is not None and space.dtype.kind == "U")


def is_picture(space: spaces.Space[Any]) -> bool:
    """Whether this looks like a picture: bytes in two dimensions or more."""
    return isinstance(space, spaces.Box) and np.dtype(space.dtype) == np.uint8 and len(space.shape) > 1


def is_structured(space: spaces.Space[Any]) -> bool:
    """Whether elements are kept as objects: text, sequences, graphs, alternatives, and large pictures."""
    if is_picture(space):
        return int(np.prod(space.shape or ())) > LARGE
    return is_text(space) or isinstance(space, spaces.Sequence | spaces.Graph | spaces.OneOf)


def check(space: spaces.Space[Any], x: Any) -> None:
    """Raises `InputError` with the place where an object leaves its space."""
    if is_text(space):
        _check_text(space, x)
    elif isinstance(space, spaces.Sequence):
        if isinstance(x, str) or not hasattr(x, "__len__"):
            raise InputError(f"a {type(x).__name__} is not a sequence")
        if not space.stack or isinstance(x, np.ndarray):
            for i, element in enumerate(x):
                _check_element(space.feature_space, element, f"element {i}")
    elif isinstance(space, spaces.Graph):
        _check_graph(space, x)
    elif isinstance(space, spaces.OneOf):
        if not isinstance(x, tuple) or len(x) != 2 or x[0] not in range(len(space.spaces)):
            raise InputError(f"one of {len(space.spaces)} alternatives is a pair (number, value), but this is {x!r}")
        _check_element(space.spaces[int(x[0])], x[1], f"the value of alternative {int(x[0])}")
    elif not space.contains(x):
        raise InputError(f"{_short(x)} is not in {space}")


def _check_element(space: spaces.Space[Any], x: Any, where: str) -> None:
    if is_structured(space):
        try:
            check(space, x)
        except InputError as error:
            raise InputError(f"{where}: {error}") from None
        return
    plain = np.asarray(x, dtype=space.dtype) if isinstance(space, spaces.Box) and _is_numeric(x) else x
    if not space.contains(plain):
        raise InputError(f"{where}, {_short(x)}, is not in {space}")


def _check_text(space: Any, x: Any) -> None:
    if not isinstance(x, str):
        raise InputError(f"a {type(x).__name__} is not a text")
    if not isinstance(space, spaces.Text):
        return
    for i, symbol in enumerate(x):
        if symbol not in space.character_set:
            raise InputError(f"symbol {i}, {symbol!r}, is not in the alphabet")
    if not space.min_length <= len(x) <= space.max_length:
        raise InputError(f"it has {len(x)} symbols, and not {space.min_length} to {space.max_length}")


def _check_graph(space: spaces.Graph, x: Any) -> None:
    if not hasattr(x, "nodes") or not hasattr(x, "edge_links"):
        raise InputError(f"a {type(x).__name__} is not a GraphInstance")
    if x.nodes is None or not len(x.nodes):
        raise InputError("it is an empty graph: graph kernels need at least one node")
    for i, node in enumerate(x.nodes):
        _check_element(space.node_space, node, f"node {i}")
    links = np.zeros((0, 2), dtype=int) if x.edge_links is None else np.asarray(x.edge_links)
    for i, link in enumerate(links):
        if len(link) != 2 or not all(0 <= end < len(x.nodes) for end in link):
            raise InputError(f"edge {i} links {np.asarray(link).tolist()}, but there are {len(x.nodes)} nodes")
    if x.edges is not None and space.edge_space is not None:
        for i, label in enumerate(x.edges):
            _check_element(space.edge_space, label, f"the label of edge {i}")


def _short(x: Any) -> str:
    text = repr(x)
    return text if len(text) <= 60 else text[:57] + "…"


def _is_numeric(x: Any) -> bool:
    try:
        return np.asarray(x).dtype.kind in "biuf"
    except ValueError:  # ragged
        return False


def default_kernel(space: spaces.Space[Any]) -> Kernel:
    """The kernel on elements of a space as they are, where none was named."""
    if is_text(space):
        return Spectrum(3, blended=True)
    if isinstance(space, spaces.Sequence):
        inner = space.feature_space
        if isinstance(inner, spaces.Box) and not is_picture(inner):
            return GlobalAlignment(local=_smooth(inner))
        return Spectrum(3, blended=True)
    if isinstance(space, spaces.Graph):
        if isinstance(space.node_space, spaces.Box):  # hardly two nodes are equal
            return WeisfeilerLehman(2, labels=False) * on(0, MeanMap(_smooth(space.node_space)))
        return WeisfeilerLehman(2)
    if isinstance(space, spaces.OneOf):
        return Alternatives(tuple(default_kernel(inner) for inner in space.spaces))
    if isinstance(space, spaces.Tuple | spaces.Dict):
        inner_spaces = space.spaces.items() if isinstance(space, spaces.Dict) else enumerate(space.spaces)
        kernels = [on(key, default_kernel(inner)) for key, inner in inner_spaces]
        total: Kernel = kernels[0]
        for kernel in kernels[1:]:
            total = total * kernel
        return total
    if isinstance(space, spaces.Box) and not is_picture(space):
        return Flat(_smooth(space))
    if isinstance(space, spaces.MultiDiscrete | spaces.MultiBinary):
        return Flat(Hamming())
    return Flat(Delta())


def _smooth(box: spaces.Box) -> Kernel:
    """An RBF kernel on the numbers of a Box as they are, as wide as its bounds suggest."""
    low, high = (np.asarray(bound, dtype=np.float64).ravel() for bound in (box.low, box.high))
    with np.errstate(over="ignore", invalid="ignore"):
        width = np.where(np.isfinite(high - low) & (high > low) & (high - low < 1e8), high - low, 1.0)
    scales = WIDTH * np.sqrt(len(width)) * width
    return RBF(float(scales[0]) if np.all(scales == scales[0]) else tuple(scales.tolist()))


@dataclass(frozen=True)
class Flat(Pullback):
    """A vector kernel on arrays of any shape, flattened."""

    kernel: Kernel

    def _image(self, X: Points) -> FloatArray:
        return np.array([np.ravel(x) for x in X], dtype=np.float64).reshape(len(X), -1)


@dataclass(frozen=True)
class Alternatives(ObjectKernel):
    """k((i, x), (j, y)) = k_i(x, y) if i = j, else 0: values of different kinds have nothing in common."""

    kernels: tuple[Kernel, ...]

    @property
    def bound(self) -> float:
        """The largest of all."""
        return max(k.bound for k in self.kernels)

    @property
    def nonnegative(self) -> bool:
        """True if all are."""
        return all(k.nonnegative for k in self.kernels)

    def _read(self, x: Any) -> Any:
        if not isinstance(x, tuple) or len(x) != 2 or x[0] not in range(len(self.kernels)):
            raise InputError(f"one of {len(self.kernels)} alternatives is a pair (number, value), but this is {x!r}")
        return int(x[0]), x[1]

    def _matrix(self, A: list[Any], B: list[Any]) -> FloatArray:
        K = np.zeros((len(A), len(B)))
        for number, kernel in enumerate(self.kernels):
            rows, columns = ([i for i, (n, _) in enumerate(P) if n == number] for P in (A, B))
            if rows and columns:
                left = [A[i][1] for i in rows]
                K[np.ix_(rows, columns)] = kernel(left, None if B is A else [B[j][1] for j in columns])
        return K

    def _diag(self, A: list[Any]) -> FloatArray:
        return np.array([self.kernels[n].diag([x])[0] for n, x in A])


def to_spec(space: spaces.Space[Any]) -> dict[str, Any]:
    """A Gymnasium space as JSON."""
    if isinstance(space, spaces.Text):
        lengths = [int(space.min_length), int(space.max_length)]
        return {"type": "Text", "lengths": lengths, "characters": "".join(sorted(space.character_set))}
    if is_text(space):
        return {"type": "AnyText"}
    if isinstance(space, spaces.Discrete):
        return {"type": "Discrete", "n": int(space.n), "start": int(space.start)}
    if isinstance(space, spaces.MultiDiscrete):
        return {"type": "MultiDiscrete", "n": space.nvec.tolist(), "start": space.start.tolist()}
    if isinstance(space, spaces.MultiBinary):
        return {"type": "MultiBinary", "shape": list(space.shape)}
    if isinstance(space, spaces.Box):
        bounds = [[x if np.isfinite(x) else None for x in np.ravel(b).tolist()] for b in (space.low, space.high)]
        bounds = [b[:1] if len(set(b)) == 1 else b for b in bounds]  # a picture has one bound for all
        return {"type": "Box", "bounds": bounds, "shape": list(space.shape), "dtype": np.dtype(space.dtype).str}
    if isinstance(space, spaces.Sequence):
        return {"type": "Sequence", "of": to_spec(space.feature_space), "stack": bool(space.stack)}
    if isinstance(space, spaces.Graph):
        edges = None if space.edge_space is None else to_spec(space.edge_space)
        return {"type": "Graph", "nodes": to_spec(space.node_space), "edges": edges}
    if isinstance(space, spaces.Dict):
        return {"type": "Dict", "of": [[key, to_spec(inner)] for key, inner in space.spaces.items()]}
    if isinstance(space, spaces.Tuple | spaces.OneOf):
        return {"type": type(space).__name__, "of": [to_spec(inner) for inner in space.spaces]}
    raise InputError(f"a space {type(space).__name__} is not known: use a wrapper that gives one of Gymnasium's")


class AnyText(spaces.Space[str]):
    """Text of a library's own space, which only it can check."""

    def __init__(self) -> None:
        super().__init__((), np.str_)

    def contains(self, x: Any) -> bool:
        """Whether this is a string."""
        return isinstance(x, str)


def from_spec(spec: dict[str, Any]) -> spaces.Space[Any]:
    """The inverse of ``to_spec``."""
    kind = spec["type"]
    if kind == "Text":
        least, most = spec["lengths"]
        return spaces.Text(most, min_length=least, charset=spec["characters"])
    if kind == "AnyText":
        return AnyText()
    if kind == "Discrete":
        return spaces.Discrete(spec["n"], start=spec["start"])
    if kind == "MultiDiscrete":
        return spaces.MultiDiscrete(np.array(spec["n"]), start=np.array(spec["start"]))
    if kind == "MultiBinary":
        return spaces.MultiBinary(spec["shape"])
    if kind == "Box":
        dtype: Any = np.dtype(spec["dtype"])
        low, high = (
            np.array([end if x is None else x for x in bound], dtype=dtype) * np.ones(1, dtype=dtype)
            for bound, end in zip(spec["bounds"], (-np.inf, np.inf), strict=True)
        )
        shape = tuple(spec["shape"])
        size = int(np.prod(shape))
        full = [np.broadcast_to(b, size).reshape(shape) if len(b) == 1 else b.reshape(shape) for b in (low, high)]
        return spaces.Box(full[0], full[1], shape, dtype)
    if kind == "Sequence":
        return spaces.Sequence(from_spec(spec["of"]), stack=spec["stack"])
    if kind == "Graph":
        nodes: Any = from_spec(spec["nodes"])
        edges: Any = None if spec["edges"] is None else from_spec(spec["edges"])
        return spaces.Graph(nodes, edges)
    if kind == "Dict":
        return spaces.Dict({key: from_spec(inner) for key, inner in spec["of"]})
    inner = tuple(from_spec(part) for part in spec["of"])
    return spaces.Tuple(inner) if kind == "Tuple" else spaces.OneOf(inner)
