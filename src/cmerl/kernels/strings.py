"""Kernels on strings and other sequences of symbols, from common substrings."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cmerl.errors import KernelError
from cmerl.kernels.structured import CountKernel, Counts, as_sequence, check_symbols
from cmerl.validation.points import positive


@dataclass(frozen=True)
class StringKernel(CountKernel):
    """Strings, or sequences of hashable symbols, by counts of what is in them."""

    def _read(self, x: Any) -> Any:
        x = as_sequence(x)
        alphabet = getattr(self, "alphabet", None)
        if alphabet is not None:
            check_symbols(x, alphabet)
        return x

    def _store_alphabet(self) -> None:
        alphabet: Any = getattr(self, "alphabet", None)
        if alphabet is None:
            return
        symbols = alphabet if isinstance(alphabet, str) else tuple(alphabet)
        if not symbols or len(set(symbols)) < len(symbols):
            raise KernelError(f"alphabet must hold different symbols, at least one, got {alphabet!r}.")
        self._store("alphabet", symbols)


@dataclass(frozen=True)
class Spectrum(StringKernel):
    """Counts of common substrings of ``length`` symbols at any position [Leslie et al. 2002].

    Strings that are too short equal each other and no other string.

    Args:
        length: Symbols in a substring.
        blended: Also count shorter substrings.
        normalized: Divide by √(k(x, x) k(y, y)).
        alphabet: If given, other symbols raise an error.
    """

    length: int = 3
    blended: bool = False
    normalized: bool = True
    alphabet: str | tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        self._store("length", whole("length", self.length))
        self._store_alphabet()

    def _count(self, form: Any) -> Counts:
        lengths = range(1, self.length + 1) if self.blended else (self.length,)
        return Counter(piece for k in lengths for piece in substrings(form, k))


@dataclass(frozen=True)
class Mismatch(StringKernel):
    """The spectrum kernel with mismatches: substrings that differ in few symbols also count [Leslie et al. 2004].

    The feature of γ, any ``length`` symbols of the alphabet, is the number of substrings that differ from γ in at
    most ``mismatches`` positions.

    Args:
        alphabet: All symbols.
        length: Symbols in a substring.
        mismatches: Number of positions that may differ.
        normalized: Divide by √(k(x, x) k(y, y)).
    """

    alphabet: str | tuple[Any, ...]
    length: int = 3
    mismatches: int = 1
    normalized: bool = True

    def __post_init__(self) -> None:
        self._store("length", whole("length", self.length))
        self._store("mismatches", whole("mismatches", self.mismatches, least=0))
        if self.mismatches > self.length:
            raise KernelError(f"mismatches must not exceed length, got {self.mismatches} and {self.length}.")
        self._store_alphabet()

    def _count(self, form: Any) -> Counts:
        total: Counter[Any] = Counter()
        for piece, count in Counter(tuple(p) for p in substrings(form, self.length)).items():
            for near in neighbours(piece, self.alphabet, self.mismatches):
                total[near] += count
        return total


@dataclass(frozen=True)
class WeightedDegree(StringKernel):
    """Counts of common substrings of 1 to ``degree`` symbols at the same position [Rätsch & Sonnenburg 2004].

    A substring of length k has weight 2(d − k + 1)/(d(d + 1)). With degree 1 this is the number of positions with
    equal symbols, also for strings of different lengths.

    Args:
        degree: Length of the longest substring.
        normalized: Divide by √(k(x, x) k(y, y)).
        alphabet: If given, other symbols raise an error.
    """

    degree: int = 1
    normalized: bool = True
    alphabet: str | tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        self._store("degree", whole("degree", self.degree))
        self._store_alphabet()

    def _count(self, form: Any) -> Counts:
        d = self.degree
        weights = {k: (2.0 * (d - k + 1) / (d * (d + 1))) ** 0.5 for k in range(1, d + 1)}
        return {(i, p): w for k, w in weights.items() for i, p in enumerate(substrings(form, k))}


def substrings(x: Any, k: int) -> Iterator[Any]:
    """All substrings of k symbols, from left to right."""
    return (x[i : i + k] for i in range(len(x) - k + 1))


def neighbours(piece: tuple[Any, ...], alphabet: Any, mismatches: int) -> Iterator[tuple[Any, ...]]:
    """All sequences over the alphabet that differ from ``piece`` in at most so many places."""
    for count in range(mismatches + 1):
        for places in itertools.combinations(range(len(piece)), count):
            others = [[s for s in alphabet if s != piece[i]] for i in places]
            for symbols in itertools.product(*others):
                near = list(piece)
                for i, symbol in zip(places, symbols, strict=True):
                    near[i] = symbol
                yield tuple(near)


def whole(name: str, value: Any, least: int = 1) -> int:
    """A parameter as a whole number."""
    if isinstance(value, bool) or positive(name, value + 1 if least == 0 else value) != int(value) + (least == 0):
        raise KernelError(f"{name} must be a whole number, at least {least}, got {value!r}.")
    return int(value)
