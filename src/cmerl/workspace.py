"""Checks that there is memory for the linear algebra libraries.

With too little memory (``ulimit -v``) OpenBLAS retries forever to get its buffers, and a run would hang silently.
Callers check here before they load or first call it.
"""

from __future__ import annotations

import mmap

ROOM = 192 << 20  # bytes of address space that loading one such library and its first calls take, and some more


def check_room() -> None:
    """Raise MemoryError if the libraries of linear algebra would not find the address space that they need."""
    try:
        mmap.mmap(-1, ROOM).close()
    except OSError:
        raise MemoryError(f"less than {ROOM >> 20} MB of address space are left for linear algebra") from None
